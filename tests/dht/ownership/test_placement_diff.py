"""Which parts of the key space get new owners, against counting by hand."""

from hashlib import sha256
from random import Random

import pytest

from dht import NodeId, Placement, Slot, placement_diff, slot_start

NODES = sorted(NodeId(sha256(bytes([n])).digest()[:20]) for n in range(40))


@pytest.mark.parametrize(("bits", "later"), [(5, 5), (5, 6), (6, 5), (4, 7)])
def test_every_part_has_the_owners_that_each_strategy_gives_its_point(bits: int, later: int) -> None:
    rng = Random(bits * later)
    before, after = sorted(rng.sample(NODES, 20)), sorted(rng.sample(NODES, 25))
    found = list(placement_diff(Placement(before, bits, 3), Placement(after, later, 4), bits, later))
    fine = max(bits, later)
    assert [part.slot for part in found] == list(range(2**fine))
    for part in found:
        point = int.from_bytes(slot_start(part.slot, fine), "big")
        was = Placement(before, bits, 3).owners(Slot(point >> (160 - bits)))
        now = Placement(after, later, 4).owners(Slot(point >> (160 - later)))
        assert (part.before, part.after) == (was, now)
        assert set(part.gained) == set(now) - set(was)


def test_nothing_moves_where_nothing_changes_and_a_doubling_moves_the_odd_halves_only() -> None:
    same, finer = Placement(NODES, 6, 3), Placement(NODES, 7, 3)
    assert not any(part.gained for part in placement_diff(same, same, 6, 6))
    moved = [part for part in placement_diff(same, finer, 6, 7) if part.gained]
    assert moved and all(part.slot % 2 for part in moved)
