"""Outsiders that boast of a newer strategy: they are asked for it where they answered, seldom, and nowhere else."""

import pytest

from dht.clock import Now
from dht.keys import NodeId
from dht.protocol.events import StrategyAhead
from dht.protocol.network_rules import StrategyRules
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint
from dht.wire.heartbeat import pack_endpoint
from dht.wire.packets import PACKET_LIMIT, Found, Packet, PacketKind, Ping, Pong, decode_body, decode_packet
from tests.dht.attacks.town import PORT, Attacker, Town, identity

HERE, VICTIM = Address("12.0.0.1", PORT), Address("13.0.0.1", 53)
BOASTER = Attacker(identity(99), HERE, version=999)
VICTIMS = (pack_endpoint(Endpoint(VICTIM.host, VICTIM.port, 25)),)


def alerts(node_events: list[object]) -> list[StrategyAhead]:
    return [event for event in node_events if isinstance(event, StrategyAhead)]


def answering(heartbeat_at: tuple[tuple[bytes, int, int], ...]) -> Town:
    """A town whose first node makes contact with the boaster, whose heartbeat names other endpoints and no work."""

    def answer(now: Now, packet: Packet, source: Address) -> list[tuple[bytes, Address]]:
        if packet.kind is not PacketKind.PING:
            return []
        pong = Pong((b"\x01\x01\x01\x01", 1), (BOASTER.heartbeat(now, endpoints=heartbeat_at),))
        return [(BOASTER.packet(packet.public_key, pong, transaction=packet.transaction, size=0), source)]

    town = Town()
    node = town.settle(3, 5.0)[0]
    rules = StrategyRules(1, bytes(32), 8, AddressPolicy(), puzzle_bits=28)  # so that nobody is a member any more
    node.set_strategy(rules)
    node.take_events()
    town.attackers[HERE] = answer
    node.join(town.now, [HERE], is_trusted=False)
    return town


def test_whoever_answered_is_asked_at_the_address_where_it_answered() -> None:
    town = answering(VICTIMS)
    node = next(iter(town.nodes.values()))
    before = len(town.flights)
    town.run(60.0)
    contacts = [event.contact for event in alerts(node.take_events())]
    assert contacts and all(
        contact is not None
        and contact.node_id == BOASTER.identity.node_id
        and contact.endpoints == (Endpoint(HERE.host, HERE.port, 25),)
        for contact in contacts
    )
    assert len(contacts) <= 60.0 / 5.0 + 1, "an event in five seconds"
    assert not [flight for flight in town.flights[before:] if flight.target == VICTIM]
    assert node.members.find(BOASTER.identity.node_id) is None, "its heartbeat serves for nothing else"


@pytest.mark.parametrize("is_member", [True, False])
def test_a_boast_that_answers_no_question_of_ours_names_no_address(is_member: bool) -> None:
    town = Town()
    node = town.settle(3, 5.0)[0]
    if is_member:
        town.hire(BOASTER)
        town.run(1.0)
    node.take_events()
    out = []
    for n, body in enumerate(
        [Ping(0, 0, b"", ()), Pong((b"\x01\x01\x01\x01", 1), (BOASTER.heartbeat(town.now),))] * 20
    ):
        packet = BOASTER.packet(town.keys[node.node_id], body, transaction=n.to_bytes(8, "big"), size=PACKET_LIMIT)
        out += [len(data) for data, to in node.receive(town.now, packet, VICTIM) if to == VICTIM]
        town.steady += 1.0
    assert all(size <= PACKET_LIMIT for size in out) and len(out) == 20, "as many answers as questions"
    events = alerts(node.take_events())
    assert 1 <= len(events) <= 9 and all(event.contact is None for event in events)


def test_strangers_that_boast_hide_nobody_that_answered() -> None:
    """Otherwise a flood of boasts under new keys would keep a node from the corrected strategy."""
    town = answering((pack_endpoint(Endpoint(HERE.host, HERE.port, PORT)),))
    node = next(iter(town.nodes.values()))
    asked: set[NodeId] = set()
    for n in range(60):
        liar = Attacker(identity(1000 + n), Address(f"14.{n}.0.1", PORT), version=1000)
        town.throw(liar.packet(town.keys[node.node_id], Ping(0, 0, b"", ())), liar.address, next(iter(town.nodes)))
        town.run(0.5)
        asked |= {event.peer for event in alerts(node.take_events()) if event.contact is not None}
    assert asked == {BOASTER.identity.node_id}


def test_of_blocked_senders_the_strategy_alone_is_heard_and_only_by_a_right_mac() -> None:
    town = Town()
    node = town.settle(3, 5.0)[0]
    crowd = [Attacker(identity(200 + n), Address(f"12.0.{n}.1", PORT), version=999) for n in range(20)]
    blocked = frozenset(each.identity.node_id for each in crowd)
    node.set_strategy(StrategyRules(1, bytes(32), 8, AddressPolicy(), blocked))
    node.take_events()
    mine = town.keys[node.node_id]
    for each in crowd:
        forged = bytearray(each.packet(mine, Found((), b"12345678"), size=0))
        forged[-1] ^= 1
        assert not node.receive(town.now, bytes(forged), each.address)
    assert not alerts(node.take_events()), "anybody could have written them"
    out = []
    for _ in range(30):
        for each in crowd:
            ping = Ping(0, 0, b"", (each.heartbeat(town.now),))
            out += node.receive(town.now, each.packet(mine, ping, size=PACKET_LIMIT), each.address)
            town.steady += 0.05
    events = alerts(node.take_events())
    assert 1 <= len(events) <= 30.0 / 5.0 + 1 and all(event.contact is None for event in events)
    assert all(node.members.find(peer) is None for peer in blocked)
    bodies = [decode_body(decode_packet(data)) for data, _ in out]
    assert all(isinstance(body, Pong) and not body.heartbeats for body in bodies), "nothing about others"
    old = Attacker(crowd[0].identity, crowd[0].address, version=0)
    assert not node.receive(town.now, old.packet(mine, Ping(0, 0, b"", ())), old.address)
