""""""

from hypothesis import given, settings
from hypothesis import strategies as st

from dht.admission.neighbourhood import PREFIXES, WHOLE, IdRange
from dht.membership.known_peer import KnownPeer
from dht.membership.liveness import FAR_LIVE_S, LIVE_S, SETTLE_S, Liveness
from dht.membership.member_table import MemberTable
from tests.dht.membership.test_member_table import NODES, OWN, at, beat
from tests.dht.trusting import trusting


def test_live_for_thirty_seconds_whatever_the_author_s_clock_says() -> None:
    for skew in (-3600.0, 0.0, 100.0):
        members = trusting(MemberTable(OWN))
        for n in range(4):
            members.add(beat(1, 10 + n, n * 10.0 + skew), at(n * 10.0 + 0.2), direct=n == 0)
        assert members.is_live(NODES[1].node_id, at(59.0))
        assert not members.is_live(NODES[1].node_id, at(61.0)), skew


def known(n: int, sent: float, *, leaving: bool = False) -> KnownPeer:
    return KnownPeer(beat(n, 1, sent, leaving=leaving), sent, 0.0, 0.0, 0)


def test_a_far_peer_lives_for_half_an_hour_and_is_judged_as_near_once_all_near_ones_were_heard() -> None:
    peer, liveness = NODES[0].node_id, Liveness()
    prefix = int.from_bytes(peer[:4], "big")
    liveness.move(IdRange(prefix + 1, PREFIXES - 1), -SETTLE_S)
    assert liveness.is_live(peer, known(0, 0.0), at(FAR_LIVE_S)) and not liveness.is_live(
        peer, known(0, 0.0), at(FAR_LIVE_S + 1)
    )
    liveness.move(WHOLE, 100.0)
    assert liveness.is_live(peer, known(0, 0.0), at(100.0 + SETTLE_S - 1))
    assert not liveness.is_live(peer, known(0, 0.0), at(100.0 + SETTLE_S))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2000), st.booleans()), max_size=12, unique_by=lambda e: e[0]),
    st.sets(st.integers(0, 11)),
    st.tuples(st.integers(0, PREFIXES - 1), st.integers(0, PREFIXES - 1), st.integers(0, 2000)),
)
def test_many_are_judged_as_each_by_itself_and_stay_as_they_are_until_then(
    peers: list[tuple[int, int, bool]], suspects: set[int], moved: tuple[int, int, int]
) -> None:
    liveness, now = Liveness(), at(2000.0)
    liveness.move(IdRange(min(moved[:2]), max(moved[:2])), float(moved[2]))
    for n in suspects:
        liveness.suspect(NODES[n].node_id, 0.0)
    pairs = [(NODES[n].node_id, known(n, float(sent), leaving=leaving)) for n, sent, leaving in peers]
    live, until = liveness.live_of(pairs, now)
    assert live == [(peer, each) for peer, each in pairs if liveness.is_live(peer, each, now)]
    assert until > now.steady - LIVE_S
    if until < float("inf"):
        assert all(liveness.is_live(peer, each, at(until - 0.001)) for peer, each in live)


def test_a_late_copy_of_the_last_heartbeat_does_not_revive_the_dead() -> None:
    members = trusting(MemberTable(OWN))
    members.add(beat(1, 1, 0.0), at(0.1))
    members.add(beat(1, 2, 10.0), at(38.0))
    assert members.is_live(NODES[1].node_id, at(39.5))
    assert not members.is_live(NODES[1].node_id, at(42.0))
