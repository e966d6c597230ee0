"""A hearing: whoever finds a page unlike calls the others of its panel, and three who agree publish what they saw.

The call brings the version itself, signed by its author, so nobody is believed about it, and an author that replaces it
meanwhile takes nothing back. Until three agree nothing is said in public: a page that changes with each visitor, or has
changed since, accuses nobody.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from typing import Annotated

from msgspec import Meta

from crawl import is_canonical
from dht import (
    BadMessage,
    Clock,
    Done,
    Identity,
    Key,
    Message,
    NodeId,
    Overlay,
    RemoteError,
    node_id_of,
    site_of,
    slot_of,
)
from node.witness.call_queue import Call, CallQueue
from node.witness.evidence_board import EvidenceBoard
from node.witness.panel import AGREEING, PANEL
from node.witness.panel_view import PanelView
from node.witness.statement import SignedStatement, Statement, Witnessed, opened, sign_statement
from node.witness.verdict import agreeing, is_telling
from store import BadReplica, Kind, Record, RecordCheck, open_package, pack, url_of

log = logging.getLogger(__name__)

MAX_CALL_BYTES = 1 << 20  # of a version without its content; longer ones are not heard about
MAX_HEARINGS = 64
V4_BLOCK_BYTES = 3
FEWEST = 2  # called first; the others where these do not agree
SECOND_S = 150.0
HEARING_S = 600.0
SEND_S = 10.0
LEAST_WAIT_S, MOST_WAIT_S = 30.0, 480.0  # before others look: what changes by itself has changed again by then
CALL_LATE_S = 2 * 3600.0  # a version older than this is not looked at for others

_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]


class CallWitness(Message, frozen=True, array_like=True):
    """Asks one of a panel to look at the page that this version (a package of one, without content) is of, so many
    seconds from now; or to look at it as at one that it drew itself, since who sends this cannot reach its site."""

    package: Annotated[bytes, Meta(max_length=MAX_CALL_BYTES)]
    wait_s: Annotated[float, Meta(ge=0.0, le=MOST_WAIT_S)] = 0.0
    is_handed: bool = False


class PageDenied(Message, frozen=True, array_like=True):
    """Answers a call later, where the page says something else than its author."""

    author: _Id
    statement: SignedStatement


class HeardPage(Message, frozen=True, array_like=True):
    """Tells a slot's panel and owners what three of the panel agree on; each of the three publishes its own."""

    author: _Id
    statements: Annotated[tuple[SignedStatement, ...], Meta(min_length=AGREEING, max_length=PANEL)]
    url: Annotated[str, Meta(max_length=2048)] = ""


@dataclass(slots=True)
class _Case:
    statements: dict[NodeId, SignedStatement] = field(default_factory=dict)
    has_news: asyncio.Event = field(default_factory=asyncio.Event)


class Hearing:
    """Calls witnesses and answers calls, for one node."""

    def __init__(
        self,
        overlay: Overlay,
        identity: Identity,
        panels: PanelView,
        board: EvidenceBoard,
        check: RecordCheck,
        replace: Callable[[str, Mapping[NodeId, Statement]], None],
        clock: Clock,
    ) -> None:
        """`replace` is told of each page that three of its panel deny, with what they said."""
        self._replace = replace
        self._check = check
        self._overlay, self._identity, self._panels, self._board, self._clock = overlay, identity, panels, board, clock
        self.calls = CallQueue()
        self._cases: dict[tuple[bytes, bytes, int], _Case] = {}
        self.agreed = 0  # hearings in which three agreed against an author
        overlay.serve(CallWitness, self._take_call)
        overlay.serve(PageDenied, self._take_statement)
        overlay.serve(HeardPage, self._take_heard)

    def is_heard(self, author: NodeId, url: str) -> bool:
        """Tell whether a page of an author's at a URL's site was heard about, and denied, lately."""
        return self._board.has_said(author, site_of(url))

    def doubted(self, known: Set[NodeId]) -> set[tuple[NodeId, str]]:
        """Return whose pages are in doubt, and the sites of those pages: denied in hearings, or called for. `known`:
        who wrote what no site says, as this node saw."""
        return {*self.calls.doubted(self._clock().steady, known), *self._board.heard()}

    async def call(self, record: Record, mine: Statement) -> None:
        """Have others of the panel look, too, and publish what three of them agree on."""
        author = node_id_of(record.proof.author)
        name = (author, mine.digest, mine.at_ms)
        if len(self._cases) >= MAX_HEARINGS or name in self._cases:
            return None
        others, able = self._others(author, mine)
        if able < FEWEST:
            return await self.hand_on(record, _family(mine))
        case = self._cases[name] = _Case({self._overlay.view.node_id: self._sign(mine, author)})
        try:
            wait_s = min(max(2 * (mine.at - mine.at_ms / 1000), LEAST_WAIT_S), MOST_WAIT_S)
            package = pack([record.without_content()])
            first, rest = others[:FEWEST], others[FEWEST:]
            for part, later_s, within_s in ((first, wait_s, wait_s + SECOND_S), (rest, 0.0, HEARING_S - SECOND_S)):
                await self._send(part, CallWitness(package, later_s))
                if three := await self._wait(author, case, within_s):
                    return await self._conclude(author, three, url_of(record))
        finally:
            del self._cases[name]

    async def hand_on(self, record: Record, family: int) -> None:
        """Have one of a panel look at a page of whose family of address this node has none."""
        author = node_id_of(record.proof.author)
        panels = self._panels.of(author, record.signed_key)
        able = {peer for panel in panels for peer in panel if self._panels.reaches(peer, family)}
        live = able & self._overlay.view.live() - {self._overlay.view.node_id}
        chosen = sorted(live, key=lambda peer: _lot(record.version.digest, peer))[:1]
        await self._send(chosen, CallWitness(pack([record.without_content()]), is_handed=True))

    def _others(self, author: NodeId, mine: Statement) -> tuple[list[NodeId], int]:
        """Return who is on a panel with this node, first who reaches the page as it did, and how many these are; each
        comes as often as any."""
        able = {p for p in self._panels.beside(author, mine.key) if self._panels.reaches(p, _family(mine))}
        order = lambda peer: (peer not in able, _lot(mine.digest, peer))  # noqa: E731
        return sorted(self._panels.beside(author, mine.key), key=order), len(able)

    async def testify(self, record: Record, mine: Statement, caller: NodeId) -> None:
        """Tell whoever called what this node saw."""
        author = node_id_of(record.proof.author)
        await self._send([caller], PageDenied(author, self._sign(mine, author)))

    async def _wait(self, author: NodeId, case: _Case, within_s: float) -> tuple[SignedStatement, ...]:
        try:
            async with asyncio.timeout(within_s):
                while True:
                    case.has_news.clear()
                    said = {peer: signed.statement for peer, signed in case.statements.items()}
                    panels = self._panels.of(author, next(iter(said.values())).key)
                    if agreed := agreeing(said, panels):
                        return tuple(s for s in case.statements.values() if s.statement in agreed)[:PANEL]
                    await case.has_news.wait()
        except TimeoutError:
            return ()

    async def _conclude(self, author: NodeId, three: tuple[SignedStatement, ...], url: str) -> None:
        self.agreed += 1
        view, key = self._overlay.view, three[0].statement.key
        slot = slot_of(key, view.strategy.slot_bits)
        told = {*chain.from_iterable(self._panels.of(author, key)), *view.live_owners(slot)}
        await self._send(sorted(told), HeardPage(author, three, url))

    async def _send(self, peers: list[NodeId], message: Message) -> None:
        async with asyncio.TaskGroup() as tasks:
            for peer in peers:
                tasks.create_task(self._send_one(peer, message), name="witness-send")

    async def _send_one(self, peer: NodeId, message: Message) -> None:
        try:
            await self._overlay.ask(peer, message, Done, timeout_s=SEND_S)
        except RemoteError as error:
            log.debug("witness not reached peer=%s reason=%s", peer.hex(), error)

    async def _take_call(self, peer: NodeId, call: CallWitness) -> Done:
        record = self._opened(peer, call.package)
        author = node_id_of(record.proof.author)
        me, panels = self._overlay.view.node_id, self._panels.of(author, record.signed_key)
        if not any(me in panel and (call.is_handed or peer in panel) for panel in panels):
            raise BadMessage(peer.hex(), "calls a witness where one of both is not on the slot's panel")
        slot = slot_of(Key(record.signed_key), self._overlay.view.strategy.slot_bits)
        if call.is_handed and peer not in self._overlay.view.owners(slot):
            raise BadMessage(peer.hex(), "hands on a page of which it is no owner")
        if self._clock().wall - record.version.at_ms / 1000 > CALL_LATE_S:
            raise BadMessage(peer.hex(), "calls a witness too late")
        if not self._overlay.view.strategy.witness_permille:
            raise BadMessage(peer.hex(), "calls a witness where the strategy wants none")
        if call.is_handed:
            self.calls.hand(record, peer)
            return Done()
        now = self._clock().steady
        answer = lambda r, mine: self.testify(r, mine, peer)  # noqa: E731
        self.calls.add(Call(record, peer, answer, now + call.wait_s, now + call.wait_s + HEARING_S), now)
        return Done()

    async def _take_statement(self, peer: NodeId, said: PageDenied) -> Done:
        author, statement = NodeId(said.author), said.statement.statement
        case = self._cases.get((author, statement.digest, statement.at_ms))
        if case is not None and self._verified(author, said.statement) == peer:
            first = case.statements[self._overlay.view.node_id].statement
            if (statement.key, statement.claimed, statement.site) == (first.key, first.claimed, first.site):
                case.statements[peer] = said.statement
                case.has_news.set()
        return Done()

    async def _take_heard(self, peer: NodeId, heard: HeardPage) -> Done:
        author = NodeId(heard.author)
        by = {w: s.statement for s in heard.statements if (w := self._verified(author, s)) is not None}
        versions = {(s.key, s.epoch, s.at_ms, s.digest, s.claimed, s.site) for s in by.values()}
        if len(versions) != 1 or not agreeing(by, self._panels.of(author, heard.statements[0].statement.key)):
            raise BadMessage(peer.hex(), "tells of a hearing in which no three agreed")
        if is_canonical(heard.url):
            self._replace(heard.url, by)
        await self._board.hear(author, [Witnessed(witness, s) for witness, s in sorted(by.items())])
        return Done()

    def _verified(self, author: NodeId, signed: SignedStatement) -> NodeId | None:
        """Return the witness of a statement that counts here, None where it does not."""
        network = bytes.fromhex(self._overlay.view.strategy.network)
        said = opened(signed, network, author)
        if said is None or not any(said.witness in panel for panel in self._panels.of(author, said.statement.key)):
            return None
        return said.witness if is_telling(said.statement, self._clock().wall) else None

    def _sign(self, statement: Statement, author: NodeId) -> SignedStatement:
        return sign_statement(statement, self._identity, bytes.fromhex(self._overlay.view.strategy.network), author)

    def _opened(self, peer: NodeId, package: bytes) -> Record:
        """Open the version that a call brings; raises BadMessage where it is none, or not its author's."""
        try:
            records = open_package(package)
        except BadReplica as error:
            raise BadMessage(peer.hex(), f"calls a witness for what is no version: {error}") from error
        if len(records) != 1 or records[0].kind != Kind.DOCUMENT or not records[0].version.epoch:
            raise BadMessage(peer.hex(), "calls a witness for what is no page that was fetched here")
        if flaw := self._check.flaws(records)[0].reason:
            raise BadMessage(peer.hex(), f"calls a witness for a page that none may write: {flaw}")
        return records[0]


def _family(statement: Statement) -> int:
    return 6 if len(statement.block) > V4_BLOCK_BYTES else 4


def _lot(digest: bytes, peer: NodeId) -> bytes:
    return sha256(digest + peer).digest()
