"""Keeps the figures of the last hour and of the last day in memory of a fixed size, for the owner's plots.

Pure: instants are arguments. A step of the day is the mean of the steps of the hour that lie in it; what nobody knows
is NaN, and has no part in a mean.
"""

from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from math import isnan, nan
from typing import Literal

Span = Literal["hour", "day"]

STEP_S = 10.0
STEPS = 360  # an hour
PER_MINUTE = 6
MINUTES = 1440  # a day


@dataclass(frozen=True, slots=True)
class Figures:
    """Holds what a node does and has at one moment; rates are of the step before it, and NaN stands for not known."""

    pages_per_s: float = nan
    queries_per_min: float = nan
    p50_ms: float = nan
    p95_ms: float = nan
    peers: float = nan  # live ones
    disk_bytes: float = nan
    copies: float = nan  # live ones of its slots, in the mean
    too_few: float = nan  # slots with fewer than the strategy asks for
    copying: float = nan  # slots that it copies in place of silent owners
    owed: float = nan  # copies that wait for their owners


NAMES = tuple(field.name for field in fields(Figures))


class FigureHistory:
    """Holds figures by STEP_S for an hour and by minutes for a day."""

    def __init__(self) -> None:
        self._rows: dict[Span, deque[array[float]]] = {"hour": deque(maxlen=STEPS), "day": deque(maxlen=MINUTES)}
        self._minute = list[tuple[float, ...]]()

    def add(self, at: float, figures: Figures) -> None:
        """Take the figures of a step that ends at `at` (Unix seconds)."""
        row = (at, *astuple(figures))
        self._rows["hour"].append(array("d", row))
        self._minute.append(row)
        if len(self._minute) >= PER_MINUTE:
            means = map(_mean, zip(*(each[1:] for each in self._minute), strict=True))
            self._rows["day"].append(array("d", (at, *means)))
            self._minute.clear()

    def series(self, span: Span, name: str) -> list[tuple[float, float]]:
        """Return the instants and values of a figure, oldest first."""
        column = 1 + NAMES.index(name)
        return [(row[0], row[column]) for row in self._rows[span]]

    def total(self, span: Span, name: str) -> float:
        """Return the sum of a rate (a second) over the time that is kept: what was done in it."""
        step_s = STEP_S if span == "hour" else STEP_S * PER_MINUTE
        return sum(value * step_s for _, value in self.series(span, name) if not isnan(value))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan
