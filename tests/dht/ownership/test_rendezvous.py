import random
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import placement_diff
from dht.keys import NodeId, Slot, distance, slot_start
from dht.ownership.failure_domains import FailureDomains
from dht.ownership.rendezvous import Placement, weight

POOL = [NodeId(random.Random(n).randbytes(20)) for n in range(300)]
members_of = st.lists(st.sampled_from(POOL), min_size=1, max_size=80, unique=True).map(sorted)


def slow_ranking(slot: int, bits: int, members: list[NodeId]) -> tuple[NodeId, ...]:
    start = slot_start(Slot(slot), bits)
    nearest = sorted(members, key=lambda m: distance(m, start))[:16]
    return tuple(sorted(nearest, key=lambda m: weight(m, start), reverse=True))


@settings(max_examples=150, deadline=None)
@given(members_of, st.integers(4, 12), st.data())
def test_every_node_computes_what_a_full_sort_gives(members: list[NodeId], bits: int, data: st.DataObject) -> None:
    slot = data.draw(st.integers(0, (1 << bits) - 1))
    assert Placement(members, bits, 3).ranking(Slot(slot)) == slow_ranking(slot, bits, members)


def test_close_ids_and_a_full_table() -> None:
    near = [NodeId(bytes(19) + bytes([n])) for n in range(40)]
    far = [NodeId(b"\xff" * 19 + bytes([n])) for n in range(40)]
    for slot in (0, 1, 128, 255):
        assert Placement(near + far, 8, 3).ranking(Slot(slot)) == slow_ranking(slot, 8, near + far)


def test_small_networks_have_as_many_owners_as_members() -> None:
    for n in range(1, 7):
        members = sorted(POOL[:n])
        for slot in range(256):
            found = Placement(members, 8, 3).owners(Slot(slot))
            assert len(found) == len(set(found)) == min(3, n)
            assert set(found) <= set(members)


def moved(before: list[NodeId], after: list[NodeId], bits: int, replicas: int) -> float:
    """Share of (slot, owner) places that changed."""
    a, b = Placement(before, bits, replicas), Placement(after, bits, replicas)
    slots = [Slot(s) for s in range(1 << bits)]
    return sum(len(set(b.owners(s)) - set(a.owners(s))) for s in slots) / (replicas * len(slots))


def test_one_join_moves_about_its_share() -> None:
    shares = []
    for seed in range(20):
        rng = random.Random(seed)
        n = rng.choice([8, 20, 50])
        ids = [NodeId(rng.randbytes(20)) for _ in range(n + 1)]
        shares.append(moved(sorted(ids[:n]), sorted(ids), 8, 3) * (n + 1))
    assert sum(shares) / len(shares) <= 2.0
    assert max(shares) <= 8.0  # one node among few, by luck of its id


def test_doubling_the_slots_of_a_hundred_nodes_moves_less_than_45_percent_of_the_keys() -> None:
    for seed in range(5):
        rng = random.Random(seed)
        members = sorted(NodeId(rng.randbytes(20)) for _ in range(100))
        before, after = Placement(members, 10, 3), Placement(members, 11, 3)
        gained = [len(set(after.owners(Slot(s))) - set(before.owners(Slot(s // 2)))) for s in range(2048)]
        assert 0.30 < sum(gained) / (3 * 2048) <= 0.45
        assert not any(gained[::2])


@settings(max_examples=80, deadline=None)
@given(members_of, st.data())
def test_live_owners(members: list[NodeId], data: st.DataObject) -> None:
    dead = data.draw(st.sets(st.sampled_from(members)))
    placement = Placement(members, 6, 3)
    for slot in map(Slot, range(64)):
        live = placement.live_owners(slot, lambda m: m not in dead)
        sticky = [m for m in placement.owners(slot) if m not in dead]
        assert list(live[: len(sticky)]) == sticky
        assert len(live) >= min(2, len([m for m in placement.ranking(slot) if m not in dead]))
        assert len(live) <= max(2, len(sticky))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(POOL), min_size=1, max_size=16, unique=True).map(sorted), st.data())
def test_keepers_are_who_would_own_a_slot_if_the_silent_were_forgotten(
    members: list[NodeId], data: st.DataObject
) -> None:
    silent = set(data.draw(st.lists(st.sampled_from(members))))
    live, slot = [m for m in members if m not in silent], Slot(data.draw(st.integers(0, 15)))
    kin = {m: FailureDomains(operator=str(m[0] % 4)) for m in members} if data.draw(st.booleans()) else {}
    placement, later = Placement(members, 4, 3, kin), Placement(live, 4, 3, kin)
    keepers = placement.keepers(slot, live.__contains__)
    would_own = [m for m in later.owners(slot) if m not in placement.owners(slot)] if live else []
    assert list(keepers) == would_own[: len(silent.intersection(placement.owners(slot)))]


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
