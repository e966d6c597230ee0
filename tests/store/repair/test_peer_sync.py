"""One conversation with a peer that lies."""

import random

import pytest

from dht import Slot, slot_of
from store import Kind, MemoryDisk, RecordStore
from store.record.messages import FetchRecords, FetchReply, ReconcileReply, ReconcileStep
from store.record.package import pack
from store.record.range_message import RangeMode, Ranges
from store.record.range_reconciliation import END, FORM, item
from store.record.record_check import RefusalCounts
from store.repair.peer_sync import PeerSync
from store.writing.host_writers import HostWriters
from store.writing.proof_thread import ProofThread
from store.writing.write_right import WriteRight
from tests.store.support import CHECK, CONFIG, AnyPlaces, StillClock, draft, records

BITS = 4


class Liar:
    """Answers every comparison with a list of all it has, whatever was asked."""

    def __init__(self, count: int) -> None:
        made = sorted(records(*(draft(n, kind=Kind.VISIT, epoch=0) for n in range(count))), key=lambda r: (r.key, r.id))
        self.by_id = {r.id: r for r in made}
        self.entries = tuple(item(r.kind, r.id, r.key, r.version.short).entry for r in made)

    async def ask(self, peer: bytes, message: object, answer: type, *, timeout_s: float) -> object:
        if isinstance(message, ReconcileStep):
            return ReconcileReply(FORM, Ranges((END,), bytes([RangeMode.LIST]), entries=self.entries))
        assert isinstance(message, FetchRecords)
        return FetchReply(pack([self.by_id[w.id] for w in message.wanted]))


@pytest.mark.parametrize("seed", range(3))
async def test_a_peer_cannot_fill_slots_that_were_not_compared(seed: int) -> None:
    store, liar = RecordStore(MemoryDisk(), CONFIG, StillClock()), Liar(60)
    right = WriteRight(liar, store, ProofThread(), CONFIG, StillClock())  # type: ignore[arg-type]
    writers = HostWriters(liar, AnyPlaces())  # type: ignore[arg-type]
    sync = PeerSync(liar, store, CONFIG, CHECK, ProofThread(), RefusalCounts(), writers, right)  # type: ignore[arg-type]
    slots = sorted(random.Random(seed).sample([Slot(s) for s in range(1 << BITS)], 6))
    done = await sync.reconcile(b"p" * 20, slots, BITS, pull=True, push=())  # type: ignore[arg-type]
    mine = [r for r in liar.by_id.values() if slot_of(r.key, BITS) in slots]
    assert done.pulled == len(mine) == store.log.sequence
    assert {slot_of(r.key, BITS) for r in store.scan(mine[0].kind, bytes(20), b"\xff" * 20)} <= set(slots)
    store.close()
