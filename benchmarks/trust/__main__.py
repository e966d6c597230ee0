"""Runs the benchmark of trust."""

import sys
from collections.abc import Iterator, Sequence
from math import isnan

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.trust import flood, goals, price
from benchmarks.trust.shares import (
    MAJORITY,
    MANY,
    PAIR,
    Share,
    addresses,
    crowd_near_a_slot,
    days_to_own,
    made_up,
    owned_by_word,
    share_in,
)
from benchmarks.trust.theory import at_least
from benchmarks.trust.town import Town
from dht.ownership.rendezvous import NEAREST
from node.extras.simulation.observations import REPLICAS

WEEK = 7
PREFIXES = (1, 3, 10)
MIN_AGE_DAYS = 1  # as `network new --open` asks; without it 0
AGES_DAYS = (0, MIN_AGE_DAYS, 7)
SLOTS_A_TOWN = 4
CROWD_PREFIXES = 3  # with two in each: more than may be candidates while they are young


def main() -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for("what an attacker gets, and what it costs to keep it from more")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    chosen = parser.parse_args()
    found = [each for part in chosen.part or PARTS for each in PARTS[part](is_quick=chosen.quick)]
    show("trust", found, (), as_json=chosen.json)
    return 0


def identities(*, is_quick: bool) -> Iterator[Row]:
    """Yield what an attacker gets who has a machine in a hundred and makes identities."""
    honest, counts, seeds = (300, (10, 100), (1,)) if is_quick else (1_000, (10, 100, 1_000), (1, 2))
    tries = 1_000 if is_quick else 10_000  # identities made, of which the best are used
    yield from silent(honest, counts[-1], seeds)
    for prefixes in PREFIXES:
        for count in counts:
            yield from by_prefixes(honest, count, prefixes, seeds)
    yield from near_one_slot(honest, tries, seeds)
    yield from crowded_slot(honest, tries, seeds)
    yield from by_word(honest, tries, seeds)


def silent(honest: int, count: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield what so many identities get that come at once, none of which answers."""
    found = [_joined(honest, count, seed, 10, are_reached=False) for seed in seeds]
    what = f"{count:,} identities, none of which answers: slots with an owner of theirs"
    yield row(what, [each.owned for _, each in found], "of all", goal=goals.UNREACHABLE)


def by_prefixes(honest: int, count: int, prefixes: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield what so many identities in so many /24s get that answer and come at once, a week later."""
    found = [_joined(honest, count, seed, prefixes, days=WEEK) for seed in seeds]
    who = f"{count:,} identities in {prefixes} /24s"
    yield row(f"{who}: admitted", [admitted for admitted, _ in found], "")
    yield from _shares(who, [each for _, each in found], honest, [n for n, _ in found])


def near_one_slot(honest: int, count: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield how long it takes to own one slot, by the best of so many identities, and by how many /24s."""
    towns = [Town(honest, seed) for seed in seeds]
    for prefixes in (1, 2, 3):
        days = [days_to_own(town, count, prefixes, AGES_DAYS) for town in towns for _ in range(SLOTS_A_TOWN)]
        for age, found in zip(AGES_DAYS, zip(*days, strict=True), strict=True):
            got = [each for each in found if not isnan(each)]
            who = f"min_age {age} d, the best of {count:,} identities in {prefixes} /24s"
            yield row(f"{who}: one slot of its choice is theirs", [len(got) / len(found)], "of tries")
            if got:
                yield row(f"{who}: after", got, "days")


def crowded_slot(honest: int, count: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield what a crowd that comes near one slot on one day gets of it: until it is old, and then."""
    towns = [Town(honest, seed) for seed in seeds]
    days = [crowd_near_a_slot(town, count, CROWD_PREFIXES, MIN_AGE_DAYS) for town in towns for _ in range(SLOTS_A_TOWN)]
    who = f"min_age {MIN_AGE_DAYS} d, {2 * CROWD_PREFIXES} near one slot in {CROWD_PREFIXES} /24s"
    for day, seats in enumerate(zip(*days, strict=True)):
        yield row(f"{who}, day {day}: of its 16 candidates", [each.candidates for each in seats], "")
        yield row(f"{who}, day {day}: of its {REPLICAS} owners", [each.owners for each in seats], "")


def by_word(honest: int, count: int, seeds: Sequence[int]) -> Iterator[Row]:
    """Yield what three members that lie get of a slot of their choice, on the day on which they come."""
    found = [owned_by_word(Town(honest, seed), count, max(AGES_DAYS)) for seed in seeds]
    who = f"min_age {max(AGES_DAYS)} d, three liars of three /24s and two that nobody reached, day 0"
    yield row(f"{who}: of {REPLICAS} owners of one slot", [each.owners for each in found], "")


def _joined(
    honest: int, count: int, seed: int, prefixes: int, *, days: int = 0, are_reached: bool = True
) -> tuple[int, Share]:
    """Return how many of those who join at once are admitted, and what they get."""
    town = Town(honest, seed)
    town.join(made_up(count, seed), addresses(prefixes), are_reached=are_reached)
    town.settle()
    town.pass_days(days)
    return len(town.admitted), share_in(town, MIN_AGE_DAYS)


def _shares(who: str, found: Sequence[Share], honest: int, admitted: Sequence[int]) -> Iterator[Row]:
    """Yield the shares, beside what chance gives to so many members."""
    yield row(f"{who}: owners' seats", [each.seats for each in found], "of all")
    theory = [at_least(MAJORITY, REPLICAS, n, honest + n) for n in admitted]
    what = f"{who}: slots of which they are most owners, and replace pages"
    yield row(what, [each.owned for each in found], "of all", peer=theory)
    theory = [at_least(PAIR, NEAREST, n, honest + n) for n in admitted]
    what = f"{who}: slots of which two are candidates, and write where nothing is"
    yield row(what, [each.paired for each in found], "of all", peer=theory)
    theory = [at_least(MANY, NEAREST, n, honest + n) for n in admitted]
    what = f"{who}: slots of which they are more than four candidates"
    yield row(what, [each.crowded for each in found], "of all", peer=theory)


PARTS = {"identities": identities, "flood": flood.rows, "price": price.rows}


if __name__ == "__main__":
    sys.exit(main())
