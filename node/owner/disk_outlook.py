"""Foresees when a disk is full, by the growth of the last day's figures.

Pure: instants and bytes in, days out.
"""

from collections.abc import Sequence
from math import isnan

DAY_S = 86_400.0
LEAST_S = 3600.0  # of figures; less of them say nothing about a day
MOST_DAYS = 365.0  # beyond it nobody can say


def full_in_days(series: Sequence[tuple[float, float]], used: float, quota: float) -> float | None:
    """Return the days until `quota` is in use; None where that is a year away, or nothing grows.

    `series`: instants (Unix seconds) and bytes in use, oldest first. Its first and last quarters are compared, so that
    files that come and go do not count as growth."""
    known = [each for each in series if not isnan(each[1])]
    part = len(known) // 4
    if not part or known[-1][0] - known[0][0] < LEAST_S or quota <= 0:
        return None
    (began, before), (ended, after) = _mean(known[:part]), _mean(known[-part:])
    grown_s = (after - before) / (ended - began)
    if grown_s <= 0:
        return None
    days = max(0.0, quota - used) / grown_s / DAY_S
    return days if days < MOST_DAYS else None


def _mean(figures: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return sum(at for at, _ in figures) / len(figures), sum(value for _, value in figures) / len(figures)
