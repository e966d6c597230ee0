"""Every packet of a running network is bent in every way, under a wrong MAC and under a right one. Nothing raises, and
no answer is longer than its question. Refused packets are counted, and stored state stays bounded."""

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.protocol.engine import ProtocolEngine
from dht.wire.contact import Address, Contact
from dht.wire.packets import (
    _DECODERS,
    HEADER,
    PACKET_LIMIT,
    AskedMessage,
    Packet,
    PacketKind,
    Ping,
    ToldMessage,
    Verdict,
    _mac,
    decode_packet,
)
from dht.wire.value_record import sign_record
from tests.dht.attacks.town import NETWORK, Attacker, Flight, Town, identity
from tests.kept_corpus import REMEDY, kept_bad, kept_examples

LIAR = Attacker(identity(99), Address("12.0.0.1", 8091))
STRANGER = Address("12.0.1.1", 4000)


def lived_in() -> tuple[Town, list[Flight]]:
    """A network in which every kind of packet has flown."""
    town = Town()
    cores = town.settle(8, 15.0)
    record = sign_record(
        identity(1), NETWORK, key=cores[2].node_id, sequence=1, expires_at=town.now.wall + 9000, value=b"v"
    )
    cores[0].finder.put(town.now, record, lambda *_: None)
    town.run(2.0)
    cores[5].finder.get(town.now, cores[2].node_id, lambda *_: None)
    town.run(2.0)
    cores[7].introductions.register_with((cores[0].node_id,))
    cores[7].own.introduced_by((cores[0].node_id,))
    town.run(20.0)
    cores[3].introductions.reach(town.now, Contact(cores[7].node_id, cores[7].own.endpoints(), (cores[0].node_id,)), 80)
    asked = AskedMessage(town.now.wall, "Anything", b"what is asked")
    answers(cores[4])
    there = Contact(cores[4].node_id, cores[4].own.endpoints())
    assert cores[6].ask_in_packets(town.now, there, asked, lambda told: None, lambda: None)
    town.run(2.0)
    return town, town.flights


def answers(core: ProtocolEngine) -> None:
    """Have a node answer what it is asked in packets, at length."""
    told = ToldMessage(Verdict.ANSWERED, bytes(20_000))
    core.answers.serve = lambda asked: core.answers.tell(asked, told)


TOWN, FLIGHTS = lived_in()
FLOWN = {kind.name: next(f.data for f in FLIGHTS if decode_packet(f.data).kind is kind) for kind in PacketKind}
KEPT = kept_examples("packets")
SAMPLES = [*FLOWN.values(), *KEPT.values()]


def test_every_kind_of_packet_has_flown_and_is_kept_and_a_kept_one_is_read_today() -> None:
    assert sorted(PacketKind.__members__.keys() - KEPT.keys()) == [], REMEDY
    assert [decode_packet(data).kind.name for data in SAMPLES] == [*FLOWN, *KEPT]
    for data in KEPT.values():
        packet = decode_packet(data)
        _DECODERS[packet.kind].decode(packet.body)


def fresh() -> tuple[Town, ProtocolEngine, Address]:
    """A node with questions open, in the same network."""
    town = Town()
    town.settle(3, 3.0)
    address = list(town.nodes)[1]
    town.nodes[address].finder.find(town.now, bytes(20), lambda *_: None)
    answers(town.nodes[address])
    return town, town.nodes[address], address


PLACE, NODE, _ = fresh()
KEY = identity(2).public_key


def deliver(data: bytes, source: Address = STRANGER) -> None:
    """Hand over one packet; its answers are never more bytes than it has, nor sent anywhere but back."""
    PLACE.steady += 1.0  # so that rate limits do not hide what lies behind them
    before = NODE.refused.total()
    NODE.poll(PLACE.now)
    answers = NODE.receive(PLACE.now, data, source)
    back = [d for d, target in answers if target == source]
    assert sum(map(len, back)) <= len(data)
    assert NODE.refused.total() - before <= 17, "one reason a packet, and one a heartbeat in it"
    NODE.poll(PLACE.now)
    assert len(NODE.members) + len(NODE.routing) <= 8, "three friends and the liar, whatever it sends"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(SAMPLES), st.data())
def test_bent_packets(data: bytes, draw: st.DataObject) -> None:
    bent = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 6))):
        at = draw.draw(st.integers(0, len(bent) - 1)) if bent else 0
        match draw.draw(st.sampled_from(("flip", "cut", "drop", "repeat"))):
            case "flip" if bent:
                bent[at] ^= draw.draw(st.integers(1, 255))
            case "cut":
                del bent[at:]
            case "drop":
                del bent[at : at + draw.draw(st.integers(1, 8))]
            case _:
                bent[at:at] = bent[at : at + draw.draw(st.integers(1, 64))]
    deliver(bytes(bent))


@pytest.mark.parametrize("kind", list(PacketKind))
def test_truncated_and_oversized_packets_are_refused(kind: PacketKind) -> None:
    data = FLOWN[kind.name]
    before = NODE.refused.total()
    for size in (*range(0, len(data), 37), len(data) - 1):
        deliver(data[:size])
    deliver(data.ljust(PACKET_LIMIT + 1, b"\0"))
    assert NODE.refused["malformed"] > 0
    assert NODE.refused.total() >= before + 3


NUMBERS = st.integers(-(1 << 63), (1 << 64) - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats() | st.binary(max_size=80) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def sealed(kind: PacketKind, body: bytes, transaction: bytes = b"attacker") -> bytes:
    """Any body under the liar's right MAC."""
    stamp = (NETWORK[:4], transaction, LIAR.identity.public_key, 3, bytes(8))
    data = (HEADER.pack(1, kind, *stamp, len(body)) + body).ljust(PACKET_LIMIT - 16, b"\0")
    return data + _mac(LIAR.identity.shared_key(KEY), data)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from(list(PacketKind)), st.lists(VALUES, max_size=5))
def test_any_values_in_the_body_of_a_member(kind: PacketKind, body: list[object]) -> None:
    deliver(sealed(kind, msgspec.msgpack.encode(body)[:1000]))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.sampled_from(SAMPLES), st.lists(st.tuples(st.integers(0, 1200), st.integers(1, 255)), max_size=4))
def test_bent_bodies_of_a_member(data: bytes, flips: list[tuple[int, int]]) -> None:
    packet = decode_packet(data)
    body = bytearray(packet.body)
    for at, flip in flips:
        body[at % len(body)] ^= flip
    deliver(sealed(packet.kind, bytes(body)))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(VALUES, max_size=4), st.integers(0, 10_000))
def test_any_answer_to_an_open_question(body: list[object], seed: int) -> None:
    """The liar is asked something and answers anything; afterwards the node works as before."""
    town, node, here = fresh()
    told = msgspec.msgpack.encode(body)[:1000]
    rng = Random(seed)

    def answer(_now: object, packet: Packet, source: Address) -> list[tuple[bytes, Address]]:
        if packet.kind.is_answer:
            return []
        kind = rng.choice([packet.kind.answer, packet.kind.answer, PacketKind.STORED])
        return [(sealed(kind, told, packet.transaction), source)]

    town.attackers[LIAR.address] = answer
    town.throw(LIAR.packet(KEY, Ping(0, 0, b"", (LIAR.heartbeat(town.now),))), LIAR.address, here)
    town.run(1.0)
    found: list[int] = []
    node.finder.find(town.now, LIAR.identity.node_id, lambda _, contacts: found.append(len(contacts)))
    town.run(8.0)
    assert found, "the lookup ends whatever the liar says"


@pytest.mark.parametrize("name", kept_bad("packets"))
def test_a_kept_bad_packet_is_refused_and_stops_nobody(name: str) -> None:
    """One unsigned datagram with a bad byte in a text field, or with arrays without end, must not stop a node."""
    before = NODE.refused["heartbeat"]
    deliver(kept_bad("packets")[name])
    assert NODE.refused["heartbeat"] - before == ("heartbeat" in name)
