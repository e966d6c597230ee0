"""When a URL is due again: how long a page waits, so that the visits there are go where they gain most.

Pure: counts of change rates in, a pace out. The budget is one visit a page and `revisit_s` on average. So it needs no
number of pages, and nodes that each follow it alone follow it together. Three strategies:
- "gain": the copies are fresh for the greatest share of time. The freshness of a page that changes at rate λ and is
  visited each I seconds is (1 − e^−λI) / λI. At the optimum one more visit gains the same everywhere, µ say:
  (1 − (1 + λI)·e^−λI) / λ = µ. A page with λ ≥ 1/µ gains too little from any visit and waits as long as may be.
  Source: Cho & Garcia-Molina, Effective Page Refresh Policies for Web Crawlers, 2003.
- "changed": each page is visited once it has probably changed, by the same probability everywhere.
- "all": each page is visited alike.
The last two are the strategies of WebGather's incremental crawler, to compare with.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, inf, log, log2, sqrt
from typing import Literal

from crawl.config import CrawlConfig
from crawl.schedule.url_state import Visit, VisitState, change_rate
from dht import Slot

RevisitStrategy = Literal["gain", "changed", "all"]

_STEPS = 2  # bins to a doubling of the rate: the pace of a bin is that of its middle, at most 19 % away
_ROUNDS = 40  # of bisection over e^80: to 1e-10 of the threshold's logarithm
_LOG_LEAST, _LOG_MOST = -20.0, 60.0  # of the threshold times seconds, beyond what bounded intervals can ask for
_STALE_SHARE = 16  # a pace is worked out anew when this part of the counts has changed
_STALE_LEAST = 64


@dataclass(frozen=True, slots=True)
class RevisitPace:
    """Gives intervals by change rate. `threshold`: µ in seconds for "gain", the expected changes λI for "changed"."""

    strategy: RevisitStrategy
    threshold: float
    usual_s: float
    least_s: float
    most_s: float

    def interval_s(self, rate: float) -> float:
        """Return the seconds between two visits of a page with this rate (changes a second)."""
        if self.strategy == "all":
            return self.usual_s
        changes = self.threshold if self.strategy == "changed" else changes_for_gain(self.threshold * rate)
        return min(max(changes / rate, self.least_s), self.most_s)


def changes_for_gain(share: float) -> float:
    """Solve 1 − (1 + r)·e^−r = share for r > 0; ∞ from 1 on. Newton's method; the left side rises from 0 to 1."""
    if share >= 1.0:
        return inf
    r = sqrt(2.0 * share) if share < 0.5 else 1.0 - log(1.0 - share)
    for _ in range(50):
        decay = exp(-r)
        step = (1.0 - (1.0 + r) * decay - share) / (r * decay) if r * decay > 0.0 else 0.0
        r = r - step if step < r else r / 2.0
        if abs(step) < 1e-9 * r:
            break
    return r


def pace_for(rates: Mapping[float, int], config: CrawlConfig) -> RevisitPace:
    """Find the pace that spends the budget on pages of these rates (changes a second: pages)."""
    bounds = (config.revisit_s, config.min_revisit_s, config.max_revisit_s)
    if config.revisit == "all" or not rates:
        return RevisitPace("all", 0.0, *bounds)
    budget = sum(rates.values()) / config.revisit_s
    low, high = _LOG_LEAST, _LOG_MOST
    for _ in range(_ROUNDS):
        pace = RevisitPace(config.revisit, exp((low + high) / 2), *bounds)
        spent = sum(pages / pace.interval_s(rate) for rate, pages in rates.items())
        low, high = ((low + high) / 2, high) if spent > budget else (low, (low + high) / 2)
    return RevisitPace(config.revisit, exp(high), *bounds)


class RevisitStatistics:
    """Counts how many of the known pages change how often, and keeps the pace for them."""

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._bins: dict[Slot, Counter[int]] = {}
        self._pages = 0
        self._changed = 0
        self._pace = pace_for({}, config)

    def add(self, slot: Slot, visit: Visit) -> None:
        """Count a page of a slot that is known from now on."""
        self._count(slot, visit, 1)

    def remove(self, slot: Slot, visit: Visit) -> None:
        """Count a page no more that `add` counted, since it is known differently."""
        self._count(slot, visit, -1)

    def forget(self, slot: Slot) -> None:
        """Count the pages of a slot no more."""
        pages = self._bins.pop(slot, Counter[int]()).total()
        self._pages -= pages
        self._changed += abs(pages)

    def rate(self, visit: Visit) -> float:
        """Estimate the changes a second of a visited page."""
        return change_rate(visit.history, self._config.revisit_s)

    def pace(self) -> RevisitPace:
        """Return the pace for the pages known now, or lately."""
        if self._changed > max(_STALE_LEAST, self._pages // _STALE_SHARE):
            bins = sum(self._bins.values(), Counter[int]())
            rates = {2.0 ** (bin / _STEPS): pages for bin, pages in bins.items() if pages > 0}
            self._pace, self._changed = pace_for(rates, self._config), 0
        return self._pace

    def _count(self, slot: Slot, visit: Visit, pages: int) -> None:
        if visit.state in (VisitState.FETCHED, VisitState.FAILED) and visit.history.seen_at:
            self._bins.setdefault(slot, Counter())[round(log2(self.rate(visit)) * _STEPS)] += pages
            self._pages += pages
            self._changed += 1


_BACKOFF = 4.0


def due_after_fetch(visit: Visit, now: float, statistics: RevisitStatistics) -> float:
    """Return when a page is due whose content was just seen; its history knows that already."""
    return now + statistics.pace().interval_s(statistics.rate(visit))


def due_after_redirect(now: float, config: CrawlConfig) -> float:
    """Return when a URL is due after a redirect, or another answer that will hold for a while."""
    return now + config.revisit_s


def due_after_refusal(now: float, config: CrawlConfig) -> float:
    """Return when a URL is due after 404, 410, noindex, or a refusal by robots, rules or guards."""
    return now + config.gone_revisit_s


def due_after_failure(fails: int, now: float, config: CrawlConfig, retry_after_s: float = 0.0) -> float:
    """Return when a URL is due after the n-th failure in a row (n ≥ 1): exponential, not before its Retry-After."""
    if fails > config.max_fails:
        return now + config.gone_revisit_s
    backoff = config.retry_base_s * _BACKOFF ** (fails - 1)
    return now + min(max(backoff, retry_after_s), config.max_retry_s)
