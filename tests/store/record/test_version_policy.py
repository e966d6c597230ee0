"""Owners that have different parts of a page's versions keep the same, and time only ever takes away."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from store.record.version_policy import DAY_MS, MOST_DAYS, VersionPolicy

TODAY = 20_000
policies = st.builds(VersionPolicy, st.integers(0, 5), st.integers(1, 900))
instants = st.integers((TODAY - 1000) * DAY_MS, (TODAY + 1) * DAY_MS)
versions = st.frozensets(instants, max_size=40)
erasures = st.one_of(st.just(-1), instants)


def at(days_ago: int, hour: int = 0) -> int:
    return (TODAY - days_ago) * DAY_MS + hour * 3_600_000


@given(policies, versions, versions, erasures)
def test_what_two_owners_keep_together_is_what_one_would_keep_of_all(
    policy: VersionPolicy, a: frozenset[int], b: frozenset[int], erased: int
) -> None:
    kept = policy.kept(policy.kept(a, TODAY, erased) | policy.kept(b, TODAY), TODAY, erased)
    assert kept == policy.kept(a | b, TODAY, erased)


@given(policies, versions, st.integers(0, 500), st.integers(0, 500))
def test_whoever_thins_out_less_often_ends_with_the_same(
    policy: VersionPolicy, found: frozenset[int], first: int, more: int
) -> None:
    early, late = policy.kept(found, TODAY + first), policy.kept(found, TODAY + first + more)
    assert policy.kept(early, TODAY + first + more) == late and late <= early <= found


def test_the_newest_stay_and_of_others_fewer_the_older_they_are() -> None:
    policy = VersionPolicy(last=2, days=400)
    same_day = [at(0, hour) for hour in range(6)]
    assert policy.kept(same_day, TODAY) == {at(0, 5), at(0, 4), at(0, 3)}, "two, and one of that day"
    daily = [at(days, hour) for days in range(500) for hour in (1, 13)]
    kept = sorted(policy.kept(daily, TODAY), reverse=True)
    ages = [TODAY - each // DAY_MS for each in kept]
    assert ages[:30] == [0, 0, *range(1, 29)] and ages[2] == 1
    assert all(b - a == 8 for a, b in pairwise(ages) if 48 < a < 340), ages
    assert max(ages) <= 400 and len(ages) < 100


def test_a_span_is_thinned_out_at_once_when_the_whole_of_it_is_old_enough() -> None:
    policy, first = VersionPolicy(0, 1000), 64 * 300
    week = [(first + day) * DAY_MS for day in range(8)]
    assert policy.kept(week, first + 8 + 31) == {*week} and policy.kept(week, first + 8 + 32) == {week[-1]}
    weeks = [(first + 8 * n + 7) * DAY_MS for n in range(8)]
    assert policy.kept(weeks, first + 64 + 364) == {*weeks} and policy.kept(weeks, first + 64 + 365) == {weeks[-1]}
    assert policy.kept(weeks[-1:], first + 63 + 1000) and not policy.kept(weeks[-1:], first + 63 + 1001)


def test_no_page_has_more_versions_than_readers_are_told() -> None:
    hourly = range(at(MOST_DAYS), at(-1), DAY_MS // 4)
    for shift in range(0, 64, 7):
        most = VersionPolicy(100, MOST_DAYS).kept((each + shift * DAY_MS for each in hourly), TODAY + shift)
        assert len(most) <= 256


def test_without_days_none_is_kept_and_what_is_erased_goes_whatever_its_age() -> None:
    assert not VersionPolicy().keeps_any and VersionPolicy(last=3).kept([at(0)], TODAY) == frozenset()
    policy = VersionPolicy(9, 100)
    assert policy.kept([at(3), at(2), at(1)], TODAY, erased_upto=at(2)) == {at(1)}
