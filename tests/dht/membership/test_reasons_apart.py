"""A twin goes on signing; what an earlier run left behind comes for a moment and is no twin."""

from dht.membership.reasons_apart import AT_LEAST_S, BARE_S, TIMES, WITHIN_S, FirstMeeting, TwinWatch
from dht.wire.contact import Endpoint

THERE = (Endpoint("10.0.0.7", 8091, 8091),)


def test_heartbeats_of_an_earlier_run_however_many_are_no_twin() -> None:
    watch = TwinWatch()
    for n in range(100):
        watch.heard(THERE, n * (AT_LEAST_S - 0.1) / 100)
    assert not watch.is_there(AT_LEAST_S) and watch.warnings(AT_LEAST_S) == ()
    for n in range(100):  # one now and then, each time somebody comes back who knows a later one
        watch.heard(THERE, 100.0 + n * (WITHIN_S + 1.0))
        assert not watch.is_there(100.0 + n * (WITHIN_S + 1.0))


def test_a_twin_is_named_with_its_address_and_forgotten_a_minute_after_it_stopped() -> None:
    watch = TwinWatch()
    for n in range(TIMES + 4):
        watch.heard(THERE, 2.0 * n)
    last = 2.0 * (TIMES + 3)
    assert watch.is_there(last)
    (told,) = watch.warnings(last)
    assert "10.0.0.7 port 8091" in told and "dse-node init" in told
    assert not watch.is_there(last + WITHIN_S + 0.1)


def test_who_expects_nobody_is_never_lost() -> None:
    assert not FirstMeeting().is_lost


def test_who_expects_others_is_lost_for_ever_until_a_member_lives() -> None:
    meeting = FirstMeeting()
    meeting.expect()
    for hour in range(1000):
        meeting.count(3600.0 * hour, members=0, bare=0)
    assert meeting.is_lost
    meeting.count(4e6, members=1, bare=0)
    assert not meeting.is_lost
    meeting.count(5e6, members=0, bare=0)
    assert not meeting.is_lost, "once met, for good"


def test_a_bare_bootstrap_node_that_names_nobody_for_long_enough_is_a_network_that_begins() -> None:
    meeting = FirstMeeting()
    meeting.expect()
    meeting.count(0.0, members=0, bare=1)
    meeting.count(BARE_S - 1.0, members=0, bare=0)
    meeting.count(BARE_S, members=0, bare=1)
    meeting.count(2 * BARE_S - 1.0, members=0, bare=1)
    assert meeting.is_lost, "it was away in between"
    meeting.count(2 * BARE_S, members=0, bare=1)
    assert not meeting.is_lost
