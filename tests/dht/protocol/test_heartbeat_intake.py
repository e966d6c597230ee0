"""Heartbeats that come from peers and from an earlier run."""

from dht.clock import Now
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.protocol.heartbeat_intake import PRESENT_S, REFUSED_LIMIT, RefusedHeartbeat, RefusedHeartbeats
from dht.wire.heartbeat import open_heartbeat
from dht.wire.packets import (
    PACKET_LIMIT,
    PacketHeader,
    Ping,
    encode_packet,
)
from tests.dht.protocol.test_engine import ELSEWHERE, HERE, LOCAL, NETWORK, THERE, at, core, pair, talk


def test_a_restart_with_the_clock_set_back_outruns_its_own_past() -> None:
    a, b, nodes, _ = pair()
    again = core(2, THERE)
    nodes[THERE] = again
    earlier = Now(at(0).wall - 60, at(0).steady)
    again.join(earlier, [HERE])
    for n in range(5):
        now = Now(earlier.wall + n, earlier.steady + n)
        packets = [(d, t, THERE) for d, t in again.poll(now)] + [(d, t, HERE) for d, t in a.poll(at(n))]
        talk(now, nodes, packets)
    first, last = open_heartbeat(b.own.raw, at(0), NETWORK, LOCAL), a.members.find(b.node_id)
    assert last
    assert last.opened.sequence > first.sequence


def test_a_ping_without_mac_does_not_speak_for_the_key_that_it_names() -> None:
    """Otherwise an attacker that kept a dead peer's heartbeat could make it live again at every newcomer."""
    a, b = core(1, HERE), core(2, THERE)
    b.poll(at(0))
    body = Ping(0, (1 << 32) - 1, b"", (b.own.raw,))
    header = PacketHeader(NETWORK[:4], Identity(bytes([2]) * 32).public_key, 0, bytes(8))
    packet = encode_packet(header, b"t" * 8, body, None, size=PACKET_LIMIT)
    assert a.receive(at(100), packet, ELSEWHERE)
    assert a.members.find(b.node_id) is not None
    assert not a.members.is_live(b.node_id, at(100))


def test_former_members_are_tried_when_their_heartbeats_have_expired() -> None:
    _, b, _, _ = pair()
    late, day = core(3, ELSEWHERE), 86_400.0
    late.remember(at(day), [b.own.raw])
    assert late.members.members(at(day)) == (late.node_id,)
    assert THERE in [target for n in range(3) for _, target in late.poll(at(day + n))]
    assert not late.refused


def test_a_newcomer_whose_clock_is_late_learns_it_from_what_its_only_contact_passes_on() -> None:
    a, b, c = core(1, HERE), core(2, THERE), core(3, ELSEWHERE)
    late = Now(at(0).wall - 3600, at(0).steady)
    for other in (b, c):
        other.poll(at(0))
        a.intake.learn(late, [other.own.raw], b.own.public_key)
    assert "3605 s behind those of its peers" in a.clocks.warnings(late)[0]
    assert not a.members.members(late)[1:], "they are of the future, and not taken"


def test_a_heartbeat_that_was_passed_on_late_says_nothing_of_clocks() -> None:
    a, b, c = core(1, HERE), core(2, THERE), core(3, ELSEWHERE)
    for other in (b, c):
        other.poll(at(0))
        a.intake.learn(at(3600), [other.own.raw], None)
    assert not a.clocks.warnings(at(3600))


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
    assert len(kept.present(at(100.0))) == REFUSED_LIMIT
    assert len(kept.take_news()) <= 8 + 100 / 10 + 1
