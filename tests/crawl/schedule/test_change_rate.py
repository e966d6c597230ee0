"""How often a page changes: the closed form against the likelihood that it stands for."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl import decode_visit
from crawl.schedule.change_rate import MAX_CHANGES, MAX_SPAN_S, History, change_rate, seen
from crawl.schedule.url_state import Visit, encode_visit

DAY_S = 86_400


def test_regular_visits_give_the_published_estimate() -> None:
    history = History(seen_at=1)
    for visit in range(10):
        history = seen(history, 1 + (visit + 1) * DAY_S, changed=visit % 5 == 0)
    published = math.log((10 + 0.5) / (8 + 0.5)) / DAY_S
    assert change_rate(history, DAY_S) == pytest.approx(published, rel=0.15)  # the prior's third of a change more


@pytest.mark.parametrize("rate_per_day", [0.05, 0.5, 2.0])
def test_irregular_visits_find_the_true_rate(rate_per_day: float) -> None:
    rng, estimates = Random(3), []
    for _ in range(60):
        history, now = History(seen_at=1), 1.0
        for _ in range(60):
            wait_s = rng.uniform(0.2, 1.8) * DAY_S / rate_per_day
            now += wait_s
            history = seen(history, now, changed=rng.random() < 1 - math.exp(-rate_per_day / DAY_S * wait_s))
        estimates.append(change_rate(history, DAY_S / rate_per_day) * DAY_S)
    assert sum(estimates) / len(estimates) == pytest.approx(rate_per_day, rel=0.2)


def test_a_page_that_changed_its_habits_is_believed_after_a_while() -> None:
    history, now = History(seen_at=1), 1
    for changed in [True] * 50 + [False] * 30:
        now += DAY_S
        history = seen(history, now, changed=changed)
    assert change_rate(history, DAY_S) < 0.5 / DAY_S


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e9, 1e10), st.booleans()), max_size=60))
def test_history_stays_small_and_rates_finite_whatever_the_clock_does(looks: list[tuple[float, bool]]) -> None:
    history = History()
    for now, changed in looks:
        history = seen(history, max(now, 0.0), changed=changed)
        assert history.changes <= MAX_CHANGES
        assert history.changed_s + history.unchanged_s <= max(MAX_SPAN_S, 1e10)
        assert 0 < change_rate(history, 7.0 * DAY_S) < math.inf
        assert decode_visit(encode_visit(Visit("http://a.test/", 1, history=history))).history == history
    assert len(encode_visit(Visit("", 1, history=history))) < 80
