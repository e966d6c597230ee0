from hypothesis import given, settings
from hypothesis import strategies as st

from dht.rate_limit import RateLimiter


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 50), st.sampled_from("ab")), max_size=200))
def test_never_more_than_rate_and_burst(events: list[tuple[float, str]]) -> None:
    buckets = RateLimiter(rate=2.0, burst=5.0)
    taken: dict[str, list[float]] = {"a": [], "b": []}
    for now, key in sorted(events):
        if buckets.take(key, now):
            taken[key].append(now)
    for times in taken.values():
        for i, start in enumerate(times):
            for j in range(i, len(times)):
                assert j - i + 1 <= 5 + 2 * (times[j] - start) + 1e-6


def test_bounded_and_refilled() -> None:
    buckets = RateLimiter(rate=1.0, burst=1.0, keys=10)
    assert all(buckets.take(n, 0.0) for n in range(100))
    assert len(buckets) == 10
    assert not buckets.take(99, 0.5)
    assert buckets.take(99, 1.6)
