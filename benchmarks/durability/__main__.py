"""Runs the benchmark of durability."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log

from benchmarks.durability import killed, moved
from benchmarks.durability.loss_model import (
    LAPTOPS,
    SERVERS,
    YEAR_S,
    CopyTimes,
    Kind,
    MachineHabits,
    SlotLoss,
    slot_loss,
)
from benchmarks.durability.neighbourhood import GRACES_S, WEEK_DAYS, TrialPlan, WorkingWeek, trials
from benchmarks.figures import Row, parser_for, row, show
from store.repair.copies_by_need import PATIENCE_S

COPIES = (2, 3, 5)
WORKING_DAYS = 5
MACHINES = {"servers": 16, "laptops": 0, "a quarter servers": 4}  # so many of the sixteen near a slot are stable
# 20 GB a node, shared by fifteen keepers, at a quarter or a tenth of 16 MiB a second
URGENT_COPY_S, USUAL_COPY_S = 320.0, 800.0
SEEN_S = 60.0  # until one copy is begun
# so many times as many machines leave for good in what is simulated, so that something is lost at all
HARDSHIP = {"servers": (20, 60, 150), "laptops": (5, 10, 20), "a quarter servers": (8, 12, 25)}
SIMULATED = CopyTimes(URGENT_COPY_S, USUAL_COPY_S)  # what comes before a copy is begun the simulation finds itself


def main() -> int:
    """Run the benchmark; return 0 whatever the figures are."""
    parser = parser_for("how likely a document is lost within a year, what its copies cost, and when they are made")
    parser.add_argument("--part", choices=PARTS, action="append", help="these rows alone; may be repeated")
    chosen = parser.parse_args()
    found = [each for name in chosen.part or PARTS for each in PARTS[name](quick=chosen.quick)]
    show("durability", found, ("numpy",), as_json=chosen.json)
    return 0


def losses(*, quick: bool) -> Iterator[Row]:
    """Yield what the model and the simulated neighbourhood say of losses, and what copies cost."""
    seeds, days = ((1,), 15.0) if quick else ((1, 2, 3), 30.0)
    yield from by_model()
    yield from in_hard_times(seeds, days)
    yield from bytes_copied(seeds, 2 * days)


def weeks(*, quick: bool) -> Iterator[Row]:
    """Yield what laptops' nights and weekends move in their first week, and in three."""
    for count, days in ((1, WEEK_DAYS), (1, WORKING_DAYS), *(() if quick else ((3, WORKING_DAYS),))):
        week = WorkingWeek(LAPTOPS.awake_s, days)
        plans = [TrialPlan(0, count * 7.0, 3, stable, SIMULATED, 0.0, week=week) for stable in (0, 1, 4)]
        found = [each for plan in plans for each in trials(plan, (1,) if quick else (1, 2, 3))]
        name = "absences of 16 h" if days == WEEK_DAYS else "absences of 16 h, weekends away"
        what = f"{count} week{'s' * (count > 1)} of 16 machines, 0, 1 or 4 servers, else laptops, {name}: copies made"
        yield row(what, [each.made for each in found], "", goal=0)


def by_model() -> Iterator[Row]:
    """Yield what the model says, beside what it says of the grace alone."""
    for name, stable in MACHINES.items():
        for copies in COPIES:
            now, before = (modelled(stable, copies, 1.0, by_need=each).probability for each in (True, False))
            what = f"{name}, {copies} copies, model: lost in a year, of 10⁹ documents (grace alone)"
            yield row(what, [now * 1e9], "", peer=[before * 1e9])


def in_hard_times(seeds: tuple[int, ...], days: float) -> Iterator[Row]:
    """Yield how often slots are lost where many more machines leave, beside what the model says of that."""
    for name, stable in MACHINES.items():
        for copies, hardship in zip(COPIES, HARDSHIP[name], strict=True):
            for by_need, policy in ((True, "by need"), (False, "grace alone")):
                plan = TrialPlan(0, days, copies, stable, SIMULATED, hardship, by_need)
                found = list(trials(plan, seeds))
                lost, years = sum(each.lost for each in found), sum(each.slot_years for each in found)
                what = f"{name}, {copies} copies, {hardship} times as many leave, {policy}: losses a year (model)"
                rate = modelled(stable, copies, hardship, by_need=by_need, span_s=days * 86_400.0).probability
                yield row(what, [lost / years], "", peer=[-log(1 - rate) * YEAR_S / (days * 86_400.0)])


def bytes_copied(seeds: tuple[int, ...], days: float) -> Iterator[Row]:
    """Yield what copies cost at the usual rates, simulated from the first day on, beside the grace alone."""
    for name, stable in MACHINES.items():
        now, before = (
            [each.copied for each in trials(TrialPlan(0, days, 3, stable, SIMULATED, 1.0, by_need), seeds)]
            for by_need in (True, False)
        )
        what = f"{name}, 3 copies: bytes copied a year for each stored, first {days:.0f} days (grace alone)"
        yield row(what, now, "", peer=before)


def modelled(stable: int, copies: int, hardship: float, *, by_need: bool, span_s: float = YEAR_S) -> SlotLoss:
    """Return what the model says. Beside laptops one owner is stable, as the strategy has it."""
    servers = copies if stable == 16 else min(stable, 1)
    parts = (SERVERS, servers), (LAPTOPS, copies - servers)
    kinds: tuple[Kind, ...] = tuple((hard(habits, hardship, by_need=by_need), count) for habits, count in parts)
    if by_need:
        return slot_loss(kinds, CopyTimes(SEEN_S + URGENT_COPY_S, PATIENCE_S + USUAL_COPY_S), span_s)
    wait_s = 0.0 if stable == 16 else LAPTOPS.away_s * LAPTOPS.away_s / (LAPTOPS.away_s + LAPTOPS.awake_s)
    return slot_loss(kinds, CopyTimes(wait_s + URGENT_COPY_S, wait_s + USUAL_COPY_S), span_s)  # a new owner may sleep


def hard(habits: MachineHabits, hardship: float, *, by_need: bool) -> MachineHabits:
    """Return habits with so many times as many departures; by the grace alone it is what a silent machine has."""
    expected_s = habits.expected_s if by_need else GRACES_S[habits is SERVERS]
    return replace(habits, gone_a_day=habits.gone_a_day * hardship, expected_s=expected_s)


PARTS: dict[str, Callable[..., Iterator[Row]]] = {
    "losses": losses,
    "weeks": weeks,
    "moved": moved.rows,
    "killed": killed.rows,
}

if __name__ == "__main__":
    sys.exit(main())
