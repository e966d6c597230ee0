"""Holds anchors that come to lie here against the pages that they name.

An author's first anchors are all looked at, later few, by a draw that it cannot foresee (`draw.py`). A look reads one
record of the network and asks no site for anything; where the page was replaced since, its former version, too. Whoever
made an anchor up is convicted (`proof_exchange.py`). Where nothing proves that, and yet the page has no such link ten
minutes later either, or is not there at all, the anchor goes: its page may have changed, or its author has dated it
as of an instant of which it stored no page. All owners of the page that is called so are told, and look for themselves;
so they end with the same anchors. For an hour none of them takes it back.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
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
    slot_of,
)
from node.witness.anchor_proof import AnchorFinding, finding
from node.witness.draw import Draw
from node.witness.proof_exchange import AGAIN_S, SEND_S, ProofExchange
from store import BadReplica, Kind, Record, RecordStore, Version, decode_anchor

log = logging.getLogger(__name__)

LOOK_EVERY_S = 5.0
AT_ONCE = 16  # pages read in one look, some 10 kB each
BATCH = 256  # changes followed at once
MAX_DUE = 256  # anchors that wait for a look; the oldest are let go
LOOKS = 2
LEFT_OUT_S = 3600.0
MAX_LEFT_OUT = 1024
DOUBTS_S, DOUBTS = 0.2, 16.0  # heard of one peer, a second and at once

Name = tuple[bytes, bytes]  # of an anchor: its id and its version's digest


class ReadPages(Protocol):
    """Reads pages of the network without their contents: `UrlLookup`, as far as this file needs it."""

    async def shown(self, urls: Sequence[str]) -> Mapping[str, Record | None]:
        """Return the versions of pages that are shown, by URL; None where there surely is none, nothing where nobody
        can tell."""

    async def former(self, url: str, at_ms: int) -> Record | None:
        """Return the version that was written at an instant, where it is kept as a former one."""


class AnchorDoubted(Message, frozen=True, array_like=True):
    """Tells an owner of a page that no link on the page that an anchor names says so, as the sender found twice."""

    id: Annotated[bytes, Meta(min_length=20, max_length=20)]
    digest: Annotated[bytes, Meta(min_length=32, max_length=32)]


class _Drawn(NamedTuple):
    version: Version
    source: str
    due_at: float  # steady
    looks: int  # that were made


class AnchorAudit:
    """Looks at the anchors of one node's disk."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        identity: Identity,
        pages: ReadPages,
        proofs: ProofExchange,
        clock: Clock,
    ) -> None:
        self._overlay, self._store, self._pages, self._proofs = overlay, store, pages, proofs
        self._clock, self._draw = clock, Draw(identity)
        self._due, self._sequence = OrderedDict[DocumentId, _Drawn](), store.log.sequence
        self._left_out: Mapping[Name, float] = {}  # until when (steady)
        self._doubts = RateLimiter(DOUBTS_S, DOUBTS)
        self.compared = self.invented = 0
        overlay.serve(AnchorDoubted, self._hear_doubt)

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            is_behind = self._follow()
            if self._due and not is_behind:
                await self._compare()
            await self._proofs.pass_on()
            self._leave_out()
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
        if record is None or not (said := decode_anchor(record.body)).text:
            return
        author = node_id_of(record.proof.author)
        if author != self._overlay.view.node_id and self._draw.takes(author, record.version.digest):
            self._put(id, _Drawn(record.version, said.source, self._clock().steady, 0))

    def _put(self, id: DocumentId, drawn: _Drawn) -> None:
        self._due[id] = drawn
        if len(self._due) > MAX_DUE:
            self._due.popitem(last=False)

    async def _compare(self) -> None:
        """Hold what is due of the anchors of some pages against these."""
        now = self._clock().steady
        due = {id: drawn for id, drawn in self._due.items() if drawn.due_at <= now}
        urls = list(dict.fromkeys(drawn.source for drawn in due.values()))[:AT_ONCE]
        pages = await self._pages.shown(urls) if urls else {}
        for id, (version, source, _, looks) in due.items():
            if source not in urls or self._due.pop(id, None) is None:
                continue
            anchor = self._store.find(Kind.ANCHOR, id, content=False)
            if anchor is None or anchor.version != version or self._store.denial.url_reason(source):
                continue  # of pages that are taken back nothing can be told
            if source in pages:
                if await self._is_told(anchor, pages[source]):
                    continue
                looks += 1
            if looks < LOOKS:
                self._put(id, _Drawn(version, source, now + AGAIN_S, looks))
            else:
                await self._drop(anchor)

    async def _is_told(self, anchor: Record, page: Record | None) -> bool:
        """Hold an anchor against its page; return whether that bears it out, or proves it a lie."""
        found = finding(anchor, page)
        if found == AnchorFinding.UNTOLD and page is not None and page.version > anchor.version:
            page = await self._pages.former(decode_anchor(anchor.body).source, anchor.version.at_ms)
            found = AnchorFinding.INVENTED if finding(anchor, page) == AnchorFinding.INVENTED else AnchorFinding.UNTOLD
        self.compared += found != AnchorFinding.UNTOLD
        if found == AnchorFinding.INVENTED and page is not None:
            self.invented += 1
            with suppress(BadReplica):  # it is denied by now, its author convicted
                await self._proofs.convict(anchor, page)
        return found != AnchorFinding.UNTOLD

    async def _drop(self, anchor: Record) -> None:
        """Let go of an anchor that its page does not bear out, and have the other owners look at it."""
        name, view = (bytes(anchor.id), anchor.version.digest), self._overlay.view
        if len(self._left_out) < MAX_LEFT_OUT:
            self._left_out = {**self._left_out, name: self._clock().steady + LEFT_OUT_S}
        self._leave_out()
        await self._store.forget([anchor])
        others = view.live_owners(slot_of(anchor.key, view.strategy.slot_bits))
        async with asyncio.TaskGroup() as tasks:
            for peer in sorted({*others} - {view.node_id}):
                tasks.create_task(self._tell(peer, AnchorDoubted(*name)), name="anchor-doubted")

    async def _tell(self, peer: NodeId, doubted: AnchorDoubted) -> None:
        try:
            await self._overlay.ask(peer, doubted, Done, timeout_s=SEND_S)
        except RemoteError as error:
            log.debug("doubt not told peer=%s reason=%s", peer.hex(), error)

    def _leave_out(self) -> None:
        now = self._clock().steady
        self._left_out = {name: until for name, until in self._left_out.items() if now < until}
        self._store.denial.leave_out(frozenset(self._left_out))

    async def _hear_doubt(self, peer: NodeId, told: AnchorDoubted) -> Done:
        view, now = self._overlay.view, self._clock().steady
        if not view.strategy.witness_permille or not self._doubts.take(peer, now):
            raise BadMessage(peer.hex(), "doubts an anchor where the strategy wants no witnesses, or too often")
        anchor = self._store.find(Kind.ANCHOR, DocumentId(told.id), content=False)
        if anchor is None or anchor.version.digest != told.digest or not (said := decode_anchor(anchor.body)).text:
            return Done()
        if peer not in view.owners(slot_of(anchor.key, view.strategy.slot_bits)):
            raise BadMessage(peer.hex(), "doubts an anchor of a page of which it is no owner")
        self._put(anchor.id, _Drawn(anchor.version, said.source, now, LOOKS - 1))
        return Done()
