"""Tries of passwords: each wrong one costs more, all callers share a rate, and a right one forgives."""

from node.web.owner.password_tries import ALL_AT_ONCE, ALL_PER_S, FORGET_S, MAX_CALLERS, MOST_WAIT_S, PasswordTries


def test_a_caller_waits_twice_as_long_after_each_wrong_try() -> None:
    tries, now, waits = PasswordTries(), 0.0, []
    for _ in range(12):
        assert tries.begin("mallory", now) == 0
        waits.append(tries.wait_s("mallory", now))
        assert tries.begin("mallory", now) == waits[-1] == tries.begin("mallory", now), "waiting makes it no longer"
        now += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, *[MOST_WAIT_S] * 3]
    assert tries.begin("ann", now) == 0, "others do not wait"
    assert tries.begin("mallory", now + FORGET_S + 1) == 0 and tries.wait_s("mallory", now + FORGET_S + 1) == 1


def test_a_right_password_forgives() -> None:
    tries = PasswordTries()
    for now in (0.0, 1.0, 3.0):
        assert tries.begin("ann", now) == 0
    tries.was_right("ann")
    assert tries.begin("ann", 3.0) == 0 and tries.wait_s("ann", 3.0) == 1


def test_a_crowd_guesses_no_faster_than_all_may() -> None:
    tries = PasswordTries()
    taken = sum(tries.begin(number, second) == 0 for second in range(1000) for number in (second, -second - 1))
    assert taken <= ALL_AT_ONCE + 1000 * ALL_PER_S
    assert tries.begin("late", 999.0) >= 1
    assert len(tries._wrong) <= MAX_CALLERS
