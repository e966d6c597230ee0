"""Neighbourhoods: cut alike by everybody, and never through the candidates of a slot."""

from random import Random

import pytest

from dht.admission.neighbourhood import LEAST, SMALL_NETWORK, WHOLE, neighbourhood_of, span
from dht.keys import NodeId, Slot, distance, slot_start


def ids(seed: int, count: int) -> list[NodeId]:
    rng = Random(seed)
    return sorted(NodeId(rng.randbytes(20)) for _ in range(count))


def test_all_are_near_in_a_small_network() -> None:
    members = ids(1, SMALL_NETWORK)
    assert {neighbourhood_of(members, member) for member in members} == {WHOLE}


@pytest.mark.parametrize("count", [81, 300, 1000])
def test_being_near_is_mutual_and_nobody_is_lonely(count: int) -> None:
    members = ids(count, count)
    for member in members[::7]:
        block = neighbourhood_of(members, member)
        inside = [other for other in members if block.has(other)]
        assert member in inside
        assert {neighbourhood_of(members, other) for other in inside} == {block}
        assert len(inside) >= LEAST
        assert members[slice(*span(members, block))] == inside
    assert len({neighbourhood_of(members, member) for member in members}) >= count // 100


@pytest.mark.parametrize("seed", range(8))
def test_the_candidates_of_a_slot_are_neighbours(seed: int) -> None:
    members = ids(seed, 81 + 37 * seed)
    for number in range(0, 256, 3):
        start = slot_start(Slot(number), 8)
        candidates = sorted(members, key=lambda m: distance(m, start))[:16]
        block = neighbourhood_of(members, start)
        assert all(block.has(peer) and neighbourhood_of(members, peer) == block for peer in candidates)
