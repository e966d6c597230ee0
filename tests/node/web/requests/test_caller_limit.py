"""The web listener tells callers apart, and limits how often each may ask."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from node.web.requests.caller_limit import CallerLimit, caller_of


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("198.51.100.7", "198.51.100.8", False),
        ("198.51.100.7", "::ffff:198.51.100.7", True),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("fe80::1%eth0", "fe80::2%eth1", True),
    ],
)
def test_an_ipv4_address_and_a_64_of_ipv6_are_callers(one: str, other: str, is_same: bool) -> None:
    assert caller_of(one) is not None
    assert (caller_of(one) == caller_of(other)) is is_same


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "", "/run/node.sock"])
def test_this_machine_is_no_caller_and_never_waits(address: str) -> None:
    limit = CallerLimit(1.0, 1)
    assert caller_of(address) is None
    assert [limit.wait_s(address, 0.0) for _ in range(50)] == [0] * 50


def test_no_rate_is_no_limit() -> None:
    limit = CallerLimit(0.0, 1)
    assert [limit.wait_s("198.51.100.7", 0.0) for _ in range(50)] == [0] * 50


def test_one_who_asks_too_often_waits_and_others_do_not() -> None:
    limit = CallerLimit(0.5, 3)
    assert [limit.wait_s("198.51.100.7", 10.0) for _ in range(4)] == [0, 0, 0, 2]
    assert limit.wait_s("198.51.100.8", 10.0) == 0
    assert limit.wait_s("198.51.100.7", 11.5) == 1
    assert limit.wait_s("198.51.100.7", 12.0) == 0


def test_callers_are_remembered_within_bounds() -> None:
    limit = CallerLimit(1.0, 1)
    for number in range(8_300):
        limit.wait_s(f"10.0.{number >> 8}.{number & 255}", 0.0)
    assert limit._buckets is not None and len(limit._buckets) == 8192


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 100), st.integers(1, 20), st.lists(st.floats(0, 5), max_size=40))
def test_who_waits_as_long_as_told_is_answered(per_s: float, burst: int, pauses: list[float]) -> None:
    limit, now = CallerLimit(per_s, burst), 0.0
    for pause in pauses:
        now += pause
        if wait_s := limit.wait_s("2001:db8::1", now):
            now += wait_s + 1e-6  # sums of floats; nobody asks again at that very instant
            assert limit.wait_s("2001:db8::1", now) == 0
