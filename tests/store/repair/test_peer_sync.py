"""One conversation with a peer that lies."""

import random
from types import SimpleNamespace

import pytest

from dht import Slot, slot_of
from store import Kind, MemoryDisk, RecordStore
from store.record.messages import FetchRecords, FetchReply, ReconcileReply, ReconcileStep
from store.record.package import pack
from store.record.range_reconciliation import END, FORM, RangeMode, Ranges, item
from store.repair.peer_sync import BURST_S, LEAST_BYTES_S, PeerSync, Throttle
from store.writing.admission import HostWriters
from store.writing.proof_thread import ProofThread
from store.writing.write_right import WriteRight
from tests.parameters import proved
from tests.store.support import CHECK, CONFIG, AnyPlaces, StillClock, draft, records

BITS = 4


class Liar:
    """Answers every comparison with a list of all it has, whatever was asked."""

    def __init__(self, count: int) -> None:
        made = sorted(records(*(draft(n, kind=Kind.VISIT, epoch=0) for n in range(count))), key=lambda r: (r.key, r.id))
        self.by_id = {r.id: r for r in made}
        strategy = SimpleNamespace(slot_bits=BITS)
        self.view = SimpleNamespace(strategy=strategy, node_id=b"m" * 20, members=lambda: (b"m" * 20, b"p" * 20))
        self.entries = tuple(item(r.kind, r.id, r.key, r.version.short).entry for r in made)

    async def ask(self, peer: bytes, message: object, answer: type, *, timeout_s: float) -> object:
        if isinstance(message, ReconcileStep):
            return ReconcileReply(FORM, Ranges((END,), bytes([RangeMode.LIST]), entries=self.entries))
        assert isinstance(message, FetchRecords)
        return FetchReply(pack([self.by_id[w.id] for w in message.wanted]))


@pytest.mark.parametrize("seed", [0, *proved(1, 2)])
async def test_a_peer_cannot_fill_slots_that_were_not_compared(seed: int) -> None:
    store, liar = RecordStore(MemoryDisk(), CONFIG, StillClock()), Liar(60)
    right = WriteRight(liar, store, ProofThread())  # type: ignore[arg-type]
    writers = HostWriters(liar, AnyPlaces())  # type: ignore[arg-type]
    sync = PeerSync(liar, store, CHECK, ProofThread(), writers, right)  # type: ignore[arg-type]
    slots = sorted(random.Random(seed).sample([Slot(s) for s in range(1 << BITS)], 6))
    done = await sync.reconcile(b"p" * 20, slots, BITS, pull=True, push=())  # type: ignore[arg-type]
    mine = [r for r in liar.by_id.values() if slot_of(r.key, BITS) in slots]
    assert done.pulled == len(mine) == store.log.sequence
    assert {slot_of(r.key, BITS) for r in store.scan(mine[0].kind, bytes(20), b"\xff" * 20)} <= set(slots)
    store.close()


def test_bytes_never_outrun_the_rate_whatever_comes_when() -> None:
    rng, rate = random.Random(4), 1000.0
    throttle, now, moved = Throttle(rate), 0.0, list[tuple[float, int]]()
    for _ in range(500):
        size = rng.choice([0, 10, 500, 4000])
        moved.append((now, size))
        delay_s = throttle.delay_s(now, size)
        assert delay_s <= max(0.0, sum(s for _, s in moved) / rate)
        now += delay_s + rng.choice([0.0, 0.0, 0.1, 3.0])
    for start, _ in moved:
        inside = [(at, size) for at, size in moved if start <= at]
        total = 0
        for at, size in inside[:-1]:
            total += size
            after = next(later for later, _ in inside if later > at) if any(a > at for a, _ in inside) else None
            if after is not None:
                assert total <= rate * (after - start + BURST_S) + 1e-6


def test_little_need_not_wait() -> None:
    throttle = Throttle(1000.0)
    assert throttle.delay_s(5.0, 900) == 0.0
    assert throttle.delay_s(5.0, 1100) == 1.0
    assert throttle.delay_s(6.0, 0) == 0.0


def test_a_share_of_the_rate_is_slower_and_never_too_slow_to_end() -> None:
    rate = 10 * LEAST_BYTES_S
    assert Throttle(rate).delay_s(0.0, int(rate), 0.25) == 4.0 - BURST_S
    assert Throttle(rate).delay_s(0.0, int(rate), 0.01) == 10.0 - BURST_S
