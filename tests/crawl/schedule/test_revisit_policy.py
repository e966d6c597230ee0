"""Visits where they gain most: against brute force, under the budget, and a week on a virtual clock."""

import math
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.freshness import GOAL_POINTS, SPAN_S, crawled, made_up_web, optimum
from crawl import CrawlConfig, Visit
from crawl.config import DAY_S
from crawl.schedule.revisit_policy import RevisitPace, RevisitStatistics, changes_for_gain, pace_for
from crawl.schedule.url_state import History, VisitState
from dht import Slot

CONFIG = CrawlConfig(revisit_s=DAY_S, min_revisit_s=1.0, max_revisit_s=1e15)


def freshness(rates: list[float], intervals: list[float]) -> float:
    return sum((1 - math.exp(-r * i)) / (r * i) for r, i in zip(rates, intervals, strict=True)) / len(rates)


@given(st.floats(1e-12, 0.999999))
def test_the_threshold_is_met_exactly(share: float) -> None:
    r = changes_for_gain(share)
    assert 1 - (1 + r) * math.exp(-r) == pytest.approx(share, rel=1e-3, abs=1e-15)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_no_shift_of_visits_between_two_pages_gains_anything(seed: int) -> None:
    rng = Random(seed)
    rates = [math.exp(rng.gauss(0, 1.5)) / DAY_S for _ in range(5)]
    pace = pace_for(Counter(rates), CONFIG)
    intervals = [pace.interval_s(rate) for rate in rates]
    assert sum(1 / i for i in intervals) <= 5 / DAY_S * 1.0001
    best = freshness(rates, intervals)
    for _ in range(100):
        one, other = rng.sample(range(5), 2)
        moved_s = rng.uniform(0, 0.9) / intervals[one]
        shifted = list(intervals)
        shifted[one], shifted[other] = 1 / (1 / intervals[one] - moved_s), 1 / (1 / intervals[other] + moved_s)
        assert freshness(rates, shifted) <= best + 1e-6


def test_pages_that_change_too_fast_get_less_and_alike_pages_the_average() -> None:
    rates = {0.01 / DAY_S: 10, 1 / DAY_S: 10, 100 / DAY_S: 10}
    gain = pace_for(rates, CONFIG)
    assert gain.interval_s(1 / DAY_S) < gain.interval_s(0.01 / DAY_S) < gain.interval_s(100 / DAY_S)
    changed = pace_for(rates, CrawlConfig(revisit="changed", revisit_s=DAY_S, min_revisit_s=1.0, max_revisit_s=1e9))
    assert changed.interval_s(100 / DAY_S) == pytest.approx(changed.interval_s(1 / DAY_S) / 100)
    same = pace_for(rates, CrawlConfig(revisit="all"))
    assert {same.interval_s(rate) for rate in rates} == {7 * DAY_S}
    assert pace_for({0.3 / DAY_S: 7}, CONFIG).interval_s(0.3 / DAY_S) == pytest.approx(DAY_S, rel=1e-3)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-12, 10.0), st.sampled_from(["gain", "changed", "all"]), st.floats(-20, 60))
def test_every_page_is_visited_within_its_bounds(rate: float, strategy: str, log_threshold: float) -> None:
    pace = RevisitPace(strategy, math.exp(log_threshold), 7 * DAY_S, 3_600.0, 60 * DAY_S)  # type: ignore[arg-type]
    assert 3_600.0 <= pace.interval_s(rate) <= 60 * DAY_S


def test_the_census_follows_what_is_known() -> None:
    census = RevisitStatistics(CONFIG)
    slow, fast = History(10, 10, 0, 0, 30 * int(DAY_S)), History(10, 10, 9, int(DAY_S), 0)
    visits = [Visit(str(n), 1, state=VisitState.FETCHED, history=slow if n % 2 else fast) for n in range(200)]
    for visit in visits:
        census.add(Slot(int(visit.url) % 3), visit)
    assert 10 * census.pace().interval_s(census.rate(visits[0])) < census.pace().interval_s(census.rate(visits[1]))
    for visit in visits[:80]:
        census.remove(Slot(int(visit.url) % 3), visit)
    for slot in range(3):
        census.forget(Slot(slot))
    assert census.pace().interval_s(1.0) == DAY_S  # nothing is known: all alike


@pytest.mark.parametrize("web", ["surveyed", "half ten times a day, half hardly"])
def test_a_week_from_nothing_comes_near_the_optimum_for_the_true_rates(web: str) -> None:
    pages, each = 250, made_up_web(web, 250, 5)
    fresh, visits = crawled(each, CrawlConfig(revisit_s=DAY_S, min_revisit_s=600.0))
    budget = pages * SPAN_S / DAY_S
    assert visits <= 1.05 * budget
    assert 100 * (optimum(each, max(int(budget), visits)) - fresh) < GOAL_POINTS
