"""Puts a page of results together: each is held to its signed document first, and who was wrong about one is noted.

A peer or an author may say that a page is a copy of another. Where both are of one host, that is believed; else both
signed documents are read and compared before one is folded under the other.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dht import Clock, DocumentId, Key, NodeId, Overlay, PeerAudit, Topic
from index.asking.agreement import YOUNG_S
from index.asking.search_outcome import PeerQuery, SearchOutcome
from index.change_feed import Read, Text
from index.engine.analysed_pages import AnalysedPages
from index.engine.matcher import matches
from index.query.parser import Query
from index.query.scoring import Scored, score
from index.query.search_rules import SearchRules
from index.results.answer_checks import wrong_hit, wrong_marks
from index.results.near_copies import Sign, say_the_same
from index.results.page_cursor import PageCursor, statistics_digest
from index.results.result_picker import SIMILAR, PickedHit, bounds_hosts, first_hits, pick, plainest
from index.results.top_k_merge import MergedHit
from index.shard.messages import HitRow

log = logging.getLogger(__name__)

LIES = 3  # after so many a peer is asked no more for a while
SPARE = 8  # results beyond a page, for those that turn out not to be there
UNREADABLE = 3  # documents of one peer that nobody has: it made them up


@dataclass(frozen=True, slots=True)
class BoundedRequest:
    """A request as it is carried out: parsed, its numbers within bounds; instants are steady seconds."""

    typed: str
    peer_query: PeerQuery
    after: PageCursor | None
    limit: int
    began: float
    deadline: float
    shown_at: float  # when the asker shows what has been found by then; NEVER where all is waited for
    explain: bool

    @property
    def rules(self) -> SearchRules:
        """By which it is carried out."""
        return self.peer_query.query.rules

    @property
    def shown(self) -> int:
        """How many results earlier pages have shown."""
        return self.after.shown if self.after else 0


@dataclass(frozen=True, slots=True)
class ShownResult:
    """A result. `copies`: documents that say the same, of `similar` in all."""

    text: Text
    scored: Scored
    copies: Sequence[Text] = ()
    similar: int = 0
    is_pinned: bool = False  # its address was typed


@dataclass(slots=True)
class AnswerPage:
    """Results so far, and what went wrong on the way."""

    shown: list[ShownResult] = field(default_factory=list)
    last: PickedHit | None = None
    rest: bool = False
    more: Mapping[bytes, int] = field(default_factory=dict)  # matches of the last result's host, by that result's id
    stale: bool = False
    late: bool = False
    is_early: bool = False  # another page of the same search follows, which counts what is wrong
    uncounted: int = 0  # results that the total does not count
    unsure: bool = False  # a host may have more that stand among these
    liars: set[NodeId] = field(default_factory=set)
    unreadable: Counter[NodeId] = field(default_factory=Counter)


@dataclass(slots=True)
class CopyProof:
    """The documents that were read and compared for one answer. `liars`: peers whose marks are not the signed
    documents'."""

    read: Read
    sign: Sign
    liars: dict[NodeId, str] = field(default_factory=dict)
    _verdicts: dict[tuple[bytes, bytes], bool] = field(default_factory=dict)
    _open: dict[tuple[bytes, bytes], tuple[HitRow, HitRow]] = field(default_factory=dict)

    async def pick(self, order: Sequence[MergedHit], enough: int, is_crowded: bool, is_whole: bool) -> list[PickedHit]:
        """Pick the first `enough` results, each fold between hosts proven."""
        peers = {found.hit.id: found.peer for found in order}
        while True:
            picked = pick(order, self._are_alike, enough, is_crowded, is_whole)
            if not self._open:
                return picked
            await self._compare(peers)

    def _are_alike(self, one: HitRow, other: HitRow) -> bool:
        if one.host == other.host:
            return True
        verdict = self._verdicts.get((one.id, other.id))
        if verdict is None:
            self._open[one.id, other.id] = one, other
        return verdict is not False

    async def _compare(self, peers: Mapping[bytes, NodeId]) -> None:
        pairs = list(self._open.values())
        self._open.clear()
        hits = {hit.id: hit for pair in pairs for hit in pair}
        texts = await self.read([(DocumentId(hit.id), Key(hit.key)) for hit in hits.values()])
        for hit in hits.values():
            text = texts.get(DocumentId(hit.id))
            if text is not None and text.version == hit.version and (reason := wrong_marks(hit, text)):
                self.liars[peers[hit.id]] = reason
        for one, other in pairs:
            first, second = texts.get(DocumentId(one.id)), texts.get(DocumentId(other.id))
            alike = first is not None and second is not None and say_the_same(first, second, self.sign)
            self._verdicts[one.id, other.id] = alike


class PageFiller:
    """Fills pages for one node."""

    def __init__(self, overlay: Overlay, clock: Clock, sign: Sign, audit: PeerAudit, analysed: AnalysedPages) -> None:
        """`sign` makes the signature of a main text, as the crawler does."""
        self._overlay, self._clock, self._sign, self._audit, self._analysed = overlay, clock, sign, audit, analysed
        self.lied: dict[NodeId, int] = {}  # how often a peer's answer did not fit the signed document

    async def fill(
        self,
        request: BoundedRequest,
        outcome: SearchOutcome,
        read: Read,
        is_early: bool = False,
        pinned: Text | None = None,
    ) -> AnswerPage:
        """Read and check documents down the order until the page is full. `pinned`: what stands above the first page,
        and nowhere else."""
        page, after, limit = AnswerPage(is_early=is_early), request.after, request.limit
        page.stale = after is not None and after.statistics != statistics_digest(outcome.statistics, request.rules)
        picked: list[PickedHit] = []
        last, me = request.shown + limit, self._overlay.view.node_id
        left: list[PickedHit] = []
        proof, is_crowded = CopyProof(read, self._sign), bounds_hosts(request.peer_query.query)
        try:
            async with asyncio.timeout(max(request.deadline - self._clock().steady, 0.0)):
                picked = await proof.pick(outcome.order, last + SPARE, is_crowded, not outcome.more)
                for peer, reason in proof.liars.items():
                    self._note(page, peer, reason)
                page.unsure = not outcome.sites.are_enough(picked[:last], len(picked) >= last)
                left = _following(picked, after)
                if pinned is not None and after is not None:
                    left = [each for each in left if each.found.hit.id != pinned.id]
                elif pinned is not None and all(each.found.hit.id != pinned.id for each in left[:limit]):
                    limit = max(limit - 1, 1)
                first = {found.hit.id for found in first_hits(outcome.order)} if is_crowded else set()
                left.reverse()  # the best is last, and taken first
                while left and len(page.shown) < limit:
                    batch = [left.pop() for _ in range(min(len(left), limit - len(page.shown)))]
                    texts = await read(_wanted(batch))
                    urls = {bytes(id_): text.url for id_, text in texts.items() if text is not None}
                    for each in batch:
                        each.original = plainest(each, first, urls)
                        if each.original.peer != me:
                            await asyncio.sleep(0)  # checking takes a millisecond; others may go first
                        self._check(outcome, each, texts, page)
        except TimeoutError:
            page.late = True
        if pinned is not None:
            self._pin(page, pinned, outcome, is_first=after is None)
        page.rest = bool(left)
        page.more = outcome.sites.more(picked[: len(picked) - len(left)]) if is_crowded else {}
        return page

    def _pin(self, page: AnswerPage, text: Text, outcome: SearchOutcome, *, is_first: bool) -> None:
        """Show a page above all others of the first page, and count it where nobody has."""
        query = outcome.peer_query.query
        forward = self._analysed.forward_of(text, query.rules.analyzer)
        page.uncounted = not matches(query.counted, text, forward)
        if not is_first:
            return
        shown = ShownResult(text, score(forward, query, outcome.statistics))
        others = []
        for each in page.shown:
            if each.text.id == text.id:
                shown = each
            else:
                others.append(_without_copy(each, text))
        page.shown = [replace(shown, is_pinned=True), *others]

    def _check(
        self,
        outcome: SearchOutcome,
        picked: PickedHit,
        texts: Mapping[DocumentId, Text | None],
        page: AnswerPage,
    ) -> None:
        """Hold a hit to its signed document, and put what is true onto the page."""
        page.last, query = picked, outcome.peer_query.query
        hit, peer = picked.original.hit, picked.original.peer
        text = texts.get(DocumentId(hit.id))
        if text is None:
            page.stale = True
            page.unreadable[peer] += DocumentId(hit.id) in texts
            if page.unreadable[peer] >= UNREADABLE:
                self._note(page, peer, "documents that nobody has")
        elif text.version == hit.version:
            if peer != self._overlay.view.node_id and (reason := self._wrong_hit(hit, text, query)):
                self._note(page, peer, reason)
            else:
                scored = Scored(hit.score, hit.numbers)
                copies, similar = _true_copies(picked, texts), len(picked.similar)
                page.shown.append(ShownResult(text, scored, copies, max(similar, len(copies))))
        else:  # it changed: what it says now counts
            page.stale |= text.written_at < self._clock().wall - YOUNG_S
            forward = self._analysed.forward_of(text, query.rules.analyzer)
            if matches(query.root, text, forward):
                page.shown.append(ShownResult(text, score(forward, query, outcome.statistics)))

    def _wrong_hit(self, hit: HitRow, text: Text, query: Query) -> str | None:
        return wrong_hit(hit, text, self._analysed.forward_of(text, query.rules.analyzer), query)

    def _note(self, page: AnswerPage, peer: NodeId, reason: str) -> None:
        if peer not in page.liars:
            page.liars.add(peer)
            if page.is_early:
                return
            if len(self.lied) < 1024 or peer in self.lied:
                self.lied[peer] = self.lied.get(peer, 0) + 1
                if self.lied[peer] % LIES == 0:
                    self._audit.refute(peer, Topic.HITS, reason)
            log.warning("peer lied in an answer peer=%s: %s", peer.hex(), reason)


def _without_copy(shown: ShownResult, text: Text) -> ShownResult:
    """Return a result without one of its copies, which is shown by itself."""
    copies = [each for each in shown.copies if each.id != text.id]
    return replace(shown, copies=copies, similar=shown.similar - (len(shown.copies) - len(copies)))


def _following(picked: Sequence[PickedHit], after: PageCursor | None) -> list[PickedHit]:
    """The results after the last one of the page before; where that result is gone, its number says where to begin."""
    if after is None:
        return list(picked)
    ids = [each.found.hit.id for each in picked]
    return list(picked[ids.index(after.id) + 1 if after.id in ids else after.shown :])


def _wanted(batch: Sequence[PickedHit]) -> list[tuple[DocumentId, Key]]:
    """List the documents of some results, and those of the copies that are named with them."""
    found: list[MergedHit] = [each for picked in batch for each in (picked.original, *picked.copies[:SIMILAR])]
    return [(DocumentId(each.hit.id), Key(each.hit.key)) for each in found]


def _true_copies(picked: PickedHit, texts: Mapping[DocumentId, Text | None]) -> list[Text]:
    """List the copies that really are: their signed documents are what peers said of them."""
    found = ((each.hit, texts.get(DocumentId(each.hit.id))) for each in picked.copies[:SIMILAR])
    return [text for hit, text in found if text is not None and not wrong_marks(hit, text)]
