"""Fetching by others: who is asked, and that nothing strange comes back."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from crawl import AddressDenied, CrawlDecision, FamilyMissing, FetchDeclined, FetchFailed, OperatorBlocklist
from dht import NodeId, PeerTimeout, Slot
from node.crawling.fetch_rules import FetchRules
from node.delegation.fetch_order import ClientAnswer, FetchAnswer, FetchOrder
from node.delegation.routed_fetcher import ClientFetches, RoutedFetcher
from tests.node.delegation.pair import CARRIER, HOLDER, STRANGER, URL, Pair, Web, carrier, decide, ruled


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
    fetcher = RoutedFetcher(Web(missing=True), pair, ruled(), Random(1))  # type: ignore[arg-type]
    with pytest.raises(FamilyMissing):
        await fetcher.fetch(URL, {}, 100)


async def test_a_page_comes_through_a_carrier() -> None:
    pair = Pair()
    carrier(pair)
    fetcher = RoutedFetcher(Web(missing=True), pair, ruled(), Random(1))  # type: ignore[arg-type]
    got = await fetcher.fetch(URL, {}, 20)
    assert (got.status, got.body, got.address) == (200, b"x" * 20, "::1")


class Both(Pair):
    """Holder and carrier own the slot."""

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        return (HOLDER, CARRIER)

    live_owners = owners


async def test_what_a_carrier_brought_from_an_address_that_a_rule_denies_is_not_taken() -> None:
    """A node of an older release passes over rules by address."""
    pair = Pair()
    carrier(pair)
    rules = FetchRules(preferring, lambda _url: False, OperatorBlocklist(()), never)
    fetcher = RoutedFetcher(Web(), pair, rules, Random(1))  # type: ignore[arg-type]
    with pytest.raises(AddressDenied, match="at ::1"):
        await fetcher.fetch(URL, {}, 20)


def never(host: str, address: str) -> AddressDenied | None:
    return AddressDenied(host, address, f"rule 1 denies {host} at {address}")


class Silent(Pair):
    """The named node is live, and no order comes back."""

    asked = 0

    async def ask(self, peer: NodeId, message: Any, answer: type[Any], *, timeout_s: float) -> Any:
        self.asked += 1
        raise PeerTimeout(peer.hex(), timeout_s)


def preferring(url: str) -> CrawlDecision:
    return CrawlDecision(True, min_delay_s=0.02, preferred=CARRIER, rule=2)


def holder(pair: Pair, decide: Any, *refused: str) -> tuple[Web, RoutedFetcher]:
    web = Web()
    return web, RoutedFetcher(web, pair, ruled(decide, *refused), Random(1))  # type: ignore[arg-type]


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


async def test_a_named_member_that_owns_nothing_there_fetches_and_the_holder_where_it_cannot() -> None:
    pair = Pair()
    there = carrier(pair)
    here, fetcher = holder(pair, preferring)
    await fetcher.fetch(URL, {}, 20)
    assert there.asked and not here.asked
    assert fetcher.chosen(URL) == (CARRIER, "rule 2 of the strategy names it")
    pair.told = OperatorBlocklist(("a.test",)).public_hashes
    await fetcher.fetch(URL, {}, 20)
    assert (len(there.asked), len(here.asked)) == (1, 1)
    by, why = fetcher.chosen(URL)
    assert by == HOLDER and why.endswith("which rule 2 names, belongs to an operator who refuses this host")
    pair.told = b""
    pair.gone.add(CARRIER)
    assert "does not answer at present" in fetcher.chosen(URL)[1] and await fetcher.fetch(URL, {}, 20)
    pair.member_ids = (HOLDER,)
    assert "is not a member of this network" in fetcher.chosen(URL)[1] and await fetcher.fetch(URL, {}, 20)
    assert (len(there.asked), len(here.asked)) == (1, 3)


async def test_the_site_rests_after_an_order_that_was_lost_and_the_silent_node_is_left_alone() -> None:
    pair = Silent()
    here, fetcher = holder(pair, preferring)
    began = asyncio.get_running_loop().time()
    await fetcher.fetch(URL, {}, 20)
    assert asyncio.get_running_loop().time() >= began + 0.02, "the order may have been carried out"
    await fetcher.fetch(URL, {}, 20)
    assert (pair.asked, len(here.asked)) == (1, 2)
    assert "did not answer within" in fetcher.chosen(URL)[1]


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
    clients = ClientFetches(client.carry, 1000)
    return RoutedFetcher(web, Pair(), ruled(), Random(1), max_own=max_own, clients=clients)  # type: ignore[arg-type]


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
