"""How often a page changes, against the likelihood; and a visit's bytes: what went in comes out, in little room."""

import math
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl import VisitState
from crawl.schedule.url_state import (
    MAX_CHANGES,
    MAX_SPAN_S,
    History,
    Visit,
    change_rate,
    decode_visit,
    encode_visit,
    seen,
)

VISITS = st.builds(
    Visit,
    st.just("http://a.example/x"),
    st.integers(0, 100),
    st.integers(0, 10),
    st.sampled_from(VisitState),
    st.sampled_from([0.0, 1.7e9]),
    scope=st.sampled_from(["", "host:a.example"]),
    is_sitemap=st.booleans(),
    history=st.sampled_from([History(), History(seen_at=5)]),
)


@given(VISITS)
def test_what_went_in_comes_out(visit: Visit) -> None:
    assert decode_visit(encode_visit(visit)) == visit


def test_a_url_that_was_only_found_takes_little_more_than_its_text() -> None:
    assert len(encode_visit(Visit("http://a.example/x", 3, 1))) <= len("http://a.example/x") + 4


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
    assert len(encode_visit(Visit("", 1, history=history))) < 83
