"""How hosts rest: by what they show, and never shorter than asked."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl import CrawlConfig
from crawl.config import DAY_S
from crawl.politeness.site_delays import GIVE_UP_AFTER, JITTER, CircuitBreaker, SiteDelays

CONFIG = CrawlConfig()
Request = tuple[int, float, float, float]


@pytest.fixture
def delays() -> SiteDelays:
    return SiteDelays(CONFIG, Random(1))


def test_a_host_rests_by_what_it_shows(delays: SiteDelays) -> None:
    assert delays.after_answer("a", 0.1, 0.0) == 1.0
    assert delays.after_answer("a", 0.1, 5.0) == 5.0
    assert delays.after_answer("slow", 4.0, 0.0) == 8.0
    assert delays.after_answer("slower", 400.0, 0.0) == 60.0
    assert delays.after_failure("b", 0.0, "status 503", 0.0, 100.0) == 100.0
    delays.set_crawl_delay("c", 20.0)
    assert delays.after_answer("c", 0.1, 0.0) == 20.0
    delays.set_crawl_delay("c", 1e9)
    assert delays.after_answer("c", 0.1, 0.0) == 300.0


def test_errors_slow_us_down_for_a_while_and_good_answers_undo_that(delays: SiteDelays) -> None:
    assert [delays.after_error("a", 0.0) for _ in range(7)] == pytest.approx([1.5**n for n in range(1, 6)] + [8.0] * 2)
    rests = [delays.after_answer("a", 0.1, 0.0) for _ in range(6)]
    assert rests == sorted(rests, reverse=True)
    assert rests[0] == pytest.approx(5.6)
    assert rests[-1] == 1.0
    assert delays.breaker_reason("a") == "", "a site that answers with errors is there"


def test_a_site_with_a_limit_is_asked_about_as_often_as_it_lets(delays: SiteDelays) -> None:
    """It answers 429, without Retry-After, to what comes within 3 s of what it answered last."""
    now, answered_at, refused, asked = 0.0, -10.0, 0, 0
    while now < 2_000:
        asked += 1
        if now - answered_at < 3.0:
            refused += 1
            now += delays.after_failure("a", now, "status 429", 0.0, limited=True)
        else:
            answered_at = now
            now += delays.after_answer("a", 0.1, 0.0)
    assert refused / asked < 0.2
    assert asked - refused > 2_000 / 3.0 / 2


def test_a_site_that_fails_now_and_then_is_hardly_slowed_down() -> None:
    rng, delays, rest_s = Random(4), SiteDelays(CONFIG, Random(1)), 0.0
    for _ in range(2_000):
        if rng.random() < 0.2:
            rest_s += delays.after_failure("a", 0.0, "status 503", 0.0)
        else:
            rest_s += delays.after_answer("a", 0.1, 0.0)
    assert rest_s < 2.5 * 2_000 * CONFIG.min_delay_s


def test_a_host_that_is_down_is_asked_once_in_a_while_until_it_answers(delays: SiteDelays) -> None:
    rests = [delays.after_failure("a", 0.0, "time: nothing usable", 0.0) for _ in range(11)]
    assert rests[:4] == [2.0, 4.0, 8.0, 16.0], "doubled by each failure"
    assert all(0.75 * 60 * 2**n <= rest <= 3600 for n, rest in enumerate(rests[4:10]))
    assert rests[-1] <= CONFIG.max_error_delay_s
    assert delays.breaker_reason("a") == "11 requests in a row failed, last: time: nothing usable"
    assert list(delays.broken_sites()) == ["a"]
    assert delays.after_answer("a", 0.1, 0.0) <= 8.0
    assert delays.breaker_reason("a") == ""
    assert not list(delays.broken_sites())


def test_a_host_that_stays_down_is_given_up_so_that_its_urls_end(delays: SiteDelays) -> None:
    failures = CONFIG.breaker_fails + GIVE_UP_AFTER - 1
    for _ in range(failures - 1):
        delays.after_failure("a", 0.0, "status 503", 0.0)
    assert delays.given_up_reason("a", 0.0) == ""
    assert delays.after_failure("a", 0.0, "status 503", 0.0) == CONFIG.min_delay_s, "no turn makes a request"
    assert delays.given_up_reason("a", 1.0) == f"{failures} requests in a row failed, last: status 503"
    assert delays.given_up_reason("a", CONFIG.max_error_delay_s) == "", "one is tried"
    delays.after_answer("a", 0.1, 0.0)
    assert delays.given_up_reason("a", 1.0) == ""


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1e6), st.floats(0, 100), st.floats(0, 1e12)), max_size=30),
    st.integers(0, 99),
)
def test_a_rest_is_never_shorter_than_asked_nor_endless(turns: list[Request], seed: int) -> None:
    delays, now = SiteDelays(CONFIG, Random(seed)), 0.0
    for kind, latency_s, floor_s, retry_s in turns:
        if kind == 0:
            rest_s = delays.after_answer("a", latency_s, floor_s, retry_s)
        elif kind == 1:
            rest_s = delays.after_error("a", floor_s, retry_s)
        else:
            rest_s = delays.after_failure("a", now, "status 503", floor_s, retry_s)
        if not delays.given_up_reason("a", now):
            assert max(CONFIG.min_delay_s, floor_s, min(retry_s, DAY_S)) <= rest_s <= DAY_S
        now += rest_s


def test_the_strategy_caps_what_latency_alone_asks_for(delays: SiteDelays) -> None:
    assert delays.after_answer("slow.test", 20.0, 1.0) > 10.0
    assert delays.after_answer("slow.test", 20.0, 1.0, most_s=5.0) == 5.0
    assert delays.after_answer("slow.test", 20.0, 1.0, retry_after_s=50.0, most_s=5.0) == 50.0
    assert delays.after_answer("slow.test", 20.0, 9.0, most_s=5.0) == 9.0, "a floor is a floor"


def failed(breaker: CircuitBreaker, now: float, rng: Random) -> float:
    return breaker.failed(now, "status 503", 3, 10.0, 100.0, rng)


def test_it_opens_after_failures_in_a_row_alone() -> None:
    breaker, rng = CircuitBreaker(), Random(1)
    for _ in range(5):
        assert failed(breaker, 0.0, rng) == failed(breaker, 1.0, rng) == 0.0
        breaker.answered()
        assert not breaker.is_open
    waits = [failed(breaker, float(now), rng) for now in range(3)]
    assert waits[:2] == [0.0, 0.0]
    assert 10.0 * (1 - JITTER) <= waits[2] <= 10.0
    assert breaker.is_open
    assert breaker.until == 2.0 + waits[2]


def test_each_probe_that_fails_doubles_the_wait_up_to_a_bound_and_one_answer_ends_it() -> None:
    breaker, rng = CircuitBreaker(), Random(2)
    waits = [failed(breaker, 0.0, rng) for _ in range(40)][2:]
    for n, wait_s in enumerate(waits):
        most_s = min(10.0 * 2**n, 100.0)
        assert most_s * (1 - JITTER) <= wait_s <= most_s
    assert len(set(waits[10:])) > 20, "spread by chance"
    breaker.answered()
    assert (breaker.is_open, breaker.reason) == (False, "")
    assert failed(breaker, 0.0, rng) == 0.0
