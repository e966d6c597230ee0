"""Holds anchors that come to lie here against the pages that they name, and tells others of whoever made one up.

An author's first anchors are all looked at, later few, by a draw that it cannot foresee (`draw.py`). A look reads one
record of the network and asks no site for anything; where the page was replaced since, its former version, too. Where
nothing is to be had that says anything of the anchor, it is looked at once more, some minutes later. Whoever convicts
an author passes the proof on, once to each who owns slots beside it, also to those who come later; so all hear of it.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Annotated, NamedTuple, Protocol

from msgspec import Meta

from dht import (
    BadMessage,
    Clock,
    DocumentId,
    Done,
    Identity,
    Message,
    NodeId,
    Overlay,
    RateLimiter,
    RemoteError,
    node_id_of,
)
from node.witness.anchor_proof import MAX_PROOF_BYTES, Finding, decode_proof, encode_proof, finding, verdict_of
from node.witness.draw import Draw
from node.witness.evidence_board import EvidenceBoard, neighbours
from store import BadReplica, Kind, Record, RecordCheck, RecordStore, Version, decode_anchor

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0
AT_ONCE = 4  # anchors held against their pages, one after the other
BATCH = 256  # changes followed at once
MAX_DUE = 256  # anchors that wait for a look; the oldest are let go
AGAIN_S = 600.0  # until a page is asked for once more
LOOKS = 2
MAX_PROOFS = 8  # kept to be passed on while their authors are barred
TOLD_AT_ONCE = 8  # peers
SEND_S = 20.0
PROOFS_S, PROOFS = 0.1, 4.0  # taken of one peer, a second and at once


class ReadPages(Protocol):
    """Reads pages of the network without their contents: `UrlLookup`, as far as this file needs it."""

    async def records(self, urls: Sequence[str], *, content: bool) -> Mapping[str, Record]: ...

    async def former(self, url: str, at_ms: int) -> Record | None: ...


class AnchorInvented(Message, frozen=True, array_like=True):
    """Proves that an author made up an anchor: the anchor, and its page of the same instant, in a package without
    contents."""

    package: Annotated[bytes, Meta(max_length=MAX_PROOF_BYTES)]


class _Drawn(NamedTuple):
    version: Version
    due_at: float  # steady
    looks: int  # that were made


class _Proof(NamedTuple):
    package: bytes
    due_at: dict[NodeId, float]  # when to tell each peer (steady); inf: it knows


class AnchorAudit:
    """Looks at the anchors of one node's disk."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        identity: Identity,
        pages: ReadPages,
        check: RecordCheck,
        board: EvidenceBoard,
        clock: Clock,
    ) -> None:
        self._overlay, self._store, self._pages, self._check = overlay, store, pages, check
        self._board, self._clock, self._draw = board, clock, Draw(identity)
        self._due, self._sequence = OrderedDict[DocumentId, _Drawn](), store.log.sequence
        self._proofs, self._taken = OrderedDict[NodeId, _Proof](), RateLimiter(PROOFS_S, PROOFS)
        self.compared = self.invented = 0
        overlay.serve(AnchorInvented, self._take_proof)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            is_behind = self._follow()
            if not is_behind:
                await self._look()
            for author in list(self._proofs):
                await self._pass_on(author)
            await asyncio.sleep(0 if is_behind else LOOK_EVERY_S)

    def _follow(self) -> bool:
        """Draw from a batch of changes; return whether there may be more."""
        newest = self._store.log.sequence
        if newest == self._sequence or not self._overlay.view.strategy.witness_permille:
            self._sequence = newest
            return False
        changes = self._store.log.changes(self._sequence, BATCH)
        for change in changes:
            if change.kind == Kind.ANCHOR and not change.removed:
                self._consider(change.id)
        is_more = len(changes) == BATCH
        self._sequence = changes[-1].sequence if is_more else newest
        return is_more

    def _consider(self, id: DocumentId) -> None:
        record = self._store.find(Kind.ANCHOR, id, content=False)
        if record is None or not decode_anchor(record.body).text:
            return
        author = node_id_of(record.proof.author)
        if author != self._overlay.view.node_id and self._draw.takes(author, record.version.digest):
            self._due[id] = _Drawn(record.version, self._clock().steady, 0)
            if len(self._due) > MAX_DUE:
                self._due.popitem(last=False)

    async def _look(self) -> None:
        now = self._clock().steady
        for id in [id for id, drawn in self._due.items() if drawn.due_at <= now][:AT_ONCE]:
            drawn, anchor = self._due.pop(id), self._store.find(Kind.ANCHOR, id, content=False)
            if anchor is None or anchor.version != drawn.version or await self._is_told(anchor):
                continue
            if drawn.looks + 1 < LOOKS:
                self._due[id] = _Drawn(drawn.version, self._clock().steady + AGAIN_S, drawn.looks + 1)

    async def _is_told(self, anchor: Record) -> bool:
        """Hold an anchor against its page; return whether that says anything of it."""
        try:
            page = await self._page_of(anchor)
        except RemoteError:
            return False
        found = finding(anchor, page)
        self.compared += found != Finding.UNTOLD
        if found == Finding.INVENTED and page is not None:
            self.invented += 1
            with suppress(BadReplica):  # it is denied by now, its author convicted
                await self._convict(anchor, page)
        return found != Finding.UNTOLD

    async def _page_of(self, anchor: Record) -> Record | None:
        """The version of its source that is shown, or else the one of the anchor's instant."""
        source = decode_anchor(anchor.body).source
        page = (await self._pages.records([source], content=False)).get(source)
        is_replaced = page is not None and page.version > anchor.version and finding(anchor, page) == Finding.UNTOLD
        return (await self._pages.former(source, anchor.version.at_ms) if is_replaced else None) or page

    async def _convict(self, anchor: Record, page: Record) -> None:
        """Convict an author, and have others do so; raises BadReplica where nothing is proved."""
        verdict = verdict_of(anchor, page, self._check)
        package = encode_proof(anchor, page)
        if verdict.author not in self._board.convicts() and len(package) <= MAX_PROOF_BYTES:
            self._proofs[verdict.author] = _Proof(package, {})
            if len(self._proofs) > MAX_PROOFS:
                self._proofs.popitem(last=False)
            said = decode_anchor(anchor.body)
            log.info(
                "anchor is not on its page url=%s source=%s author=%s", said.url, said.source, verdict.author.hex()
            )
        await self._board.convict(verdict)

    async def _pass_on(self, author: NodeId) -> None:
        if author not in self._board.convicts():
            self._proofs.pop(author, None)
        if (proof := self._proofs.get(author)) is None:
            return
        now = self._clock().steady
        peers = sorted(neighbours(self._overlay) & self._overlay.view.live() - {author})
        async with asyncio.TaskGroup() as tasks:
            for peer in [peer for peer in peers if proof.due_at.get(peer, now) <= now][:TOLD_AT_ONCE]:
                tasks.create_task(self._tell(peer, proof), name="anchor-proof")

    async def _tell(self, peer: NodeId, proof: _Proof) -> None:
        proof.due_at[peer] = self._clock().steady + AGAIN_S
        try:
            await self._overlay.ask(peer, AnchorInvented(proof.package), Done, timeout_s=SEND_S)
            proof.due_at[peer] = inf
        except RemoteError as error:
            log.debug("proof not told peer=%s reason=%s", peer.hex(), error)

    async def _take_proof(self, peer: NodeId, told: AnchorInvented) -> Done:
        view = self._overlay.view
        if not view.strategy.witness_permille or not self._taken.take(peer, self._clock().steady):
            raise BadMessage(peer.hex(), "tells of an anchor where the strategy wants no witnesses, or too often")
        try:
            anchor, page = decode_proof(told.package)
            author = node_id_of(anchor.proof.author)
            if author not in view.members():  # anybody makes up authors
                raise BadMessage(peer.hex(), "tells of an anchor by an author that is no member")
            if author != view.node_id and author not in self._board.convicts():
                await self._convict(anchor, page)
            if author in self._proofs:
                self._proofs[author].due_at[peer] = inf
        except BadReplica as error:
            raise BadMessage(peer.hex(), f"tells of an invented anchor without proof: {error}") from error
        return Done()
