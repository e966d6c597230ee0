"""A complaint that repeats is said once in a while."""

from store.replication.throttle import Seldom


def test_one_in_a_minute_passes() -> None:
    seldom = Seldom(60)
    assert [t for t in range(0, 200, 7) if seldom.allows(float(t))] == [0, 63, 126, 189]
