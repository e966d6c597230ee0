"""The engine against strangers: any bytes, forged packets, floods. `tests/sim` covers the engine among friends."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.clock import Now
from dht.config import DhtConfig
from dht.identity.node_key import Identity
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import StrategyAhead
from dht.protocol.network_rules import StrategyRules
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint
from dht.wire.packets import (
    PACKET_LIMIT,
    Body,
    Find,
    Get,
    PacketHeader,
    PacketKind,
    Ping,
    Put,
    decode_packet,
    encode_packet,
)
from node.extras.simulation.everybody import trust_everybody

NETWORK = b"network of the tests"
HERE, THERE, ELSEWHERE = (Address(f"127.0.0.{n}", 8091) for n in (1, 2, 3))
LOCAL = AddressPolicy(allow_private=True)


def core(n: int, address: Address = HERE, host: str = "") -> ProtocolEngine:
    listening = (Endpoint(host or address.host, address.port, address.port),)
    made = ProtocolEngine(Identity(bytes([n]) * 32), NETWORK, DhtConfig(), Random(n), listening=listening, policy=LOCAL)
    trust_everybody(made)
    return made


def at(seconds: float) -> Now:
    return Now(1_700_000_000.0 + seconds, 100.0 + seconds)


def talk(now: Now, nodes: dict[Address, ProtocolEngine], packets: list[tuple[bytes, Address, Address]]) -> list[bytes]:
    """Deliver (data, target, source) and all that follows; returns every packet seen."""
    seen = []
    while packets:
        data, target, source = packets.pop(0)
        seen.append(data)
        if target in nodes:
            packets += [(d, a, target) for d, a in nodes[target].receive(now, data, source)]
    return seen


def pair() -> tuple[ProtocolEngine, ProtocolEngine, dict[Address, ProtocolEngine], list[bytes]]:
    a, b = core(1, HERE), core(2, THERE)
    nodes = {HERE: a, THERE: b}
    a.poll(at(0))
    b.join(at(0), [HERE])
    seen = talk(at(0), nodes, [(d, t, THERE) for d, t in b.poll(at(0))])
    return a, b, nodes, seen


def test_first_contact_by_address_makes_members_of_both() -> None:
    a, b, _, _ = pair()
    both = tuple(sorted((a.node_id, b.node_id)))
    assert a.members.members(at(0.1)) == b.members.members(at(0.1)) == both
    assert a.members.is_live(b.node_id, at(0.1))
    assert not a.refused


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=1400))
def test_any_bytes_are_counted_and_never_answered(data: bytes) -> None:
    node = core(1)
    assert node.receive(at(0), data, THERE) == []
    assert sum(node.refused.values()) == 1


def stranger_asks(node: ProtocolEngine, body: Body, *, size: int = PACKET_LIMIT, mac: bool = True) -> list[bytes]:
    liar = Identity(bytes([9]) * 32)
    key = liar.shared_key(Identity(bytes([1]) * 32).public_key) if mac else None
    packet = encode_packet(PacketHeader(NETWORK[:4], liar.public_key, 0, bytes(8)), b"t" * 8, body, key, size=size)
    return [d for d, _ in node.receive(at(1), packet, ELSEWHERE)]


def test_a_forged_answer_and_another_network_are_refused() -> None:
    a, b, _, seen = pair()
    pong = next(d for d in seen if decode_packet(d).kind is PacketKind.PONG)
    assert b.receive(at(0.2), pong, HERE) == []
    assert b.refused["answer that nobody asked for"] == 1
    ping = next(d for d in seen if decode_packet(d).kind is PacketKind.PING)
    a.receive(at(0.2), ping[:2] + b"oops" + ping[6:], THERE)
    assert a.refused["another network"] == 1


def test_a_newer_strategy_or_a_fork_is_an_event() -> None:
    a, b, nodes, _ = pair()
    a.take_events()
    b.set_strategy(StrategyRules(2, b"digest of version two", 8, LOCAL))
    for n in range(1, 6):
        talk(at(n), nodes, [(d, t, THERE) for d, t in b.poll(at(n))])
    assert StrategyAhead(b.node_id, 2) in a.take_events()
    assert not any(isinstance(e, StrategyAhead) for e in b.take_events())
    known = a.members.find(b.node_id)
    assert known
    assert known.opened.heartbeat.strategy_version == 2


def test_a_suspected_peer_is_asked_and_back_with_its_next_heartbeat() -> None:
    a, b, nodes, _ = pair()
    a.suspect(at(1), b.node_id)
    assert not a.members.is_live(b.node_id, at(1))
    b.own.announce(b"\x00\x05", b"", due=0)
    talk(at(2), nodes, [(d, t, THERE) for d, t in b.poll(at(2))])
    assert a.members.is_live(b.node_id, at(2))


def test_a_peer_is_verified_where_it_answered_and_asked_where_it_only_says_it_is() -> None:
    a, b, nodes, _ = pair()
    for n in range(1, 4):
        talk(at(n), nodes, [(d, t, HERE) for d, t in a.poll(at(n))])
    assert a.verify_address(at(4), b.node_id, THERE)
    assert not a.verify_address(at(4), b.node_id, ELSEWHERE)
    sent = [target for _, target in a.poll(at(4))]
    assert sent.count(THERE) >= 1
    a.verify_address(at(4), b.node_id, ELSEWHERE)
    assert not a.poll(at(4)), "one question in a while, or a relay is a weapon"


@pytest.mark.parametrize("body", [Find(bytes(20)), Get(bytes(20)), Put(b"", b"")])
def test_only_a_ping_goes_without_mac(body: Find | Get | Put) -> None:
    a, _, _, _ = pair()
    assert stranger_asks(a, body, mac=False) == []
    assert a.refused["no MAC"] == 1
    assert stranger_asks(a, Ping(0, 0, b"", ()), mac=False)


def test_a_flood_from_one_address_is_cut_off_and_others_are_served() -> None:
    a, _, _, seen = pair()
    ping = next(d for d in seen if decode_packet(d).kind is PacketKind.PING)
    answers = [a.receive(at(1), ping, ELSEWHERE) for _ in range(2000)]
    assert len([x for x in answers if x]) <= 600
    assert a.refused["address over its rate"] >= 1400
    assert a.receive(at(1), ping, THERE)


def test_a_flood_from_all_addresses_of_one_ipv6_prefix_is_cut_off_too() -> None:
    a, _, _, seen = pair()
    ping = next(d for d in seen if decode_packet(d).kind is PacketKind.PING)
    answers = [a.receive(at(1), ping, Address(f"2001:db8::{n:x}", 8091)) for n in range(2000)]
    assert len([x for x in answers if x]) <= 600
    assert a.receive(at(1), ping, Address("2001:db8:0:1::1", 8091))


def test_a_node_on_all_addresses_learns_its_own_from_answers() -> None:
    a, b = core(1, HERE), core(2, THERE, host="0.0.0.0")
    nodes = {HERE: a, THERE: b}
    a.poll(at(0))
    b.join(at(0), [HERE])
    assert b.own.endpoints() == ()
    for n in range(4):
        talk(at(n), nodes, [(d, t, THERE) for d, t in b.poll(at(n))])
    assert [e.host for e in b.own.endpoints()] == [THERE.host]
    known = a.members.find(b.node_id)
    assert known
    assert known.opened.contact.endpoints[0].udp == THERE


def test_the_own_address_is_learned_within_the_prefixes_of_the_strategy_in_force() -> None:
    listening, declared = (Endpoint("0.0.0.0", 8091, 8091),), AddressPolicy(("10.1.0.0/16",))
    node = ProtocolEngine(
        Identity(b"\1" * 32), NETWORK, DhtConfig(), Random(1), listening=listening, policy=AddressPolicy()
    )
    node.own.seen_at("10.1.2.3", core(2).node_id)
    assert node.own.endpoints() == ()
    node.set_strategy(StrategyRules(2, bytes(32), 8, declared))
    node.own.seen_at("10.1.2.3", core(2).node_id)
    assert [e.host for e in node.own.endpoints()] == ["10.1.2.3"]
