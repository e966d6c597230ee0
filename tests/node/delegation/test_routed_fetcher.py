"""Fetching for others: only what they may have, only as much as we would take, and nothing strange comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
import pytest

from crawl import CrawlDecision, FamilyMissing, FetchDeclined, Fetched, FetchFailed, OperatorBlocklist
from dht import BadMessage, Contact, Endpoint, Message, NodeId, Slot
from node.delegation.fetch_order import ClientAnswer, FetchAnswer, FetchOrder
from node.delegation.routed_fetcher import RoutedFetcher

HOLDER, CARRIER, STRANGER = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))
URL = "http://a.test/page"


@dataclass
class Web:
    """A fetcher that remembers what it was asked for."""

    missing: bool = False
    failure: FetchFailed | None = None
    asked: list[tuple[str, dict[str, str], int]] = field(default_factory=list)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        if self.missing:
            raise FamilyMissing(url, 6)
        if self.failure is not None:
            raise self.failure
        self.asked.append((url, dict(headers), max_bytes))
        return Fetched(url, 200, (("Content-Type", "text/html"),), b"x" * min(max_bytes, 50), False, 0.1, "::1")


class Pair:
    """Overlay and view of two nodes; the slots are the holder's."""

    told = b""  # what peers tell of hosts that they refuse

    def __init__(self) -> None:
        self.node_id = HOLDER
        self.strategy = type("Strategy", (), {"slot_bits": 4})
        self.handlers: dict[type[Message], Any] = {}
        self.answer: Any = None

    @property
    def view(self) -> "Pair":
        return self

    def serve(self, message: type[Message], handler: Any) -> None:
        self.handlers.setdefault(message, handler)

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (HOLDER,)

    live_owners = owners

    def members(self) -> tuple[NodeId, ...]:
        return (HOLDER, CARRIER)

    def is_live(self, peer: NodeId) -> bool:
        return True

    def refuses(self, peer: NodeId) -> bytes:
        return self.told

    def contact(self, peer: NodeId) -> Contact:
        return Contact(peer, (Endpoint("::1", 1, 1),))

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        given = self.answer or await self.handlers[type(message)](HOLDER, message)
        try:
            return msgspec.msgpack.decode(msgspec.msgpack.encode(given), type=answer)
        except msgspec.ValidationError as error:
            raise BadMessage(peer.hex(), str(error)) from error


def decide(url: str) -> CrawlDecision:
    return CrawlDecision("/secret" not in url and not url.endswith("robots.txt"), "rule 1 of strategy 1")


def carrier(pair: Pair) -> Web:
    web = Web()
    RoutedFetcher(web, pair, decide, 1000, Random(1))  # type: ignore[arg-type]
    return web


async def order(pair: Pair, peer: NodeId = HOLDER, url: str = URL, max_bytes: int = 100, **headers: str) -> FetchAnswer:
    sent = FetchOrder(url, tuple((name.replace("_", "-"), value) for name, value in headers.items()), max_bytes)
    answer: FetchAnswer = await pair.handlers[FetchOrder](peer, sent)
    return answer


async def test_an_order_is_carried_with_validators_and_our_own_bound() -> None:
    pair = Pair()
    web = carrier(pair)
    assert (await order(pair, If_None_Match='"a"', If_Modified_Since="b")).status == 200
    assert web.asked == [(URL, {"If-None-Match": '"a"', "If-Modified-Since": "b"}, 100)]
    await order(pair, max_bytes=1 << 40)
    assert web.asked[-1][2] == 1000
    assert (await order(pair, url="http://a.test/robots.txt")).status == 200


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"peer": STRANGER}, "not its own"),
        ({"url": "http://a.test/secret"}, "rule 1"),
        ({"url": "file:///etc/passwd"}, "canonical"),
        ({"url": "http://A.test/#x"}, "canonical"),
        ({"url": "no url"}, "canonical"),
        ({"Cookie": "a=b"}, "headers"),
        ({"Authorization": "x"}, "headers"),
    ],
)
async def test_other_orders_are_refused(fields: dict[str, Any], reason: str) -> None:
    pair = Pair()
    web = carrier(pair)
    with pytest.raises(BadMessage, match=reason):
        await order(pair, **fields)
    assert not web.asked


@pytest.mark.parametrize(
    "answer",
    [
        FetchAnswer(status=-5),
        FetchAnswer(status=0),
        FetchAnswer(status=200, latency_s=float("nan")),
        FetchAnswer(status=200, latency_s=-1e300),
        FetchAnswer(status=200, headers=(("a", "b"),) * 1000),
        FetchAnswer(status=200, headers=(("a", "b" * 100_000),)),
        FetchAnswer(status=200, address="x" * 1000),
    ],
)
async def test_an_answer_that_no_site_gives_is_none(answer: FetchAnswer) -> None:
    pair = Pair()
    carrier(pair)
    pair.answer = answer
    fetcher = RoutedFetcher(Web(missing=True), pair, decide, 1000, Random(1))  # type: ignore[arg-type]
    with pytest.raises(FetchFailed, match="no peer with that family"):
        await fetcher.fetch(URL, {}, 100)


async def test_a_page_comes_through_a_carrier() -> None:
    pair = Pair()
    carrier(pair)
    fetcher = RoutedFetcher(Web(missing=True), pair, decide, 1000, Random(1))  # type: ignore[arg-type]
    got = await fetcher.fetch(URL, {}, 20)
    assert (got.status, got.body, got.address) == (200, b"x" * 20, "::1")


class Both(Pair):
    """Holder and carrier own the slot."""

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (HOLDER, CARRIER)

    live_owners = owners


def preferring(url: str) -> CrawlDecision:
    return CrawlDecision(True, preferred=CARRIER)


def holder(pair: Pair, decide: Any, *refused: str) -> tuple[Web, RoutedFetcher]:
    web = Web()
    refusals = OperatorBlocklist(refused)
    return web, RoutedFetcher(web, pair, decide, 1000, Random(1), refusals=refusals)  # type: ignore[arg-type]


async def test_the_preferred_owner_makes_the_request_and_this_node_where_it_does_not() -> None:
    pair = Both()
    there = carrier(pair)
    here, fetcher = holder(pair, preferring)
    assert (await fetcher.fetch(URL, {"If-None-Match": "a"}, 20)).address == "::1"
    assert [asked[:2] for asked in there.asked] == [(URL, {"If-None-Match": "a"})] and not here.asked
    pair.answer = FetchAnswer(status=0)  # it is there, and brings nothing
    assert (await fetcher.fetch(URL, {}, 20)).status == 200
    assert len(here.asked) == 1
    pair.answer, there.failure = None, FetchFailed(URL, "time: nothing usable")
    with pytest.raises(FetchFailed) as failed:
        await fetcher.fetch(URL, {}, 20)
    assert failed.value.reason == "time: nothing usable", "as if this node had asked"
    there.failure = None
    pair.answer = FetchAnswer(failure="connection: refused by the site")
    with pytest.raises(FetchFailed, match="refused by the site"):
        await fetcher.fetch(URL, {}, 20)
    assert len(here.asked) == 1, "what failed there is not tried again from here: one crawler, one try"


async def test_a_preferred_peer_that_owns_nothing_there_is_not_asked() -> None:
    pair = Pair()
    there = carrier(pair)
    here, fetcher = holder(pair, preferring)
    await fetcher.fetch(URL, {}, 20)
    assert here.asked and not there.asked


async def test_what_this_node_refuses_another_owner_fetches_or_nobody() -> None:
    pair = Both()
    there = carrier(pair)
    here, fetcher = holder(pair, decide, "a.test")
    assert fetcher.declined(URL) == "" and (await fetcher.fetch(URL, {}, 20)).status == 200
    assert there.asked and not here.asked
    pair.told = OperatorBlocklist(("*.test",)).public_hashes
    assert fetcher.declined(URL).startswith('refused here by crawl.refuse "a.test": no other')
    with pytest.raises(FetchDeclined, match="no other live owner"):
        await fetcher.fetch(URL, {}, 20)
    assert len(there.asked) == 1 and not here.asked
    assert fetcher.declined("http://b.test/") == ""


async def test_an_order_for_what_this_node_refuses_is_not_carried_out() -> None:
    pair = Pair()
    web, _ = holder(pair, decide, "/page/")
    with pytest.raises(BadMessage, match=r'operator refuses: crawl[.]refuse "/page/"'):
        await order(pair)
    assert not web.asked


async def test_a_node_that_rests_carries_nothing_for_others() -> None:
    pair = Pair()
    web, fetcher = holder(pair, decide)
    fetcher.resting = "outside crawl.hours (22:00-07:00); goes on at 22:00"
    with pytest.raises(BadMessage, match=r"a node that rests: outside crawl[.]hours"):
        await order(pair)
    assert not web.asked
    fetcher.resting = ""
    assert (await order(pair)).status == 200


BROUGHT = FetchAnswer(200, body=b"by a client", address="9.9.9.9")


@dataclass
class Waiting:
    """A client that waits; it brings `answer`."""

    answer: FetchAnswer | None = BROUGHT
    asked: list[str] = field(default_factory=list)

    async def carry(self, order: FetchOrder) -> ClientAnswer | None:
        self.asked.append(order.url)
        return ClientAnswer(STRANGER, self.answer) if self.answer else None


def sharing(client: Waiting, web: Web, max_own: int = 10) -> RoutedFetcher:
    return RoutedFetcher(web, Pair(), decide, 1000, Random(1), max_own=max_own, by_client=client.carry)  # type: ignore[arg-type]


async def test_one_page_in_eight_goes_to_a_client_that_waits_and_its_word_for_the_address_is_not_taken() -> None:
    client, web = Waiting(), Web()
    fetcher = sharing(client, web)
    got = [await fetcher.fetch(f"{URL}{n}", {}, 1000) for n in range(32)]
    assert (len(client.asked), len(web.asked)) == (4, 28)
    assert {g.address for g in got if g.body == b"by a client"} == {""}


async def test_rules_are_never_read_by_a_client() -> None:
    client, web = Waiting(), Web()
    fetcher = sharing(client, web)
    for n in range(32):
        await fetcher.fetch("http://a.test/robots.txt", {}, 1000)
        await fetcher.fetch(f"http://a.test/where-robots.txt-led-to-{n}", {}, 500)
    assert not client.asked


@pytest.mark.parametrize("answer", [None, FetchAnswer(failure="no network here"), FetchAnswer(status=7)])
async def test_what_a_client_does_not_bring_is_fetched_by_the_node_itself(answer: FetchAnswer | None) -> None:
    client, web = Waiting(answer), Web()
    fetcher = sharing(client, web)
    got = [await fetcher.fetch(f"{URL}{n}", {}, 1000) for n in range(8)]
    assert len(client.asked) == 1
    assert len(web.asked) == 8 and all(g.body.startswith(b"x") for g in got)


async def test_pages_beyond_the_nodes_own_fetches_go_to_clients() -> None:
    client, web = Waiting(), Web()
    fetcher = sharing(client, web, max_own=1)
    async with fetcher._own:  # as while a fetch of its own is open
        assert (await fetcher.fetch(URL, {}, 1000)).body == b"by a client"
    assert not web.asked
