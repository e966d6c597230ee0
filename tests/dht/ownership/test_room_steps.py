"""Members with more room own more: how evenly, what one step moves, and what somebody gains who lies about it."""

from collections import Counter
from collections.abc import Mapping
from random import Random
from statistics import mean

import pytest

from dht.keys import NodeId, Slot, slot_start
from dht.ownership.failure_domains import FailureDomains
from dht.ownership.rendezvous import Placement, weight
from dht.ownership.weight_steps import minus_log2, scaled
from dht.wire.room_step import FULL_STEP

Domains = Mapping[NodeId, FailureDomains]


def members(count: int, seed: object) -> list[NodeId]:
    rng = Random(f"room {seed}")
    return sorted(NodeId(rng.randbytes(20)) for _ in range(count))


def stepped(count: int, steps: tuple[int, ...], seed: object) -> dict[NodeId, FailureDomains]:
    """So many members, these steps in turn among them."""
    mixed = Random(f"steps {seed}").sample(found := members(count, seed), count)
    return {m: FailureDomains(step=steps[mixed.index(m) % len(steps)]) for m in found}


def copies(domains: Domains, bits: int) -> Counter[NodeId]:
    owners = Placement(sorted(domains), bits, 3, domains).owners_by_slot
    return Counter(owner for team in owners for owner in team)


def fullest(domains: Domains, bits: int) -> float:
    """The most copies that a member has, over its share of the room."""
    found, rooms = copies(domains, bits), {m: 2.0**each.step for m, each in domains.items()}
    return max(found[m] * sum(rooms.values()) / (found.total() * room) for m, room in rooms.items())


@pytest.mark.parametrize(
    ("count", "bits", "steps", "most"),
    [
        (16, 10, (-2, 0, 0, 2), 1.45),
        (100, 12, (-2, 0, 0, 2), 2.3),
        (100, 12, (0,), 1.6),
    ],
)
def test_the_fullest_member_has_not_much_more_than_its_share_of_the_room(
    count: int, bits: int, steps: tuple[int, ...], most: float
) -> None:
    assert mean(fullest(stepped(count, steps, seed), bits) for seed in range(100 // count + 2)) <= most


@pytest.mark.parametrize("step", [-2, -1, 1, 2])
def test_where_all_have_the_same_step_nothing_is_other_than_without_steps(step: int) -> None:
    domains = stepped(40, (step,), step)
    with_steps, without = (Placement(sorted(domains), 8, 3, each) for each in (domains, {}))
    assert all(with_steps.ranking(Slot(s)) == without.ranking(Slot(s)) for s in range(256))


def moved(before: Domains, after: Domains, bits: int) -> int:
    """How many copies get a new owner."""
    old, new = (Placement(sorted(each), bits, 3, each).owners_by_slot for each in (before, after))
    return sum(len({*theirs} - {*was}) for was, theirs in zip(old, new, strict=True))


def some_domains(seed: int) -> Domains:
    """Sixteen members of seven operators, some of them dual-stack and some stable, of all steps."""
    rng = Random(seed)
    return {
        m: each._replace(operator=f"op{rng.randrange(7)}", is_dual=rng.random() < 0.5, is_stable=rng.random() < 0.5)
        for m, each in stepped(16, (-2, 0, 0, 2, 1, -1), seed).items()
    }


@pytest.mark.parametrize("turn", [-1, 1])
def test_one_step_of_one_member_moves_what_it_gains_or_loses_and_little_else(turn: int) -> None:
    plain, mixed = [stepped(16, (-1, 0, 0, 1), 0)], [some_domains(seed) for seed in range(3)]
    for most, worlds in ((1.1, plain), (1.3, mixed)):
        of_all, of_it = 0, 0
        for domains in worlds:
            for member, each in list(domains.items())[::4]:
                if -2 <= each.step + turn <= 2:
                    after = {**domains, member: each._replace(step=each.step + turn)}
                    of_all += moved(domains, after, 8)
                    of_it += abs(copies(after, 8)[member] - copies(domains, 8)[member])
        assert 0 < of_it <= of_all <= most * of_it, of_all / of_it


def test_who_lies_that_it_has_most_room_owns_some_half_of_the_slots_and_no_more() -> None:
    shares = []
    for seed in range(6):
        honest = stepped(16, (0,), seed)
        liar = next(iter(honest))
        lying = {**honest, liar: FailureDomains(step=2)}
        shares.append(copies(lying, 9)[liar] / (1 << 9))
    assert 0.5 < mean(shares) <= 2.85 * 3 / 16, "2.81 times its fair part of 3 in 16 is expected"


def test_a_full_member_owns_nothing_where_others_are_enough_and_is_the_last_to_stand_in() -> None:
    for count in (3, 4, 9):
        domains = stepped(count, (0,), count)
        full = next(iter(domains))
        after = {**domains, full: FailureDomains(step=FULL_STEP)}
        ranking = Placement(sorted(after), 6, 3, after).ranking
        assert all(ranking(Slot(s))[-1] == full for s in range(64))
        assert copies(after, 6)[full] == (64 if count == 3 else 0)
        lost = copies(domains, 6)[full] if count > 3 else 0
        assert moved(domains, after, 6) == lost, "only its part moves"


def test_scaled_weights_are_whole_numbers_that_all_machines_share() -> None:
    assert [minus_log2(h) for h in (0, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)] == [65 << 32, (1 << 32) + 1, 1 << 32, 1]
    start = slot_start(Slot(37), 8)
    found = members(27, "vector")
    numbers = [int.from_bytes(weight(m, start)[:8], "big") for m in found]
    for step in range(-2, 3):
        ranked = sorted(numbers, key=lambda n: scaled(n, step))
        assert ranked == sorted(numbers, reverse=True)
        assert all(scaled(n, step - 1) == 2 * scaled(n, step) for n in numbers if step > -2)
