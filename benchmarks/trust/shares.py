"""Which slots the attacker gets: by chance, as owners and as candidates; and what it takes to get one that it chose."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import isnan, nan
from random import Random
from typing import NamedTuple

from benchmarks.trust.town import BEGAN, Town
from dht import NodeId, Placement, owners_needed, signers_needed
from dht.admission.attester_order import attest_point
from dht.admission.member_admission import ATTESTERS, last_old_day
from dht.clock import DAY_S, Now
from dht.keys import Slot, distance, slot_start
from dht.ownership.failure_domains import CROWD
from dht.ownership.rendezvous import NEAREST, weight
from node.extras.simulation.observations import REPLICAS, slot_bits_for

SLOTS = 4096  # looked at, spread evenly
MANY = 5  # of the candidates
PAIR = signers_needed(REPLICAS)  # of the candidates, who grant each other the slot, weakly
MAJORITY = owners_needed(REPLICAS)
PATIENCE_DAYS = 14


class Share(NamedTuple):
    """Holds the attacker's shares.
    `seats`: of all owners' seats.
    `owned`: of the slots, those with most owners, where it may replace any page.
    `paired`: those with two candidates, where it may write if nothing is there.
    `crowded`: those with more than four candidates."""

    seats: float
    owned: float
    paired: float
    crowded: float


def share(placement: Placement, slot_bits: int, attackers: set[NodeId]) -> Share:
    """Return what the attacker's members get of all slots."""
    slots = [Slot(number) for number in range(0, 1 << slot_bits, max(1, (1 << slot_bits) // SLOTS))]
    theirs = [len(attackers.intersection(placement.owners(slot))) for slot in slots]
    owned, seats = sum(count >= MAJORITY for count in theirs), sum(theirs) / REPLICAS
    candidates = [len(attackers.intersection(placement.ranking(slot))) for slot in slots]
    paired, crowded = sum(count >= PAIR for count in candidates), sum(count >= MANY for count in candidates)
    return Share(seats / len(slots), owned / len(slots), paired / len(slots), crowded / len(slots))


def placement(town: Town, min_age_days: int) -> Placement:
    """Return who owns what, as all members of a town compute it."""
    last = last_old_day(Now(town.today * DAY_S, 0.0), min_age_days, BEGAN * DAY_S)
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
    """Return the days until most owners of one slot are the attacker's, for each age that a network may ask for; nan:
    more than two weeks. The attacker made so many identities, and joins with the best ones, as many as it has /24s."""
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


class Seats(NamedTuple):
    """Counts the attacker's among the candidates and the owners of one slot."""

    candidates: int
    owners: int


def crowd_near_a_slot(town: Town, tries: int, prefixes: int, min_age_days: int) -> list[Seats]:
    """Return the attacker's seats of one slot, day by day, until its identities are old. On the first day two
    identities join from each of so many /24s. They are the best for the slot of the many that it made."""
    bits, came = slot_bits_for(len(town.honest)), town.today
    slot = Slot(town.rng.randrange(1 << bits))
    crowd = best_near(town.honest, slot, bits, made_up(tries, slot), CROWD * prefixes)
    town.join(crowd, addresses(prefixes, CROWD, net=60 + len(town.prefixes) - len(town.honest)))
    town.settle()
    found = []
    for town.today in range(came, came + min_age_days + 2):
        now = placement(town, min_age_days)
        found.append(Seats(*(len(town.admitted & {*some}) for some in (now.ranking(slot), now.owners(slot)))))
    return found


def owned_by_word(town: Town, tries: int, min_age_days: int) -> Seats:
    """Return what an attacker gets of one slot on the day on which three identities come, each in a /24 of its own, and
    admit others that nobody reached.

    It makes so many identities for each part, and grinds: two that weigh much for the slot and whose points lie near
    each other, and three near these points.
    """
    bits = slot_bits_for(len(town.honest))
    slot = Slot(town.rng.randrange(1 << bits))
    heavy = best_near(town.honest, slot, bits, made_up(tries, slot), NEAREST - 2)
    chosen = min(combinations(heavy, 2), key=_apart)
    points = [attest_point(each) for each in chosen]
    pool = sorted(made_up(tries, "liars"), key=lambda each: max(distance(each, point) for point in points))
    town.join(pool[:ATTESTERS], addresses(ATTESTERS, net=60))
    town.settle()
    town.join(chosen, addresses(2, net=77), are_reached=False)
    town.settle()
    now = placement(town, min_age_days)
    return Seats(*(len(town.admitted & {*some}) for some in (now.ranking(slot), now.owners(slot))))


def _apart(pair: tuple[NodeId, NodeId]) -> int:
    return distance(attest_point(pair[0]), attest_point(pair[1]))


def best_near(honest: Iterable[NodeId], slot: Slot, bits: int, pool: list[NodeId], count: int) -> list[NodeId]:
    """Choose the identities that weigh most among those that are sure to be candidates of a slot."""
    start = slot_start(slot, bits)
    edge = sorted(distance(each, start) for each in honest)[NEAREST - count - 1]
    near = [each for each in pool if distance(each, start) < edge]
    return sorted(near, key=lambda each: weight(each, start), reverse=True)[:count]
