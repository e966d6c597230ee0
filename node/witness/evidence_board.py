"""What was said about authors: this node's own statements, published; those of others, read; the verdicts that follow.

Statements about an author lie at a point of the key space, as small records (`dht/overlay/point_records.py`), which
others keep for two days, so a witness writes its own again: for a week, and while the author is barred, so that
newcomers can judge it, too. Who shares a slot with an author reads there now and then, and soon after a hearing. A
verdict is noted in a file, since witnesses may leave before it ends.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence, Set
from itertools import chain

from dht import Clock, NodeId, Overlay, node_id_of
from node.witness.panel_view import PanelView
from node.witness.statement import MAX_STATEMENTS, STATED_S, Statement, Witnessed, decode_board, encode_board, point_of
from node.witness.verdict import BARRED_S, AuthorVerdict, judge
from node.witness.verdict_file import Convict, VerdictFile
from store import Record

log = logging.getLogger(__name__)

STEP_S = 5.0
READ_EVERY_S = 1800.0  # of each author who shares a slot with this node
NEWS_S = 10.0  # after news of an author: the statements of others are published meanwhile
NEWS_EVERY_S = 60.0  # while the newest statement about an author is RECENT_S old at most: hearings are under way
RECENT_S = 900.0
LIFE_S = 44 * 3600.0
AGAIN_S = 12 * 3600.0  # own statements are written again
MAX_AUTHORS = 4096
MAX_OWN = 64  # authors about whom this node said something
MAX_HEARD = 32  # hearings remembered; what came of them is public soon


class EvidenceBoard:
    """Publishes, reads and judges for one node."""

    def __init__(self, overlay: Overlay, file: VerdictFile, panels: PanelView, clock: Clock) -> None:
        self._overlay, self._file, self._panels, self._clock = overlay, file, panels, clock
        self._convicts = file.load()
        self._own: dict[NodeId, list[Statement]] = {}
        self._heard: OrderedDict[tuple[NodeId, str], tuple[Witnessed, ...]] = OrderedDict()  # by author and site
        self._read_at: dict[NodeId, float] = {}  # steady: when an author's point is read next
        self._write_at: dict[NodeId, float] = {}
        self.statements: dict[NodeId, int] = {}  # standing now, by author, as read last
        self._tell()

    def convicts(self) -> dict[NodeId, Convict]:
        """Return who is barred now, and since when what it wrote is doubted."""
        now = self._clock().wall
        return {author: convict for author, convict in self._convicts.items() if now < convict.until}

    @property
    def mark(self) -> object:
        """What is another value whenever other versions are doubted."""
        return tuple(sorted((author, convict.since) for author, convict in self.convicts().items()))

    @property
    def is_any(self) -> bool:
        """Whether anybody is barred."""
        return bool(self.convicts())

    def has(self, record: Record) -> bool:
        """Tell whether a convict wrote a version, and when it is not believed."""
        convict = self.convicts().get(node_id_of(record.proof.author))
        return convict is not None and record.version.at_ms / 1000 >= convict.since

    def has_said(self, author: NodeId, site: str) -> bool:
        """Tell whether this node has published what speaks against an author at a site: one page each is enough."""
        return any(s.site == site for s in self._own.get(author, ()))

    async def hear(self, author: NodeId, said: Sequence[Witnessed]) -> None:
        """Take what three agreed on at a site: publish this node's own part of it, and judge the author by all that was
        heard so far; what else was said about it is read soon."""
        me, now = self._overlay.view.node_id, self._clock().steady
        mine = [s for witness, s in said if witness == me]
        if mine and (author in self._own or len(self._own) < MAX_OWN):
            before = self._own.get(author, [])
            self._own[author] = [*before, *(s for s in mine if s not in before)][-MAX_STATEMENTS:]
            self._write_at[author] = now
        if author in self._read_at or len(self._read_at) < MAX_AUTHORS:
            self._read_at[author] = min(self._read_at.get(author, now + NEWS_S), now + NEWS_S)
        self._heard[author, said[0].statement.site] = tuple(said)
        if len(self._heard) > MAX_HEARD:
            self._heard.popitem(last=False)
        await self._judge(author, ())

    def heard(self) -> Iterable[tuple[NodeId, str]]:
        """Return authors and sites of the pages that were denied in hearings, as far as this node was told lately."""
        return self._heard

    async def run(self) -> None:
        """Publish, read and judge until cancelled."""
        while True:
            self._watch()
            now = self._clock().steady
            for author in sorted(author for author, at in self._write_at.items() if at <= now):
                await self._publish(author)
            for author in sorted(author for author, at in self._read_at.items() if at <= now)[:1]:
                await self._read(author)
            self._tell()
            await asyncio.sleep(STEP_S)

    def _watch(self) -> None:
        """Take care to read about all who share a slot with this node, each once in READ_EVERY_S, spread evenly."""
        if not self._overlay.view.strategy.witness_permille:
            return
        peers, now = neighbours(self._overlay), self._clock().steady
        for author in self._read_at.keys() - peers - self.statements.keys():
            if self._read_at[author] > now + NEWS_S:
                del self._read_at[author]
        for number, author in enumerate(sorted(peers - self._read_at.keys())[:MAX_AUTHORS]):
            self._read_at[author] = now + READ_EVERY_S * (number + 1) / (len(peers) + 1)

    async def _publish(self, author: NodeId) -> None:
        now = self._clock()
        within_s = BARRED_S if author in self.convicts() else STATED_S
        kept = [s for s in self._own[author] if now.wall - s.at <= within_s]
        if not kept:
            del self._own[author], self._write_at[author]
            return
        self._own[author], self._write_at[author] = kept, now.steady + AGAIN_S
        count = await self._overlay.write_point(point_of(author), encode_board(kept, now.wall, within_s), LIFE_S)
        log.info("statement published author=%s statements=%d copies=%d", author.hex(), len(kept), count)

    async def _read(self, author: NodeId) -> None:
        found = await self._overlay.read_point(point_of(author))
        said = [Witnessed(witness, s) for witness, value in found for s in decode_board(value)]
        now, me = self._clock(), self._overlay.view.node_id
        for mine in [s for witness, s in said if witness == me and s not in self._own.get(author, ())]:
            self._own.setdefault(author, []).append(mine)  # said before a restart
            self._write_at.setdefault(author, now.steady + AGAIN_S)
        fresh = [each for each in said if now.wall - each.statement.at <= STATED_S]
        is_news = any(now.wall - each.statement.at <= RECENT_S for each in fresh)
        self._read_at[author] = now.steady + (NEWS_EVERY_S if is_news else READ_EVERY_S)
        self.statements.pop(author, None)
        if fresh:
            self.statements[author] = len(fresh)
        await self._judge(author, said)

    async def _judge(self, author: NodeId, said: Sequence[Witnessed]) -> None:
        """Judge by what was said in public and in hearings."""
        heard = [each for (accused, _), each in self._heard.items() if accused == author]
        panels_of = lambda key: self._panels.of(author, key)  # noqa: E731
        if verdict := judge(author, [*said, *chain.from_iterable(heard)], panels_of, self._clock().wall):
            await self.convict(verdict)

    async def convict(self, verdict: AuthorVerdict) -> None:
        """Bar an author, and doubt what it wrote, as a verdict says."""
        before = self._convicts.get(verdict.author)
        since = verdict.since if before is None else min(verdict.since, before.since)
        until = verdict.until if before is None else max(verdict.until, before.until)
        convict = Convict(since, until, verdict.domains)
        if before == convict:
            return
        self._convicts[verdict.author] = convict
        if before is None:
            log.warning("author convicted id=%s sites=%s", verdict.author.hex(), ",".join(verdict.domains))
        self._tell()
        await asyncio.to_thread(self._file.save, self.convicts())

    def _tell(self) -> None:
        self._overlay.bar(frozenset(self.convicts()))


def neighbours(overlay: Overlay) -> Set[NodeId]:
    """Return the owners of the slots that this node owns, itself apart."""
    view = overlay.view
    return {peer for slot in view.owned() for peer in view.owners(slot)} - {view.node_id}
