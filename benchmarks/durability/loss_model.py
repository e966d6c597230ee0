"""How likely a document is lost within a year: a Markov chain over the copies of one slot.

Pure: numbers in, numbers out; times are seconds, rates a second. A copy lies with a machine that is live or away, or is
gone for good while nobody knows it yet. One that is known to be gone is made anew, once there is a live copy to make it
from. The document is lost when no copy is left with anybody who lives or will be back. `docs/durability.md` has the
assumptions. Source: Chun et al. 2006 (Carbonite), section 3, who have states for live copies only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from store.repair.absences import LAPTOP_S, STABLE_S

HOUR_S, DAY_S, YEAR_S = 3600.0, 86_400.0, 365.25 * 86_400.0
MOST_COPIES = 5  # that are told apart: 200 states, 30 ms; with more of them the loss is less, and said to be as great
STEP = 2.0**-8  # of the fastest change, in the first of the steps that are doubled


@dataclass(frozen=True, slots=True)
class MachineHabits:
    """How machines of one kind come and go."""

    awake_s: float  # the mean time between two absences
    away_s: float  # the mean absence
    gone_a_day: float  # the share that leave for good in a day
    expected_s: float  # for how long a silent one counts as a copy


# A volunteer's server, and a laptop that sleeps by night.
SERVERS = MachineHabits(7 * DAY_S, 3 * HOUR_S, 0.003, STABLE_S)
LAPTOPS = MachineHabits(8 * HOUR_S, 16 * HOUR_S, 0.01, LAPTOP_S)


@dataclass(frozen=True, slots=True)
class CopyTimes:
    """How long it takes from when too few copies are known to be there until there is one more. `urgent_s`: where one
    is left; `usual_s`: else."""

    urgent_s: float
    usual_s: float


@dataclass(frozen=True, slots=True)
class SlotLoss:
    """The model's results for one slot. `probability`: that it is lost within the span; `copied`: how many bytes are
    copied in a year for each byte of all its copies, because machines leave for good."""

    probability: float
    copied: float


Kind = tuple[MachineHabits, int]  # and how many of the owners are such
_Part = tuple[int, int, int]  # live, away, and gone without anybody's knowing
_State = tuple[_Part, ...]


@lru_cache(maxsize=256)
def slot_loss(kinds: tuple[Kind, ...], times: CopyTimes, span_s: float = YEAR_S) -> SlotLoss:
    """Return how likely a slot that has all its copies loses them within a span, and what its copies cost a year."""
    kinds = tuple((habits, copies) for habits, copies in bounded(kinds) if copies)
    states = [state for state in product(*(_parts(copies) for _, copies in kinds)) if not _is_lost(state)]
    number = {state: n for n, state in enumerate(states, start=1)}  # 0: lost
    rates = np.zeros((len(states) + 1, len(states) + 1))
    for state, n in number.items():
        for other, rate in _changes(state, kinds, times):
            rates[n, number.get(other, 0)] += rate
    start = number[tuple((copies, 0, 0) for _, copies in kinds)]
    return SlotLoss(float(_after(rates, span_s)[start, 0]), _copied(kinds))


def bounded(kinds: Sequence[Kind]) -> tuple[Kind, ...]:
    """Leave out owners beyond those that the model tells apart, of the kind that has most of them."""
    left = [copies for _, copies in kinds]
    while sum(left) > MOST_COPIES:
        left[left.index(max(left))] -= 1
    return tuple((habits, copies) for (habits, _), copies in zip(kinds, left, strict=True))


def _parts(copies: int) -> list[_Part]:
    each = range(copies + 1)
    return [part for part in product(each, each, each) if sum(part) <= copies]


def _is_lost(state: _State) -> bool:
    return not any(live or away for live, away, _ in state)


def _changes(state: _State, kinds: Sequence[Kind], times: CopyTimes) -> Iterator[tuple[_State, float]]:
    """Yield the possible next states, each with its rate."""
    lives, counted = any(live for live, _, _ in state), sum(map(sum, state))
    for n, ((live, away, gone), (habits, copies)) in enumerate(zip(state, kinds, strict=True)):
        leaves, missing = habits.gone_a_day / DAY_S, copies - live - away - gone
        copy_s = times.urgent_s if counted == 1 else times.usual_s
        for part, rate in (
            ((live - 1, away + 1, gone), live / habits.awake_s),
            ((live + 1, away - 1, gone), away / habits.away_s),
            ((live - 1, away, gone + 1), live * leaves),
            ((live, away - 1, gone + 1), away * leaves),
            ((live, away, gone - 1), gone / habits.expected_s),
            ((live + 1, away, gone), missing / copy_s if lives else 0.0),
        ):
            if rate:
                yield (*state[:n], part, *state[n + 1 :]), rate


def _after(rates: np.ndarray, span_s: float) -> np.ndarray:
    """The chances to be in each state after a span, from each: the exponential of the rates, by doubling a short step.
    All that is added is positive, so small chances are as exact as great ones."""
    leaving = rates.sum(axis=1)
    doublings = max(0, int(np.ceil(np.log2(max(leaving.max() * span_s / STEP, 1.0)))))
    step = (rates - np.diag(leaving)) * (span_s / 2.0**doublings)
    chances = np.eye(len(rates)) + step + step @ step / 2
    for _ in range(doublings):
        chances = chances @ chances
    return chances


def _copied(kinds: Sequence[Kind]) -> float:
    """Copies made in a year for each that there is: of those whose machines left for good."""
    made = sum(copies * habits.gone_a_day for habits, copies in kinds) * YEAR_S / DAY_S
    return made / max(1, sum(copies for _, copies in kinds))
