"""An anchor that its page does not bear out, asked twice, goes here and at the other owners; any other stays."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dht import BadMessage, Identity, Message, NodeId, Now, Overlay
from dht.messages import Done
from node.witness.anchor_audit import LEFT_OUT_S, LOOK_EVERY_S, AnchorAudit, AnchorDoubted
from node.witness.proof_exchange import AGAIN_S, ProofExchange
from store import Kind, MemoryDisk, Record, RecordStore, StoreConfig
from tests.node.witness.test_anchor_proof import AT, OTHER, anchor, page

ME, FRIEND = NodeId(b"m" * 20), NodeId(b"f" * 20)
LIE, TRUTH = anchor("free money"), anchor("ferry timetable")


class Around:
    """The overlay and the network's pages as an audit sees them; steady time in seconds."""

    node_id, strategy = ME, SimpleNamespace(witness_permille=30, slot_bits=4)

    def __init__(self, shown: Record | None, *, is_known: bool = True) -> None:
        self.shown_page, self.is_known, self.steady = shown, is_known, 0.0
        clock = lambda: Now(AT + 60.0, self.steady)  # noqa: E731
        self.view, self.store = self, RecordStore(MemoryDisk(), StoreConfig(reserve_bytes=0), clock)
        self.told = list[tuple[NodeId, Message]]()
        proofs = cast(ProofExchange, None)
        pages = cast(Any, self)
        me = Identity(b"\x05" * 32)
        self.audit = AnchorAudit(cast(Overlay, self), self.store, me, pages, proofs, clock)

    def serve(self, kind: type[Message], handler: Any) -> None:
        self.hear = handler

    def live_owners(self, slot: int) -> set[NodeId]:
        return {ME, FRIEND}

    owners = live_owners

    async def ask(self, peer: NodeId, message: Message, kind: type[Message], *, timeout_s: float) -> Message:
        self.told.append((peer, message))
        return Done()

    async def shown(self, urls: Sequence[str]) -> Mapping[str, Record | None]:
        return dict.fromkeys(urls, self.shown_page) if self.is_known else {}

    async def former(self, url: str, at_ms: int) -> Record | None:
        return None

    async def look(self, later_s: float = LOOK_EVERY_S) -> None:
        self.steady += later_s
        self.audit._follow()
        await self.audit._compare()
        self.audit._leave_out()

    async def held(self, record: Record) -> bool:
        await self.store.put([record])
        return self.has(self.store, record)

    @staticmethod
    def has(store: RecordStore, record: Record) -> bool:
        return store.find(Kind.ANCHOR, record.id) is not None


async def test_what_no_page_bears_out_goes_for_an_hour_and_others_are_told() -> None:
    for shown in (None, page(60), page(-60), page(author=OTHER)):
        around = Around(shown)
        assert await around.held(LIE)
        await around.look()
        assert around.has(around.store, LIE), "its page may be on its way"
        await around.look(AGAIN_S)
        assert not await around.held(LIE)
        assert around.told == [(FRIEND, AnchorDoubted(LIE.id, LIE.version.digest))]
        assert await around.held(TRUTH), "what its domain says else is taken"
        await around.look(LEFT_OUT_S + LOOK_EVERY_S)
        around.store.close()


async def test_what_is_borne_out_or_cannot_be_told_stays() -> None:
    for record, around in ((TRUTH, Around(page(60))), (LIE, Around(None, is_known=False))):
        assert await around.held(record)
        for _ in range(5):
            await around.look(AGAIN_S)
            await around.hear(FRIEND, AnchorDoubted(record.id, record.version.digest))
            await around.look()
        assert around.has(around.store, record) and not around.told
        around.store.close()


async def test_who_hears_a_doubt_looks_for_itself_at_once() -> None:
    around = Around(page(60))
    assert await around.held(LIE)
    around.audit._follow()
    await around.hear(FRIEND, AnchorDoubted(LIE.id, TRUTH.version.digest))
    await around.look()
    assert around.has(around.store, LIE), "another version was doubted"
    with pytest.raises(BadMessage, match="no owner"):
        await around.hear(NodeId(b"s" * 20), AnchorDoubted(LIE.id, LIE.version.digest))
    await around.hear(FRIEND, AnchorDoubted(LIE.id, LIE.version.digest))
    await around.look()
    assert not around.has(around.store, LIE)
    around.store.close()
