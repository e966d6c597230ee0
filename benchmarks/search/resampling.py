"""Tells chance from difference: bootstrap intervals, a paired randomisation test, and Holm's correction.

Pure: the seed is fixed, so a run repeats.
"""

from collections.abc import Sequence

import numpy

SEED = 1
RESAMPLES = 2_000
FLIPS = 10_000
CHUNK = 500  # resamples at once: 3,000 queries take 12 MB


def interval(
    values: Sequence[float],
    groups: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
    share: float = 0.95,
) -> tuple[float, float]:
    """Return between which means `share` of all resamples of these values lie (percentile bootstrap). Values of one
    group, where groups are given, are drawn together: queries for pages of one host are no independent evidence."""
    if not values:
        return 0.0, 0.0
    found = numpy.asarray(values, dtype=float)
    heavy = numpy.ones(len(found)) if weights is None else numpy.asarray(weights, dtype=float)
    if groups is not None:
        numbers = numpy.unique(numpy.asarray(groups), return_inverse=True)[1]
        sums, heavy = numpy.bincount(numbers, found * heavy), numpy.bincount(numbers, heavy)
    else:
        sums = found * heavy
    chance, means = numpy.random.default_rng(SEED), []
    for _ in range(RESAMPLES // CHUNK):
        drawn = chance.integers(0, len(sums), (CHUNK, len(sums)))
        means.append(sums[drawn].sum(axis=1) / heavy[drawn].sum(axis=1))
    low, high = numpy.quantile(numpy.concatenate(means), [(1 - share) / 2, (1 + share) / 2])
    return round(float(low), 4), round(float(high), 4)


def p_value(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return how often chance alone makes a mean difference as large, either way: signs of the pairs are flipped."""
    differences = numpy.asarray(ours, dtype=float) - numpy.asarray(theirs, dtype=float)
    seen, chance, as_large = abs(differences.sum()) - 1e-9, numpy.random.default_rng(SEED), 0
    for _ in range(FLIPS // CHUNK):
        signs = chance.integers(0, 2, (CHUNK, len(differences))) * 2 - 1
        as_large += int((abs(signs @ differences) >= seen).sum())
    return (as_large + 1) / (FLIPS + 1)


def holm(p_values: Sequence[float], level: float) -> list[bool]:
    """Return which of these tests reject together at a level (Holm 1979): from the least on, until one does not."""
    rejected = [False] * len(p_values)
    for place, number in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if p_values[number] > level / (len(p_values) - place):
            break
        rejected[number] = True
    return rejected
