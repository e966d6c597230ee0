"""Every message between peers, as question and as answer, bent and nested and out of its bounds: the overlay takes it
for what it is or raises a RemoteError, and the node goes on."""

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
    Message,
    NodeId,
    Now,
    OverlayDependencies,
    OverlayService,
    OverlaySettings,
    ProtocolEngine,
    RemoteError,
    Strategy,
    StrategyHistory,
)
from dht.messages import (
    Claim,
    Done,
    GetStrategy,
    LeaseRelease,
    LeaseReply,
    LeaseRequest,
    StrategyChain,
    StrategyDigest,
    Vote,
)
from dht.reachability.autonat import AreYouThere, Probe, ProbeMe, ProbeReply
from dht.transport.transport import PeerRefused, Route
from index.shard.messages import Agreement, AskBest, AskStatistics, BestAnswer, HitRow, StatisticsAnswer
from node.crawling.slot_levels import SlotDigest, SlotDigests
from node.delegation.client_dispatch import Order, OrderBatch, OrderDone, OrderTaken, PollOrders
from node.delegation.fetch_order import FetchAnswer, FetchOrder
from node.jobs.explain import AskAbout, ToldAbout
from node.jobs.seed_publisher import HandSeeds, SeedsTaken
from node.jobs.sitemap_listing import AskListed, ToldListed
from store.record.range_reconciliation import FORM, Range, RangeMode
from store.record.record import Kind
from store.replication.messages import (
    AskGrants,
    FetchRecords,
    FetchReply,
    GrantsReply,
    PutPackage,
    PutReply,
    ReconcileReply,
    ReconcileStep,
    RefusedRecord,
    SlotReport,
    SlotReportReply,
    SlotState,
    Wanted,
    Writing,
)

ID, HASH = b"i" * 20, b"h" * 32
FETCH, FETCHED = (
    FetchOrder("http://a.example/ü", (("if-none-match", "x"),), 1000),
    FetchAnswer(200, (("a", "b"),), b"body", False, 0.5, "9.9.9.9", ""),
)
HIT = HitRow(ID, ID, HASH, b"d" * 16, 1.5, ((1, 0, 0, 2),), (1, 2, 3, 4), 7)
RANGE = Range(b"\xff" * 42, RangeMode.FINGERPRINT, HASH, ())
MESSAGES: list[Message] = [
    Done(),
    GetStrategy(3),
    StrategyChain((b"{}", b"x")),
    LeaseRequest(8, (Claim(1, 2, b"12345678", True),)),
    LeaseReply((Vote(1, False, 9, ID), Vote(2, False, 9, ID, company=((ID, ID), (b"",))))),
    LeaseRelease(8, ((1, 2),)),
    PutPackage(b"package"),
    PutReply((RefusedRecord(0, "why ü"),)),
    FetchRecords((Wanted(Kind.VISIT, ID, ID),), True),
    FetchReply(b"package", (1,), (2,)),
    ReconcileStep(20_000, (RANGE,), FORM),
    ReconcileReply((RANGE,), FORM),
    AskGrants((Writing(ID, ID, 1, 2),)),
    GrantsReply(()),
    SlotReport(8, (1, 2)),
    SlotReportReply((SlotState(1, 2, 3, HASH, True),)),
    AskStatistics(1, 8, (1, 2), "query ü", "en", "site", ("word",)),
    StatisticsAnswer((1,), (5,), ((1, 2, 3, 4),), (HASH,), ((1,),), Agreement(3, b"o" * 8, (7,), (1,), True), ((1,),)),
    AskBest(1, 1, 8, (1,), "query", 10, (1, 2, 3, 4), (3,), 10, 100),
    BestAnswer((1,), (2,), (HIT,), True, 0.0),
    FETCH,
    FETCHED,
    PollOrders(3),
    OrderBatch((Order(1, FETCH),), 0.0),
    OrderDone(1, FETCHED),
    OrderTaken(),
    HandSeeds((("http://a.example/ü", 2),), (("*.a.example", True),)),
    AskAbout("http://a.example/ü"),
    AskListed("http://a.example/ü"),
    ToldListed(("http://a.example/ü",)),
    ToldAbout(2, 7, 1.5, True, 3, "unreachable", 10.0, "guard", "paused", True),
    SeedsTaken(),
    StrategyDigest(3, HASH),
    ProbeMe(4, 8091, 8092, (b"abcd",)),
    Probe(ID, "9.9.9.9", 8091, 8092),
    ProbeReply(True, False, "9.9.9.9"),
    AreYouThere(),
    SlotDigests(8, 1.5, 0, (SlotDigest(1, b"f" * 16, b"", 5, (1, 2, 3, 4)),)),
]
LIAR = Identity(b"\7" * 32)


def subclasses(kind: type[Message]) -> Iterator[type[Message]]:
    for sub in kind.__subclasses__():
        if sub.__module__.split(".")[0] in ("dht", "store", "index", "node"):
            yield sub
        yield from subclasses(sub)


KINDS = sorted(set(subclasses(Message)), key=lambda kind: kind.__name__)
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
    settings, files = OverlaySettings((Endpoint("11.0.0.1", 1, 1),)), ThreadPoolExecutor(1)
    return OverlayService(OverlayDependencies(settings, cores[0], lambda _: Still(), carrier, strategies, clock, files))


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


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_nesting_bad_text_and_bad_numbers(message: Message) -> None:
    good = msgspec.msgpack.encode(message)
    fields: list[Any] = msgspec.msgpack.decode(good)
    both_ways(type(message), b"\x91" * 200_000)
    both_ways(type(message), b"\xdc\xff\xff")
    both_ways(type(message), good + b"\x00")
    for n in range(len(fields)):
        for value in EVIL:
            both_ways(type(message), msgspec.msgpack.encode([*fields[:n], value, *fields[n + 1 :]]))
        head = b"".join(msgspec.msgpack.encode(f) for f in fields[:n])
        for raw in (b"\xa2\xff\xfe", b"\x91" * 100_000, b"\xdd\xff\xff\xff\xff", b"\xcb" + struct.pack(">d", math.nan)):
            both_ways(type(message), bytes([0x90 + len(fields)]) + head + raw)
    both_ways(type(message), bytes([0x91 + len(fields)]) + good[1:] + b"\x91" * 100_000)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_any_fields_of_any_message_of_any_package(kind: type[Message]) -> None:
    rng = Random(kind.__name__)
    for _ in range(60):
        both_ways(kind, msgspec.msgpack.encode([rng.choice(EVIL[:-1]) for _ in range(rng.randrange(9))]))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(MESSAGES), st.data())
def test_bent_messages(message: Message, draw: st.DataObject) -> None:
    bent = bytearray(msgspec.msgpack.encode(message))
    for _ in range(draw.draw(st.integers(1, 5))):
        bent[draw.draw(st.integers(0, len(bent) - 1))] ^= draw.draw(st.integers(1, 255))
    both_ways(type(message), bytes(bent[: draw.draw(st.integers(0, len(bent)))] if draw.draw(st.booleans()) else bent))


def test_a_message_that_nobody_serves_is_refused() -> None:
    with pytest.raises(RemoteError, match="answers no"):
        asyncio.run(OVERLAY._messenger.answer(LIAR.node_id, "Nothing", b"\x90", "12.0.0.1"))
    CARRIER.said = b"\x90"
    assert isinstance(asyncio.run(OVERLAY.ask(LIAR.node_id, Done(), Done, timeout_s=1.0)), Done)
    assert not issubclass(PeerRefused, OSError)
