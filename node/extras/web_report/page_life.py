"""Estimates how long pages live, from when visits found each first, last, and gone.

Pure. Age counts from the day that this network found a page, since nobody told when it was made. A page that was there
at its last visit is censored then: it lives on for an unknown time. The curve is that of Kaplan & Meier 1958. No visit
sees a page vanish. So a death is dated in the middle between the last visit that found the page and the first that did
not. With all deaths at one end, and then at the other, the half-life has its bounds. The second estimate assumes that
pages of any age are as likely to vanish (an exponential law): deaths divided by days at risk.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log, sqrt
from operator import attrgetter

import msgspec
import numpy as np
from numpy.typing import NDArray

from node.captures.capture import DAY_S, Lifetime

MOST_UNSEEN_S = 60 * DAY_S  # by default a crawler asks for each page at least so often (crawl.max_revisit_s)
AGES = (1, 3, 7, 14, 30, 60, 90, 180, 365, 730)  # days
Z95 = 1.96  # of the normal law: 95 % lie within
Values = NDArray[np.float64]


class AliveAtAge(msgspec.Struct, frozen=True):
    """The share of pages that live at least so long; `watched`: pages that were seen at this age or older."""

    days: int
    share: float
    watched: int


class ExponentialLife(msgspec.Struct, frozen=True):
    """The half-life if pages of every age are as likely to vanish, with its 95 % interval by the number of deaths."""

    half_life: float  # days
    least: float
    most: float


class PageLife(msgspec.Struct, frozen=True):
    """How long pages live, in days since they were found.

    undated: pages that are left out, because no visit dates them.
    half_life: the age that half of all pages reach; None: more than half reach every age that was watched.
    half_life_least, half_life_most: with every death as early, and as late, as the visits allow.
    """

    pages: int
    gone: int
    undated: int
    watched_days: float  # of all pages together, until each was seen last or is taken to have gone
    alive: tuple[AliveAtAge, ...]
    half_life: float | None
    half_life_least: float | None
    half_life_most: float | None
    exponential: ExponentialLife | None  # None: no page has gone, or none was watched


@dataclass(frozen=True, slots=True, eq=False)
class _Curve:
    """The share of pages that live longer than each age at which some died."""

    ages: Values
    shares: Values

    def share_at(self, days: float) -> float:
        at = int(np.searchsorted(self.ages, days, side="right"))
        return float(self.shares[at - 1]) if at else 1.0

    def half_life(self) -> float | None:
        below = np.flatnonzero(self.shares <= 0.5)
        return float(self.ages[below[0]]) if len(below) else None


def page_life(lifetimes: Iterable[Lifetime]) -> PageLife:
    """Return how long pages live; of lifetimes of one page the newest counts."""
    each = {life.page: life for life in sorted(lifetimes, key=attrgetter("seen_at", "gone_at"))}.values()
    dated = [life for life in each if life.first_seen > 0 and life.seen_at > 0]
    born = np.array([life.first_seen for life in dated])
    seen = np.maximum(np.array([life.seen_at for life in dated]), born)
    gone = np.array([life.gone_at for life in dated])
    is_gone = gone > 0
    late = np.where(is_gone, np.clip(gone, seen, seen + MOST_UNSEEN_S), seen)
    early_days, late_days = (seen - born) / DAY_S, (late - born) / DAY_S
    days = (early_days + late_days) / 2
    curve = _curve(days, is_gone)
    return PageLife(
        pages=len(dated),
        gone=int(np.count_nonzero(is_gone)),
        undated=len(each) - len(dated),
        watched_days=float(days.sum()),
        alive=tuple(AliveAtAge(age, curve.share_at(age), n) for age in AGES if (n := int((days >= age).sum()))),
        half_life=curve.half_life(),
        half_life_least=_curve(early_days, is_gone).half_life(),
        half_life_most=_curve(late_days, is_gone).half_life(),
        exponential=_exponential(int(np.count_nonzero(is_gone)), float(days.sum())),
    )


def _curve(days: Values, is_gone: NDArray[np.bool_]) -> _Curve:
    """The curve of Kaplan & Meier: at each age at which some died, the share of those at risk that did not."""
    ages, deaths = np.unique(days[is_gone], return_counts=True)
    at_risk = len(days) - np.searchsorted(np.sort(days), ages, side="left")
    live_on = (at_risk - deaths) / np.maximum(at_risk, 1)
    return _Curve(ages, np.asarray(np.cumprod(live_on), dtype=np.float64))


def _exponential(deaths: int, days: float) -> ExponentialLife | None:
    if not deaths or not days:
        return None
    half_life, spread = log(2) * days / deaths, exp(Z95 / sqrt(deaths))
    return ExponentialLife(half_life, half_life / spread, half_life * spread)
