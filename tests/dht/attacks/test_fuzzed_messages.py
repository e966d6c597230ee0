"""Every message between peers is tried as question and as answer: bent, nested and out of its bounds. The overlay
accepts it as what it is or raises a RemoteError, and the node goes on."""

import asyncio
import math
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import node.process.run_node  # noqa: F401  imports every package, and so every message
from bootstrap import load_network, new_network
from dht import (
    AddressPolicy,
    Clock,
    DhtConfig,
    Endpoint,
    Identity,
    LocalFaults,
    Message,
    NodeId,
    Now,
    OverlayFiles,
    OverlayService,
    OverlaySettings,
    ProtocolEngine,
    RemoteError,
    Strategy,
    StrategyHistory,
)
from dht.messages import Done, GetStrategy
from dht.transport.transport import PeerRefused, Route
from tests.kept_corpus import REMEDY, kept_bad, kept_examples
from tests.wire_examples import example

LIAR = Identity(b"\7" * 32)


def subclasses(kind: type[Message]) -> Iterator[type[Message]]:
    for sub in kind.__subclasses__():
        if sub.__module__.split(".")[0] in ("dht", "store", "index", "node"):
            yield sub
        yield from subclasses(sub)


KINDS = sorted(set(subclasses(Message)), key=lambda kind: kind.__name__)
BY_NAME = {kind.__name__: kind for kind in KINDS}
KEPT = kept_examples("messages")
MADE = {kind.__name__: msgspec.msgpack.encode(example(kind)) for kind in KINDS}
EVIL = [b"\xff", 1 << 63, -1, math.nan, math.inf, None, [], {}, "\x00", b"x" * 9000, [[[]]], [b""] * 70_000]


class Liar:
    """A carrier whose every peer answers `said`; a fake of the `Transport` protocol."""

    said = b""

    async def run(self, answerer: object, find_relayed: object, reach: object, is_member: object) -> None:
        await asyncio.Event().wait()

    def dial(self, peer: NodeId, endpoint: Endpoint, any_port: bool) -> None:
        """Nobody is dialled."""

    async def ask(self, route: Route, name: str, body: bytes, *, timeout_s: float) -> bytes:
        return self.said


class Still:
    """A driver that carries nothing."""

    async def run(self) -> None:
        await asyncio.Event().wait()

    def kick(self) -> None:
        pass


def overlay_of(carrier: Liar) -> OverlayService:
    """An overlay that knows one peer, the liar."""
    clock: Clock = lambda: Now(1_700_000_000.0, 100.0)  # noqa: E731
    strategy = Strategy(network="", version=1, effective_at=0, next_at=2 * 10**9, expires_at=2 * 10**9)
    network = load_network(new_network("hostile", [Identity(b"\1" * 32)], strategy))
    cores = [
        ProtocolEngine(
            identity, bytes.fromhex(network.id), DhtConfig(), Random(1), listening=(where,), policy=AddressPolicy()
        )
        for identity, where in (
            (Identity(b"\2" * 32), Endpoint("11.0.0.1", 1, 1)),
            (LIAR, Endpoint("12.0.0.1", 1, 1)),
        )
    ]
    cores[1].poll(clock())
    cores[0].remember(clock(), [cores[1].own.raw])
    strategies = StrategyHistory(network)
    settings = OverlaySettings((Endpoint("11.0.0.1", 1, 1),))
    files = OverlayFiles(None, ThreadPoolExecutor(1), LocalFaults(clock))
    return OverlayService(settings, cores[0], lambda _: Still(), carrier, strategies, clock, files)


CARRIER = Liar()
OVERLAY = overlay_of(CARRIER)


async def echo(asker: NodeId, message: Message) -> Message:
    return message


for served in KINDS:
    if served is not GetStrategy:
        OVERLAY.serve(served, echo)


def both_ways(kind: type[Message], body: bytes) -> None:
    """Take the bytes as an answer and as a question; anything but a message or a RemoteError fails the test."""
    CARRIER.said = body

    async def story() -> None:
        with suppress(RemoteError):
            assert isinstance(await OVERLAY.ask(LIAR.node_id, Done(), kind, timeout_s=1.0), kind)
        with suppress(RemoteError):
            await OVERLAY._messenger.answer(LIAR.node_id, kind.__name__, body, "12.0.0.1")

    asyncio.run(story())


def test_of_every_message_an_example_is_kept_that_is_read_today() -> None:
    assert sorted(BY_NAME.keys() - KEPT.keys()) == [], REMEDY
    for name, data in KEPT.items():
        msgspec.msgpack.decode(data, type=BY_NAME[name])


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_nesting_bad_text_and_bad_numbers(name: str) -> None:
    """In what is kept, and in the fields that came after it was."""
    kind, kept, made = BY_NAME[name], *(msgspec.msgpack.decode(each[name]) for each in (KEPT, MADE))
    fields: list[Any] = [*kept, *made[len(kept) :]]
    good = msgspec.msgpack.encode(fields)
    both_ways(kind, b"\x91" * 200_000)
    both_ways(kind, b"\xdc\xff\xff")
    both_ways(kind, good + b"\x00")
    for n in range(len(fields)):
        for value in EVIL:
            both_ways(kind, msgspec.msgpack.encode([*fields[:n], value, *fields[n + 1 :]]))
        head = b"".join(msgspec.msgpack.encode(f) for f in fields[:n])
        for raw in (b"\xa2\xff\xfe", b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xcb" + struct.pack(">d", math.nan)):
            both_ways(kind, bytes([0x90 + len(fields)]) + head + raw)
    both_ways(kind, bytes([0x91 + len(fields)]) + good[1:] + b"\x91" * 100_000)


@pytest.mark.parametrize("name", kept_bad("messages"))
def test_a_kept_bad_message_is_refused_or_taken_for_what_it_is(name: str) -> None:
    both_ways(BY_NAME[name.partition("-")[0]], kept_bad("messages")[name])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_fields_of_any_message_of_any_package(kind: type[Message]) -> None:
    rng = Random(kind.__name__)
    for _ in range(60):
        both_ways(kind, msgspec.msgpack.encode([rng.choice(EVIL[:-1]) for _ in range(rng.randrange(9))]))


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(BY_NAME)), st.sampled_from((KEPT, MADE)), st.data())
def test_bent_messages(name: str, seeds: dict[str, bytes], draw: st.DataObject) -> None:
    bent = bytearray(seeds[name])
    for _ in range(draw.draw(st.integers(1, 5))):
        bent[draw.draw(st.integers(0, len(bent) - 1))] ^= draw.draw(st.integers(1, 255))
    cut = draw.draw(st.integers(0, len(bent))) if draw.draw(st.booleans()) else len(bent)
    both_ways(BY_NAME[name], bytes(bent[:cut]))


def test_a_message_that_nobody_serves_is_refused() -> None:
    with pytest.raises(RemoteError, match="answers no"):
        asyncio.run(OVERLAY._messenger.answer(LIAR.node_id, "Nothing", b"\x90", "12.0.0.1"))
    CARRIER.said = b"\x90"
    assert isinstance(asyncio.run(OVERLAY.ask(LIAR.node_id, Done(), Done, timeout_s=1.0)), Done)
    assert not issubclass(PeerRefused, OSError)
