"""Sets of slots as integers say what the sets say."""

import random
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from dht import NodeId, Slot
from index.asking.scatter_gather import make_plan
from index.asking.slot_bitmaps import Ready, bitmap_of, slots_of

ME, A, B = (NodeId(bytes([n]) * 20) for n in range(3))


@given(st.lists(st.integers(0, 65_535), max_size=40))
def test_a_bitmap_gives_back_its_slots(slots: list[int]) -> None:
    bitmap = bitmap_of(slots)
    assert slots_of(bitmap) == tuple(sorted({*slots}))
    assert bitmap == sum(1 << slot for slot in {*slots})


def test_a_part_asks_nobody_else_and_the_avoided_are_kept_where_they_are_alone() -> None:
    ready = Ready({Slot(0): (A, B), Slot(1): (A,), Slot(2): ()})
    assert (ready.can, ready.askable) == ({A: 0b11, B: 0b01}, 0b11)
    assert ready.within(0b11) is ready and ready.within(0b01) == {0: (A, B)}
    assert ready.without({A}).can == {A: 0b10, B: 0b01}


def test_a_plan_for_a_thousand_peers_does_not_hold_up_the_node() -> None:
    """It took 1.6 s when each step looked at all peers anew."""
    rng, peers = random.Random(1), [NodeId(n.to_bytes(20, "big")) for n in range(1, 1001)]
    ready = Ready({Slot(slot): rng.sample(peers, 3) for slot in range(1 << 14)})
    can, began = ready.can, process_time()
    plan = make_plan(can, ready.askable, ME, rng, (), {}, lambda peer: False, lambda peer: 0)
    assert process_time() - began < 0.5
    assert sorted(slot for _, slots in plan for slot in slots_of(slots)) == list(ready)
