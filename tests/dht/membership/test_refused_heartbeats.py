"""Whose heartbeats are refused is news once, and a flood of them costs little memory and few lines."""

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.refused_heartbeats import LIMIT, PRESENT_S, RefusedHeartbeat, RefusedHeartbeats


def at(steady: float) -> Now:
    return Now(1e6 + steady, steady)


def test_a_peer_and_reason_is_news_once_and_present_while_it_is_refused() -> None:
    kept = RefusedHeartbeats()
    for steady in range(0, 3600, 10):
        kept.note("ab", "its address", at(float(steady)))
    kept.note("ab", "too little work", at(3600.0))
    assert kept.take_news() == [RefusedHeartbeat("ab", "its address"), RefusedHeartbeat("ab", "too little work")]
    assert not kept.take_news()
    assert len(kept.present(at(3600.0))) == 2
    assert kept.present(at(3595.0 + PRESENT_S)) == [RefusedHeartbeat("ab", "too little work")]


def test_whose_heartbeats_are_taken_again_is_refused_no_more() -> None:
    kept, one, other = RefusedHeartbeats(), NodeId(b"1" * 20), NodeId(b"2" * 20)
    for peer in (one, other):
        kept.note(peer.hex(), "its address", at(0.0))
    kept.forget(one)
    assert [each.peer for each in kept.present(at(1.0))] == [other.hex()]


def test_a_flood_of_made_up_peers_is_bounded() -> None:
    kept = RefusedHeartbeats()
    for n in range(100_000):
        kept.note(f"{n:040x}", "its address", at(n / 1000))
    assert len(kept.present(at(100.0))) == LIMIT
    assert len(kept.take_news()) <= 8 + 100 / 10 + 1
