"""Keeps the figures of the last hour and of the last day in memory of a fixed size, for the owner's plots.

Pure: instants are arguments. A step of the day is the mean of the steps of the hour that lie in it; what nobody knows
is NaN, and has no part in a mean.
"""

from array import array
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


class FigureRing:
    """Holds the last `length` rows of numbers, each with its instant first."""

    def __init__(self, length: int, width: int) -> None:
        self._length, self._width = length, width
        self._rows = array("d", bytes(8 * length * width))
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, self._length)

    def add(self, row: Sequence[float]) -> None:
        """Put a row in place of the oldest one."""
        at = self._added % self._length * self._width
        self._rows[at : at + self._width] = array("d", row)
        self._added += 1

    def column(self, number: int) -> list[float]:
        """Return the numbers of a column, oldest first."""
        values = list(self._rows[number :: self._width])
        start = self._added % self._length
        return values[start:] + values[:start] if self._added > self._length else values[: self._added]


class FigureHistory:
    """Holds figures by STEP_S for an hour and by minutes for a day."""

    def __init__(self) -> None:
        width = 1 + len(NAMES)
        self._rings: dict[Span, FigureRing] = {"hour": FigureRing(STEPS, width), "day": FigureRing(MINUTES, width)}
        self._minute = list[tuple[float, ...]]()

    def add(self, at: float, figures: Figures) -> None:
        """Take the figures of a step that ends at `at` (Unix seconds)."""
        row = (at, *astuple(figures))
        self._rings["hour"].add(row)
        self._minute.append(row)
        if len(self._minute) >= PER_MINUTE:
            self._rings["day"].add([at, *map(_mean, zip(*(each[1:] for each in self._minute), strict=True))])
            self._minute.clear()

    def series(self, span: Span, name: str) -> list[tuple[float, float]]:
        """Return the instants and values of a figure, oldest first."""
        ring = self._rings[span]
        return list(zip(ring.column(0), ring.column(1 + NAMES.index(name)), strict=True))


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return sum(known) / len(known) if known else nan
