"""The median of the peers' own clocks shows which clock is off; no liar moves it."""

import pytest

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.peer_clocks import FRESH_S, OFF_S, PEER_LIMIT, STOPPED_S, VALID_S, PeerClocks

START = Now(1_700_000_000.0, 50.0)


def peer(n: int) -> NodeId:
    return NodeId(n.to_bytes(20, "big"))


def clocks_of(*ahead_s: float) -> PeerClocks:
    clocks = PeerClocks()
    for n, ahead in enumerate(ahead_s):
        clocks.told(peer(n), START.wall + ahead, START)
    return clocks


def later(seconds: float, stepped_s: float = 0.0) -> Now:
    return Now(START.wall + seconds + stepped_s, START.steady + seconds)


@pytest.mark.parametrize("off_s", [11.0, 3600.0, 86_400.0 * 300])
@pytest.mark.parametrize("others", [2, 3, 8])
def test_a_clock_of_our_own_that_is_off_is_named(off_s: float, others: int):
    behind = clocks_of(*[off_s] * others).warnings(START)
    assert behind == (f"this machine's clock is {off_s:.0f} s behind those of its peers; set it, by NTP for example",)
    ahead = clocks_of(*[-off_s] * others).warnings(START)
    assert ahead == (f"this machine's clock is {off_s:.0f} s ahead of those of its peers; set it, by NTP for example",)


@pytest.mark.parametrize("lie_s", [3600.0, -1e8, 1e12, float("nan"), float("inf")])
@pytest.mark.parametrize("others", [2, 5])
def test_one_liar_says_nothing_about_our_clock_and_all_about_its_own(lie_s: float, others: int):
    clocks = clocks_of(*[0.4] * (others - 1), lie_s)
    assert clocks.warnings(START) == ()
    believed = abs(lie_s) < 1e9
    assert (abs(clocks.ahead_s(peer(others - 1), START)) > OFF_S) == believed
    assert abs(clocks.ahead_s(peer(0), START)) < 1.0


def test_with_one_peer_nobody_knows_whose_clock_is_off():
    (told,) = clocks_of(3600.0).warnings(START)
    assert told == "this machine's clock and that of its only peer differ by 3600 s; set them, by NTP for example"


def test_nobody_is_off_where_nobody_was_heard_or_long_ago():
    assert PeerClocks().warnings(START) == ()
    clocks = clocks_of(3600.0, 3600.0, 3600.0)
    assert clocks.warnings(later(VALID_S))
    assert clocks.warnings(later(VALID_S + 1)) == ()
    assert clocks.ahead_s(peer(0), later(VALID_S + 1)) == 0.0


def test_a_step_of_our_own_clock_shows_at_once_and_is_over_at_once():
    clocks = clocks_of(0.0, 0.3, -0.2, 0.1)
    assert clocks.warnings(later(1.0)) == ()
    assert "3600 s ahead of" in clocks.warnings(later(2.0, stepped_s=3600.0))[0]
    assert clocks.warnings(later(3.0)) == ()


def test_heartbeats_up_to_ten_seconds_old_are_no_reason_to_warn():
    clocks = PeerClocks()
    for n in range(4):
        clocks.sent(peer(n), START.wall - 10.0, START)
    assert clocks.warnings(START) == ()
    clocks.sent(peer(0), START.wall - 1.0, START)
    assert clocks.ahead_s(peer(0), START) > 3.0, "the freshest one counts"
    clocks.sent(peer(0), START.wall - 9.0, START)
    assert clocks.ahead_s(peer(0), START) > 3.0


def test_a_peer_that_sets_its_clock_back_is_believed_soon():
    clocks = clocks_of(0.0, 3600.0, 0.0)
    at = later(FRESH_S + 1.0)
    clocks.sent(peer(1), at.wall - 3.0, at)
    assert abs(clocks.ahead_s(peer(1), at)) < OFF_S


def test_what_is_remembered_is_bounded():
    clocks = PeerClocks()
    for n in range(PEER_LIMIT + 10):
        clocks.told(peer(n), START.wall + 3600.0, START)
    assert clocks.ahead_s(peer(9), START) == 0.0


@pytest.mark.parametrize(
    ("ahead_s", "sides", "are_against_us"),
    [
        ((), (1, 0, 0), False),
        ((-3.0, 50.0), (3, 0, 0), False),
        ((3600.0,), (1, 1, 1), True),
        ((0.0, 3600.0), (2, 1, 1), False),
        ((0.0, 3600.0, 3601.0), (2, 2, 2), True),
        ((0.0, 3600.0, -3600.0, -90.0), (2, 3, 1), False),
        ((3600.0, -86_400.0), (1, 2, 1), True),
        ((0.0, 0.0, 3600.0, 3590.0), (3, 2, 2), False),
        ((0.0, 3600.0, 3500.0, 3550.0), (2, 3, 3), True),
    ],
)
def test_the_largest_group_of_clocks_that_agree_is_right(
    ahead_s: tuple[float, ...], sides: tuple[int, int, int], are_against_us: bool
):
    found = clocks_of(*ahead_s).sides(START, 60.0)
    assert (found, found.are_against_us) == (sides, are_against_us)


def test_who_is_heard_no_more_does_not_speak_for_our_clock():
    clocks = clocks_of(0.0, 0.0, 3600.0, 3600.0)
    assert not clocks.sides(START, 60.0).are_against_us
    assert clocks.sides(START, 60.0, {peer(0)}) == (2, 2, 2)


def test_the_clock_of_a_member_that_stopped_counts_no_longer_than_it_is_heard():
    clocks = clocks_of(3600.0)
    clocks.stopped = {peer(0)}
    assert clocks.sides(later(STOPPED_S), 60.0).are_against_us and clocks.warnings(later(STOPPED_S))
    assert not clocks.sides(later(STOPPED_S + 1), 60.0).are_against_us and not clocks.warnings(later(STOPPED_S + 1))
    clocks.told(peer(0), later(90).wall + 3600.0, later(90))
    assert clocks.sides(later(90), 60.0).are_against_us, "it started again"


def test_a_reading_says_how_little_a_clock_is_off_and_is_moved_by_no_liar() -> None:
    assert clocks_of(0.4, 0.5, 0.6).reading(START) == pytest.approx((0.4, 3))
    assert clocks_of(-3.0, -2.0).reading(START) == pytest.approx((-2.0, 2))
    assert clocks_of(1e8, 0.1).reading(START) == pytest.approx((0.1, 2))
    assert clocks_of(3600.0).reading(START) == (0.0, 1) and PeerClocks().reading(START) == (0.0, 0)
