"""Which slots the attacker gets: by chance, as owners and as candidates; and what it takes to get one that it chose."""

from collections.abc import Iterable, Sequence
from math import isnan, nan
from random import Random
from typing import NamedTuple

from benchmarks.trust.town import BEGAN, Town
from dht import NodeId, Placement, owners_needed, signers_needed
from dht.admission.seniority import last_old_day
from dht.clock import DAY_S, Now
from dht.keys import Slot, distance, slot_start
from dht.ownership.rendezvous import NEAREST, weight
from node.simulation.observations import REPLICAS, slot_bits_for

SLOTS = 4096  # looked at, spread evenly
MANY = 5  # of the candidates
PAIR = signers_needed(REPLICAS)  # of the candidates, who grant each other the slot, weakly
MAJORITY = owners_needed(REPLICAS)
PATIENCE_DAYS = 14


class Share(NamedTuple):
    """Says in which share of all slots the attacker has most owners, and so may replace any page, has two candidates,
    and so may write where nothing is, and has more than four candidates."""

    owned: float
    paired: float
    crowded: float


def share(placement: Placement, slot_bits: int, attackers: set[NodeId]) -> Share:
    """Return what the attacker's members get of all slots."""
    slots = [Slot(number) for number in range(0, 1 << slot_bits, max(1, (1 << slot_bits) // SLOTS))]
    owned = sum(len(attackers.intersection(placement.owners(slot))) >= MAJORITY for slot in slots)
    candidates = [len(attackers.intersection(placement.ranking(slot))) for slot in slots]
    paired, crowded = sum(count >= PAIR for count in candidates), sum(count >= MANY for count in candidates)
    return Share(owned / len(slots), paired / len(slots), crowded / len(slots))


def placement(town: Town, min_age_days: int) -> Placement:
    """Return who owns what, as all members of a town compute it."""
    last = last_old_day(Now(town.today * DAY_S, 0.0), min_age_days * DAY_S, BEGAN * DAY_S)
    return Placement(town.members(), slot_bits_for(len(town.honest)), REPLICAS, town.domains(last))


def share_in(town: Town, min_age_days: int) -> Share:
    """Return what the attacker gets of a town."""
    return share(placement(town, min_age_days), slot_bits_for(len(town.honest)), town.admitted)


def made_up(count: int, seed: object) -> list[NodeId]:
    """Make identities by chance."""
    rng = Random(f"made up {seed}")
    return [NodeId(rng.randbytes(20)) for _ in range(count)]


def addresses(prefixes: int, each: int = 1, *, net: int = 54) -> list[str]:
    """Return so many addresses in each of so many /24s."""
    return [f"{net}.{n // 250}.{n % 250}.{last}" for last in range(1, each + 1) for n in range(prefixes)]


def days_to_own(town: Town, tries: int, prefixes: int, ages: Sequence[int]) -> list[float]:
    """Return, for each age that a network may ask for, after how many days most owners of one slot are the attacker's,
    who made so many identities and chose the best ones, as many as it has /24s; nan where they are not within two
    weeks."""
    bits, came = slot_bits_for(len(town.honest)), town.today
    slot = Slot(town.rng.randrange(1 << bits))
    town.join(
        best_near(town.honest, slot, bits, made_up(tries, slot), prefixes),
        addresses(prefixes, net=60 + len(town.prefixes) - len(town.honest)),
    )
    town.settle()
    found = dict.fromkeys(ages, nan)
    for town.today in range(came, came + PATIENCE_DAYS):
        for age in ages:
            if isnan(found[age]):
                theirs = town.admitted.intersection(placement(town, age).owners(slot))
                found[age] = town.today - came if len(theirs) >= MAJORITY else nan
    return [found[age] for age in ages]


def best_near(honest: Iterable[NodeId], slot: Slot, bits: int, pool: list[NodeId], count: int) -> list[NodeId]:
    """Choose the identities that weigh most among those that are sure to be candidates of a slot."""
    start = slot_start(slot, bits)
    edge = sorted(distance(each, start) for each in honest)[NEAREST - count - 1]
    near = [each for each in pool if distance(each, start) < edge]
    return sorted(near, key=lambda each: weight(each, start), reverse=True)[:count]
