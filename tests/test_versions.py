"""Nodes of two versions in one network: unknown trailing fields and unknown messages of a newer one stop nobody."""

from random import Random
from typing import Any

import msgspec
import pytest

import node.process.run_node  # noqa: F401  imports every package, and so every message
from crawl import Visit
from dht import AddressPolicy, DhtConfig, Endpoint, Identity, Message, Now, ProtocolEngine, RemoteError
from dht.transport.dispatcher import Dispatcher
from dht.wire import packets
from dht.wire.contact import Address
from dht.wire.heartbeat import DOMAIN, Heartbeat, open_heartbeat
from dht.wire.packets import HEADER, PacketKind
from dht.wire.value_record import ValueRecord
from node.extras.simulation.everybody import trust_everybody
from store import Document, HostRecord
from tests.wire_examples import example

FUTURE = ("of the future", 7, [None], {"a": 1.5})
NOW = Now(1_700_000_000.0, 100.0)
NETWORK = b"n" * 20


def subclasses(kind: type[Message]) -> set[type[Message]]:
    ours = (
        each for each in kind.__subclasses__() if each.__module__.split(".")[0] in ("dht", "store", "index", "node")
    )
    return {found for each in ours for found in ({each} | subclasses(each))}


OTHERS = (*packets._BODIES, Heartbeat, ValueRecord, Document, HostRecord, Visit)
KINDS: dict[str, type[msgspec.Struct]] = {kind.__name__: kind for kind in (*subclasses(Message), *OTHERS)}


@pytest.mark.parametrize("name", sorted(KINDS))
def test_what_a_newer_version_adds_is_passed_over(name: str) -> None:
    """Items behind the known ones, in a message and in everything inside it."""
    plain, future = (msgspec.msgpack.encode(example(KINDS[name], extra)) for extra in ((), FUTURE))
    assert msgspec.msgpack.decode(future, type=KINDS[name]) == msgspec.msgpack.decode(plain, type=KINDS[name])


async def test_a_message_that_an_older_node_does_not_know_is_refused_by_name() -> None:
    """The asking node gets a RemoteError with the reason, as from a busy peer; nothing else happens."""
    with pytest.raises(RemoteError, match="answers no HowIsTheWeather"):
        await Dispatcher().answer(b"i" * 20, "HowIsTheWeather", b"\x90", "12.0.0.1")  # type: ignore[arg-type]


def test_a_heartbeat_of_the_future_is_verified_and_passed_on_byte_for_byte() -> None:
    author, engine = Identity(b"\2" * 32), _engine(1)
    raw = _future_heartbeat(author)
    opened = open_heartbeat(raw, NOW, NETWORK, AddressPolicy())
    assert (opened.raw, opened.heartbeat.operator) == (raw, "somebody")
    engine.remember(NOW, [raw])
    known = engine.members.find(author.node_id)
    assert known is not None and known.opened.raw == raw, "gossip hands on what it got"


def test_packets_of_the_future_cost_a_count_and_nothing_else() -> None:
    """An unknown kind gets no answer; a known one with more in it is answered."""
    one, two = _engine(1), _engine(2)
    packet = _ping(two, FUTURE)
    unknown = packet[:1] + bytes([99]) + packet[2:]
    source = Address("12.0.0.2", 2)
    for _ in range(20):
        assert _answers(one, unknown, source) == []
    assert _answers(one, packet, source) == [PacketKind.PONG]


def _engine(number: int) -> ProtocolEngine:
    where = Endpoint(f"12.0.0.{number}", number, number)
    identity = Identity(bytes([number]) * 32)
    engine = ProtocolEngine(identity, NETWORK, DhtConfig(), Random(number), listening=(where,), policy=AddressPolicy())
    trust_everybody(engine)
    engine.poll(NOW)
    return engine


def _future_heartbeat(author: Identity) -> bytes:
    endpoint = (bytes([12, 0, 0, 2]), 2, 2)
    plain = Heartbeat(author.public_key, 1_700_000_000, NOW.wall, NOW.wall + 600, (endpoint,), operator="somebody")
    body = msgspec.msgpack.encode([*msgspec.msgpack.decode(msgspec.msgpack.encode(plain)), *FUTURE])
    return author.sign(DOMAIN + NETWORK, body) + body


def _ping(sender: ProtocolEngine, extra: tuple[Any, ...]) -> bytes:
    """A PING of engine 2 to engine 1, with more in its body."""
    identity, header = Identity(bytes([2]) * 32), sender.rules.header
    body = msgspec.msgpack.encode([0, (1 << 32) - 1, b"", [sender.own.raw], b"", *extra])
    start = HEADER.pack(packets.VERSION, PacketKind.PING, header.network, b"transact", identity.public_key,
                        header.strategy_version, header.strategy_digest, len(body))  # fmt: skip
    data = (start + body).ljust(1100, b"\0")
    return data + packets._mac(identity.shared_key(Identity(bytes([1]) * 32).public_key), data)


def _answers(engine: ProtocolEngine, data: bytes, source: Address) -> list[PacketKind]:
    """The kinds of the answers to one packet."""
    kinds = [packets.decode_packet(data_sent).kind for data_sent, *_ in engine.receive(NOW, data, source)]
    return [kind for kind in kinds if kind.is_answer]
