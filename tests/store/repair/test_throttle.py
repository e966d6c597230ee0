"""Never more bytes than the rate allows, and never idle while some may pass."""

import random

from store.repair.throttle import BURST_S, LEAST_BYTES_S, Throttle


def test_bytes_never_outrun_the_rate_whatever_comes_when() -> None:
    rng, rate = random.Random(4), 1000.0
    throttle, now, moved = Throttle(rate), 0.0, list[tuple[float, int]]()
    for _ in range(500):
        size = rng.choice([0, 10, 500, 4000])
        moved.append((now, size))
        delay_s = throttle.delay_s(now, size)
        assert delay_s <= max(0.0, sum(s for _, s in moved) / rate)
        now += delay_s + rng.choice([0.0, 0.0, 0.1, 3.0])
    for start, _ in moved:
        inside = [(at, size) for at, size in moved if start <= at]
        total = 0
        for at, size in inside[:-1]:
            total += size
            after = next(later for later, _ in inside if later > at) if any(a > at for a, _ in inside) else None
            if after is not None:
                assert total <= rate * (after - start + BURST_S) + 1e-6


def test_little_need_not_wait() -> None:
    throttle = Throttle(1000.0)
    assert throttle.delay_s(5.0, 900) == 0.0
    assert throttle.delay_s(5.0, 1100) == 1.0
    assert throttle.delay_s(6.0, 0) == 0.0


def test_a_share_of_the_rate_is_slower_and_never_too_slow_to_end() -> None:
    rate = 10 * LEAST_BYTES_S
    assert Throttle(rate).delay_s(0.0, int(rate), 0.25) == 4.0 - BURST_S
    assert Throttle(rate).delay_s(0.0, int(rate), 0.01) == 10.0 - BURST_S
