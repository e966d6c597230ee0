"""Makes a row of one value a query: their mean, and between what it would lie on other queries.

Pure: values in, a row out. A goal is met by the mean.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmarks.figures import Row, row
from benchmarks.search.resampling import interval

SPREAD = "95 % of resamples"  # what the spread of these rows is


def figure(
    what: str,
    values: Sequence[float],
    unit: str = "",
    *,
    goal: float | None = None,
    at_least: bool = True,
    peer: float | str | None = None,
    groups: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
) -> Row:
    """Return the row of a (weighted) mean over queries; queries of one group vary together."""
    mean = [weighted_mean(values, weights)] if values else []
    beside = [peer] if isinstance(peer, float) else peer
    made = row(what, mean, unit, goal=goal, at_least=at_least, peer=beside)
    return replace(made, spread=interval(values, groups, weights))


def weighted_mean(values: Sequence[float], weights: Sequence[float] | None = None) -> float:
    """Return the mean of values, each as many times as its weight says."""
    return fmean(values, weights) if values else 0.0


def left_out(what: str, why: str) -> Row:
    """Return the row of something that was not measured."""
    return row(what, [], "", peer=why)
