"""The life of a peer that one cannot ask: two who can decide it, or the only one that there is, and not for ever."""

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.silence_reports import BELIEVED_S, REPORTERS, TOGETHER_S, SilenceReports

PEER, *OTHERS = (NodeId(bytes([n]) * 20) for n in range(1, 6))
ABLE = frozenset(OTHERS[:3])


def at(steady: float) -> Now:
    return Now(1e6 + steady, steady)


def test_two_that_can_ask_a_peer_are_believed_and_it_is_silent_since_the_first_of_them_said_so() -> None:
    reports = SilenceReports()
    assert reports.take(at(10.0), PEER, 5.0, OTHERS[0], ABLE) is None
    assert reports.take(at(10.5), PEER, 5.0, OTHERS[0], ABLE) is None, "one says it twice"
    assert reports.take(at(11.0), PEER, 5.0, OTHERS[3], ABLE) is None, "who cannot know says it"
    assert reports.take(at(12.0), PEER, 5.0, OTHERS[1], ABLE) == 10.0


def test_where_a_single_peer_can_ask_it_that_one_is_believed() -> None:
    assert SilenceReports().take(at(10.0), PEER, 5.0, OTHERS[0], {OTHERS[0]}) == 10.0
    assert SilenceReports().take(at(10.0), PEER, 5.0, OTHERS[0], set()) is None


def test_what_was_said_before_the_last_heartbeat_or_long_ago_counts_no_more() -> None:
    reports = SilenceReports()
    assert REPORTERS == 2
    reports.take(at(10.0), PEER, 5.0, OTHERS[0], ABLE)
    assert reports.take(at(12.0), PEER, 11.0, OTHERS[1], ABLE) is None, "it was heard since the first said so"
    assert reports.take(at(12.1 + TOGETHER_S), PEER, 11.0, OTHERS[2], ABLE) is None, "the second said so long ago"


def test_a_peer_dies_by_reports_once_in_two_minutes() -> None:
    reports = SilenceReports()
    died = list[float]()
    for n in range(int(2 * BELIEVED_S)):
        for liar in OTHERS[:2]:
            since = reports.take(at(n), PEER, n - 0.5, liar, ABLE)
            died += [] if since is None else [since]
    assert len(died) == 2
