"""A breaker opens, lets one request through when its time is over, and closes with the first answer."""

from random import Random

from crawl.politeness.circuit_breaker import JITTER, CircuitBreaker


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
