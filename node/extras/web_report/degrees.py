"""Describes how many links pages have, or pages a site has, and fits a power law to the many and few of them.

Pure. The library powerlaw fits by the methods of Clauset, Shalizi & Newman 2009: maximum likelihood for whole numbers,
and a tail that begins where the Kolmogorov-Smirnov distance is least. It compares laws by likelihood ratios.
"""

import warnings
from random import Random
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

MAX_VALUES = 100_000  # that a fit takes, drawn from all: an exponent of 2.1 is then known to 0.0035
MIN_TAIL = 50  # values in a tail; with fewer the estimate itself is off by more than it says (Clauset et al., 3.1)
TRIED = 40  # beginnings of the tail, evenly spaced on a logarithmic scale
POINTS_A_DECADE = 12  # of a plot


class Ratio(msgspec.Struct, frozen=True):
    """Compares a power law with another law on the same tail: above 0 the power law says more, which is chance with
    probability `p`."""

    ratio: float  # log likelihood ratio, over its standard deviation
    p: float


class PowerLaw(msgspec.Struct, frozen=True):
    """A power law that was fitted to the values from `least` on."""

    exponent: float
    error: float  # standard error
    least: int
    tail: int  # values that it was fitted to
    distance: float  # Kolmogorov-Smirnov, between the law and the values
    exponential: Ratio
    lognormal: Ratio


class Distribution(msgspec.Struct, frozen=True):
    """Says how whole numbers are distributed; `points`: (value, share of those that are as large)."""

    count: int
    zeros: int
    mean: float
    median: float
    largest: int
    points: tuple[tuple[int, float], ...]
    law: PowerLaw | None  # None: too few values, or all alike


def distribution_of(values: NDArray[np.integer], rng: Random) -> Distribution:
    """Describe counts, of which those that are 0 stand in no law."""
    if not len(values):
        return Distribution(0, 0, 0.0, 0.0, 0, (), None)
    positive = np.sort(values[values > 0])
    return Distribution(
        count=len(values),
        zeros=len(values) - len(positive),
        mean=float(values.mean()),
        median=float(np.median(values)),
        largest=int(values.max()),
        points=_points(positive, len(values)),
        law=_law(positive, rng),
    )


def _points(positive: NDArray[np.integer], count: int) -> tuple[tuple[int, float], ...]:
    if not len(positive):
        return ()
    at = np.unique(np.append(_spread(1, int(positive[-1])), positive[-1]))
    shares = (len(positive) - np.searchsorted(positive, at)) / count
    return tuple(zip(at.tolist(), shares.tolist(), strict=True))


def _spread(first: int, last: int) -> NDArray[np.int64]:
    """Whole numbers from one to another, evenly spaced on a logarithmic scale."""
    points = int(POINTS_A_DECADE * np.log10(last / first)) + 2
    return np.unique(np.geomspace(first, last, points).round().astype(np.int64))


def _law(positive: NDArray[np.integer], rng: Random) -> PowerLaw | None:
    if len(positive) > MAX_VALUES:
        positive = np.random.default_rng(rng.getrandbits(64)).choice(positive, MAX_VALUES, replace=False)
    values = np.sort(positive)
    if len(values) < MIN_TAIL or values[-MIN_TAIL] == values[-1]:
        return None
    tried = _spread(int(values[0]), int(values[-MIN_TAIL]))
    tried = tried[np.linspace(0, len(tried) - 1, min(TRIED, len(tried))).astype(int)]
    fits = [fit for least in tried.tolist() if (fit := _fit(values, least)) is not None]
    return _told(min(fits, key=lambda fit: float(fit.power_law.D))) if fits else None


def _fit(values: NDArray[np.integer], least: int) -> Any:
    """The library's fit to the values from one on; None where it finds none."""
    import powerlaw  # with the plots that it brings it takes a second to import

    tail = values[values >= least]
    if tail[0] == tail[-1]:
        return None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fit = powerlaw.Fit(tail, discrete=True, xmin=least, verbose=False)
        law = fit.power_law
    return fit if np.isfinite(law.D) and np.isfinite(law.alpha) and law.alpha > 1 else None


def _told(fit: Any) -> PowerLaw:
    law = fit.power_law
    return PowerLaw(
        exponent=float(law.alpha),
        error=float(law.standard_err),
        least=int(fit.xmin),
        tail=int(fit.n_tail),
        distance=float(law.D),
        exponential=_ratio(fit, "exponential"),
        lognormal=_ratio(fit, "lognormal"),
    )


def _ratio(fit: Any, other: str) -> Ratio:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        ratio, p = fit.distribution_compare("power_law", other, normalized_ratio=True)
    if not (np.isfinite(ratio) and np.isfinite(p)):
        return Ratio(0.0, 1.0)  # the other law cannot be fitted: nothing is said
    return Ratio(float(ratio), float(p))
