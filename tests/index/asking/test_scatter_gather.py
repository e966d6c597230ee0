"""Plans: every slot that somebody is ready for, once, by few peers."""

import random
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from dht import NodeId, Slot
from index.asking.scatter_gather import make_plan
from index.asking.slot_bitmaps import Ready as ReadySlots
from index.asking.slot_bitmaps import bitmap_of, slots_of

PEERS = [NodeId(bytes([n]) * 20) for n in range(6)]
Ready = Mapping[Slot, Sequence[NodeId]]
Plan = list[tuple[NodeId, tuple[Slot, ...]]]
ready_maps = st.dictionaries(
    st.integers(0, 15).map(Slot), st.lists(st.sampled_from(PEERS), max_size=3, unique=True), max_size=12
)


def plan(
    ready: Ready,
    rng: random.Random,
    me: NodeId = PEERS[0],
    avoid: Collection[NodeId] = (),
    tried: Mapping[NodeId, Collection[Slot]] | None = None,
    late: Collection[NodeId] = (),
    slowness: Mapping[NodeId, int] | None = None,
) -> Plan:
    asked, before = ReadySlots(ready), {peer: bitmap_of(slots) for peer, slots in (tried or {}).items()}
    is_late, level = set(late).__contains__, (slowness or dict.fromkeys(PEERS, 0)).__getitem__
    found = make_plan(asked.can, asked.askable, me, rng, avoid, before, is_late, level)
    return [(peer, slots_of(slots)) for peer, slots in found]


@settings(max_examples=200, deadline=None)
@given(ready_maps, st.sets(st.sampled_from(PEERS), max_size=2), st.integers(0, 9))
def test_covers_all_that_can_be_covered_once(ready: dict[Slot, list[NodeId]], avoid: set[NodeId], seed: int) -> None:
    found = plan(ready, random.Random(seed), avoid=avoid)
    assert sorted(slot for _, slots in found for slot in slots) == sorted(
        slot for slot, peers in ready.items() if set(peers) - avoid
    )
    for peer, slots in found:
        assert peer not in avoid
        assert all(peer in ready[slot] for slot in slots)
    assert found == plan(dict(reversed(ready.items())), random.Random(seed), avoid=avoid)


@settings(max_examples=100, deadline=None)
@given(ready_maps, st.integers(0, 9))
def test_asks_hardly_more_peers_than_would_be_enough(ready: dict[Slot, list[NodeId]], seed: int) -> None:
    """A greedy cover takes at most 1 + 1/2 + … + 1/n times as many sets as are needed (Chvátal 1979)."""
    found = plan(ready, random.Random(seed), me=NodeId(b"\xff" * 20))
    wanted = {slot for slot, peers in ready.items() if peers}
    fewest = next(
        size
        for size in range(len(PEERS) + 1)
        for chosen in combinations(PEERS, size)
        if all(set(ready[slot]) & set(chosen) for slot in wanted)
    )
    assert len(found) <= fewest * sum(1 / n for n in range(1, len(wanted) + 1))


def test_own_slots_are_answered_at_home_and_tried_pairs_left_out() -> None:
    ready = {Slot(n): [PEERS[1], PEERS[0]] for n in range(4)} | {Slot(9): [PEERS[1], PEERS[2]]}
    found = plan(ready, random.Random(1), tried={PEERS[1]: {Slot(9)}})
    assert found == [(PEERS[0], (0, 1, 2, 3)), (PEERS[2], (9,))]


def test_who_is_late_covers_only_what_nobody_else_can() -> None:
    late = PEERS[1]
    ready = {Slot(n): [late, PEERS[2]] for n in range(4)} | {Slot(4): [late, PEERS[3]], Slot(5): [late]}
    assert sorted(plan(ready, random.Random(1), late=[late])) == [
        (late, (5,)),
        (PEERS[2], (0, 1, 2, 3)),
        (PEERS[3], (4,)),
    ]


def test_equal_peers_share_the_load() -> None:
    ready = {Slot(n): [PEERS[1], PEERS[2]] for n in range(4)}
    rng = random.Random(1)
    assert {plan(ready, rng)[0][0] for _ in range(30)} == {PEERS[1], PEERS[2]}


def test_of_peers_that_cover_as_many_slots_the_quickest_is_asked() -> None:
    slowness = {PEERS[1]: 3, PEERS[2]: 1, PEERS[3]: 0}
    ready = {Slot(n): PEERS[1:4] for n in range(3)}
    assert plan(ready, random.Random(1), slowness=slowness) == [(PEERS[3], (0, 1, 2))]


def test_a_quick_peer_is_asked_before_a_slow_one_that_covers_a_little_more() -> None:
    slowness = {PEERS[1]: 2, PEERS[2]: 0, PEERS[3]: 0}
    ready = {Slot(n): PEERS[1:3] for n in range(4)} | {Slot(4): [PEERS[1], PEERS[3]]}
    assert plan(ready, random.Random(1), slowness=slowness) == [(PEERS[2], (0, 1, 2, 3)), (PEERS[3], (4,))]
    ready |= {Slot(n): [PEERS[1]] for n in range(5, 9)}
    assert len(plan(ready, random.Random(1), slowness=slowness)) == 1
