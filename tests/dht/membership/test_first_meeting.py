"""A node that expects others is lost until it meets a member, or a bare bootstrap node that must know all by now."""

from dht.membership.first_meeting import BARE_S, FirstMeeting


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
