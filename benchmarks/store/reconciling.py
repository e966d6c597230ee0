"""Counts what two nodes say to each other to find out what differs: bytes of messages, exchanges, processor's time.

Messages are encoded as they travel, without headers of the transport. One session compares everything as one range;
beside it stands one that has a range for each of the slots that a node compares at once.
"""

import random
import time
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from benchmarks.figures import Row, row
from benchmarks.store.extent import Extent
from benchmarks.store.goals import EQUAL_BYTES, RECONCILED_KB, RECONCILED_TRIPS
from dht import DocumentId, Key, Slot
from store import Kind, StoreConfig
from store.record.messages import ReconcileReply, ReconcileStep
from store.record.range_reconciliation import END, FORM, RangeItem, among, item
from store.record.range_session import SALT_BYTES, RangeSession, answer
from store.record.record import ShortVersion
from store.repair.peer_sync import spans

TODAY = 20_000
APART = 0.001
SLOT_BITS = 6  # as many slots as one session takes
MOST_TRIPS = 64


def rows(extent: Extent) -> list[Row]:
    """Return the rows of sets that differ a little, then those of equal ones."""
    count, rng = extent.of(100_000, 1_000_000), random.Random(1)
    ours = made_up(count, rng)
    theirs = changed(ours, APART, rng)
    is_whole = not extent.quick  # a goal of a million is none of fewer
    whole, slots = [(b"", END)], spans([Slot(n) for n in range(1 << SLOT_BITS)], SLOT_BITS)
    assert len(slots) == StoreConfig().reconcile_slots
    what = f"{count:,} keys, {APART:.1%} apart"
    apart, parted = session(ours, theirs, whole), session(ours, theirs, slots)
    equal, equal_parted = session(ours, ours, whole), session(ours, ours, slots)
    assert apart.found == parted.found == round(count * APART), "every difference is found"
    return [
        row(f"reconciling {what}: both ways", [apart.size / 1e3], "kB", goal=RECONCILED_KB if is_whole else None),
        row(f"reconciling {what}: round trips", [apart.trips], "", goal=RECONCILED_TRIPS if is_whole else None),
        row(f"reconciling {what}: CPU of who asks", [apart.asker_s], "s"),
        row(f"reconciling {what}: CPU of who answers", [apart.answerer_s], "s"),
        row(f"the same in {len(slots)} slots: both ways", [parted.size / 1e3], "kB"),
        row(f"the same in {len(slots)} slots: round trips", [parted.trips], ""),
        row(f"reconciling {count:,} equal keys: both ways", [equal.size], "bytes", goal=EQUAL_BYTES),
        row(f"the same in {len(slots)} slots: both ways", [equal_parted.size], "bytes"),
    ]


class Session(msgspec.Struct, frozen=True):
    """Says what a session took: bytes both ways, exchanges, seconds of either side, differences found."""

    size: int
    trips: int
    asker_s: float
    answerer_s: float
    found: int


def session(ours: Sequence[RangeItem], theirs: Sequence[RangeItem], parts: Sequence[tuple[bytes, bytes]]) -> Session:
    """Reconcile two sorted sets; reading them from the disk is no part of what is timed."""
    between, size, trips = among(theirs), 0, 0
    began = time.process_time()
    asking = RangeSession(ours, parts, bytes(SALT_BYTES))
    ranges, asker_s, answerer_s = asking.open(), 0.0, 0.0
    while ranges is not None:
        trips += 1
        assert trips < MOST_TRIPS
        question = msgspec.msgpack.encode(ReconcileStep(TODAY, FORM, asking.salt, ranges))
        asked = time.process_time()
        step = msgspec.msgpack.decode(question, type=ReconcileStep)
        reply = msgspec.msgpack.encode(ReconcileReply(FORM, answer(between, step.ranges, step.salt)))
        answered = time.process_time()
        ranges = asking.receive(msgspec.msgpack.decode(reply, type=ReconcileReply).ranges)
        asker_s, answerer_s, size = asker_s + asked - began, answerer_s + answered - asked, size + len(question)
        size, began = size + len(reply), answered
    asker_s += time.process_time() - began
    return Session(size, trips, asker_s, answerer_s, len({e.place for e in [*asking.wanted, *asking.owed]}))


def made_up(count: int, rng: random.Random) -> list[RangeItem]:
    """Return items of made-up documents, sorted by place."""
    made = [_item(rng.randbytes(20), rng) for _ in range(count)]
    made.sort(key=lambda i: i.entry.place)
    assert all(one.entry.place < two.entry.place for one, two in pairwise(made))
    return made


def changed(found: Sequence[RangeItem], share: float, rng: random.Random) -> list[RangeItem]:
    """Return the same items, a share of them in a newer version."""
    other = list(found)
    for n in rng.sample(range(len(found)), round(len(found) * share)):
        entry = found[n].entry
        newer = ShortVersion(entry.epoch, entry.at_ms + 1000, rng.randbytes(8))
        other[n] = item(entry.kind, entry.id, entry.key, newer)
    return other


def _item(id: bytes, rng: random.Random) -> RangeItem:
    version = ShortVersion(1_700_000_000, 1_700_000_000_000 + rng.randrange(10**9), rng.randbytes(8))
    return item(Kind.DOCUMENT, DocumentId(id), Key(rng.randbytes(20)), version)
