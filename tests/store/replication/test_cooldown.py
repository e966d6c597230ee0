"""A complaint that repeats is said once in a while."""

from store.replication.cooldown import Cooldown


def test_one_in_a_minute_passes() -> None:
    cooldown = Cooldown(60)
    assert [t for t in range(0, 200, 7) if cooldown.allows(float(t))] == [0, 63, 126, 189]
