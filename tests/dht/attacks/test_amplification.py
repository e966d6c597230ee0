"""A forged source gains nothing: for every kind of packet, bytes out to an address are at most the bytes in from it."""

import pytest

from dht.keys import distance
from dht.wire.contact import Address
from dht.wire.packets import (
    PACKET_LIMIT,
    Find,
    Found,
    Get,
    Got,
    PackedContact,
    PacketKind,
    Ping,
    Pong,
    Put,
    Stored,
    decode_packet,
)
from dht.wire.value_record import sign_record
from tests.dht.attacks.town import NETWORK, PORT, Attacker, Town, host, identity

VICTIM = Address("13.0.0.1", 53)
LIAR = Attacker(identity(99), Address("12.0.0.1", PORT))
TARGET = identity(3).node_id
BODIES = [
    Ping(0, (1 << 32) - 1, b"", ()),
    Pong((b"\1\1\1\1", 1), ()),
    Find(TARGET),
    Found((), b"12345678"),
    Get(TARGET),
    Got((), (), b"12345678"),
    Put(b"12345678", b"record"),
    Stored(True),
]


def full_town() -> Town:
    """Nodes with much to tell: many heartbeats, and records of many authors at one point."""
    town = Town()
    cores = town.settle(20, 20.0)
    for n in range(30, 46):
        record = sign_record(
            identity(n), NETWORK, key=TARGET, sequence=1, expires_at=town.now.wall + 9000, value=bytes(500)
        )
        cores[0].finder.put(town.now, record, lambda *_: None)
        town.run(1.0)
    return town


TOWN = full_town()


@pytest.mark.parametrize("body", BODIES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("size", [0, 200, 500, 900, PACKET_LIMIT])
def test_no_packet_brings_its_source_more_bytes_than_it_has(body: object, size: int) -> None:
    for n, (address, node) in enumerate(TOWN.nodes.items(), 1):
        packet = LIAR.packet(identity(n).public_key, body, size=size)
        TOWN.steady += 0.1
        out = [(d, to) for d, to in node.receive(TOWN.now, packet, VICTIM)]
        assert sum(len(d) for d, to in out if to == VICTIM) <= len(packet), address
        assert sum(to == VICTIM for _, to in out) <= 1


def test_an_unproved_ping_is_answered_within_its_size_and_makes_nobody_call_its_source() -> None:
    node = next(iter(TOWN.nodes.values()))
    body = Ping(0, (1 << 32) - 1, b"", ())
    packet = LIAR.packet(identity(1).public_key, body)[:-16] + bytes(16)
    out = node.receive(TOWN.now, packet, VICTIM)
    assert [to for _, to in out] == [VICTIM]
    assert len(out[0][0]) <= len(packet)
    for _ in range(40):
        TOWN.steady += 0.5
        assert VICTIM not in [to for _, to in node.poll(TOWN.now)]


@pytest.mark.parametrize("ports", [1, 18])
def test_contacts_of_an_answer_that_point_at_a_victim_cost_it_three_packets(ports: int) -> None:
    """A liar answers FIND with 18 friends that all live at the victim, at one port or at many."""
    town = Town()
    node = town.settle(10, 20.0)[0]
    near = sorted(range(200, 1000), key=lambda n: distance(identity(n).node_id, TARGET))[:18]
    forged = tuple(PackedContact(identity(n).public_key, ((bytes((13, 0, 0, 1)), 53 + n % ports, 53),)) for n in near)
    town.hire(LIAR, forged)
    town.run(10.0)
    before = len(town.flights)
    node.finder.find(town.now, TARGET, lambda *_: None)
    town.run(15.0)
    new = town.flights[before:]
    assert [f for f in new if f.target == LIAR.address and decode_packet(f.data).kind == PacketKind.FIND], (
        "the liar was asked"
    )
    lured = [f for f in new if f.target.host == VICTIM.host]
    assert 1 <= len(lured) <= 3
    assert node.refused["too much for a strange host"] > 0


def test_heartbeats_that_name_a_victim_cost_it_a_packet_a_minute_and_node() -> None:
    """Forty members that say that they live at the victim, heard of by everybody and fresh for ever."""
    town = Town()
    nodes = town.settle(6, 10.0)
    before = len(town.flights)
    for minute in range(4):
        for n in range(40):
            liar = Attacker(identity(300 + n), Address(VICTIM.host, 53 + n))
            hello = Ping(0, 0, b"", (liar.heartbeat(town.now),))
            town.throw(liar.packet(identity(1).public_key, hello), LIAR.address, Address(host(1), PORT))
        town.run(60.0)
        assert len(nodes[3].members) > 40, minute
    lured = [f for f in town.flights[before:] if f.target.host == VICTIM.host]
    assert 1 <= len(lured) <= 6 * (3 + 4)
