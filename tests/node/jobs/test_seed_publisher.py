"""Seeds of people: members write them, clients hand them to a member, and strangers share one small rate."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from crawl import CrawlDecision, Visit, VisitState
from dht import BadMessage, Message, NodeId, Now, PeerTimeout, RemoteError, Slot, placement_key
from node.api.crawl import Followed
from node.errors import NotJoined
from node.jobs.cancellation import Cancellation
from node.jobs.seed_publisher import (
    HANDED_DEPTH,
    MAX_SEEDS,
    OWN_BURST,
    RESTED_S,
    SEEDS_BURST,
    HandSeeds,
    SeedPublisher,
    SeedsTaken,
)
from store import TooFewCopies

ME, MEMBER, DEAD = (NodeId(bytes([n]) * 20) for n in (1, 2, 3))


class Node:
    """One node whose seeds are tested; `ask` hands to `other`."""

    def __init__(self, node_id: NodeId, members: list[NodeId], other: "Node | None" = None) -> None:
        self.node_id, self._members, self.other = node_id, members, other
        self.found: list[Visit] = []
        self.handlers: dict[type[Message], Any] = {}
        self.now = 0.0
        self.copies: int | None = None  # that each seed gets; None: enough
        self.known: dict[str, Visit] = {}
        self.outcomes: list[Visit] = []
        self.held: dict[Slot, int] = {}

        def clock() -> Now:
            return Now(self.now, self.now)

        outcomes = Cancellation(self.find, self.record, placement_key, self, clock)  # type: ignore[arg-type]
        self.seeds = SeedPublisher(self.discover, outcomes, self, decide, clock, Random(1))  # type: ignore[arg-type]

    apart, slot_bits = "", 1

    @property
    def strategy(self) -> "Node":
        return self

    def leases(self) -> dict[Slot, int]:
        return self.held

    def announced(self, slot: Slot) -> list[NodeId]:
        return [self.other.node_id] if self.other and slot in self.other.held else []

    async def find(self, urls: Sequence[str]) -> dict[str, Visit]:
        return {url: self.known[url] for url in urls if url in self.known}

    async def record(self, outcomes: Sequence[tuple[Visit, int]]) -> None:
        self.outcomes += [visit for visit, _ in outcomes]

    def why_apart(self) -> str:
        return self.apart

    @property
    def view(self) -> "Node":
        return self

    def members(self) -> list[NodeId]:
        return self._members

    def is_live(self, peer: NodeId) -> bool:
        return True

    def serve(self, message: type[Message], handler: Any) -> None:
        self.handlers[message] = handler

    async def ask(self, peer: NodeId, message: Message, answer: type[Any], *, timeout_s: float) -> Any:
        if peer == DEAD or self.other is None:
            raise PeerTimeout(peer.hex(), timeout_s)
        return await self.other.handlers[type(message)](self.node_id, message)

    async def discover(self, visits: Sequence[Visit]) -> None:
        self.found.extend(visits)
        if self.copies is not None:
            raise TooFewCopies(0, self.copies, 2, 0.5)


def decide(url: str) -> CrawlDecision:
    return CrawlDecision("secret" not in url, "rule 1", max_depth=2 if "shallow" in url else None)


def visits(count: int) -> list[Visit]:
    return [Visit(url=f"http://a.test/{n}", depth=n % 5) for n in range(count)]


async def test_a_member_writes_its_seeds_itself() -> None:
    node = Node(ME, [ME, MEMBER])
    await node.seeds.publish(visits(3))
    assert node.found == visits(3)


async def test_a_client_has_a_member_write_them_though_another_is_dead() -> None:
    member = Node(MEMBER, [MEMBER, DEAD])
    client = Node(ME, [MEMBER, DEAD], member)
    await client.seeds.publish(visits(MAX_SEEDS + 10))
    assert member.found == visits(MAX_SEEDS + 10)
    assert not client.found
    with pytest.raises(PeerTimeout):
        await Node(ME, [DEAD]).seeds.publish(visits(1))


async def test_seeds_that_too_few_owners_keep_are_taken_and_said_to_wait() -> None:
    member = Node(MEMBER, [MEMBER])
    client = Node(ME, [MEMBER], member)
    assert await client.seeds.publish(visits(1))
    member.copies = 1
    assert not await member.seeds.publish(visits(1))
    assert not await client.seeds.publish(visits(1))
    member.copies = 0
    for node in (member, client):
        with pytest.raises(RemoteError):
            await node.seeds.publish(visits(1))


@pytest.mark.parametrize(("url", "reason"), [("http://a.test/secret", "rule 1"), ("file:///x", "canonical")])
async def test_what_is_not_crawled_is_not_taken(url: str, reason: str) -> None:
    member = Node(MEMBER, [MEMBER])
    with pytest.raises(BadMessage, match=reason):
        await Node(ME, [MEMBER], member).seeds.publish([Visit(url=url, depth=1)])
    assert not member.found


async def test_scope_and_sitemaps_reach_the_member_too() -> None:
    member = Node(MEMBER, [MEMBER])
    seeds = [Visit("http://a.test/", 1, scope="*.a.test"), Visit("http://a.test/s.xml", 2, is_sitemap=True)]
    await Node(ME, [MEMBER], member).seeds.publish(seeds)
    assert member.found == seeds
    old = HandSeeds((("http://a.test/", 1), ("http://b.test/", 2)))
    await member.handlers[HandSeeds](ME, old)
    assert member.found[2:] == [Visit("http://a.test/", 1), Visit("http://b.test/", 2)]
    with pytest.raises(BadMessage, match="not as many"):
        await member.handlers[HandSeeds](ME, HandSeeds(old.seeds, (("", False),)))


async def test_strangers_share_one_rate_whatever_they_are_called() -> None:
    member = Node(MEMBER, [MEMBER])
    message = HandSeeds(tuple((v.url, v.depth) for v in visits(MAX_SEEDS)))
    for n in range(int(SEEDS_BURST) // MAX_SEEDS):
        assert await member.handlers[HandSeeds](NodeId(bytes([n]) * 20), message) == SeedsTaken()
    with pytest.raises(BadMessage, match="too many"):
        await member.handlers[HandSeeds](NodeId(b"z" * 20), message)
    member.now = 60.0
    assert await member.handlers[HandSeeds](NodeId(b"z" * 20), message) == SeedsTaken()


async def test_one_stranger_leaves_room_for_the_others() -> None:
    member = Node(MEMBER, [MEMBER])
    message = HandSeeds(tuple((v.url, v.depth) for v in visits(MAX_SEEDS)))
    for _ in range(int(OWN_BURST) // MAX_SEEDS):
        await member.handlers[HandSeeds](NodeId(b"a" * 20), message)
    with pytest.raises(BadMessage, match="too many"):
        await member.handlers[HandSeeds](NodeId(b"a" * 20), message)
    assert await member.handlers[HandSeeds](NodeId(b"b" * 20), message) == SeedsTaken()
    member.now = 60.0
    assert await member.handlers[HandSeeds](NodeId(b"a" * 20), message) == SeedsTaken()


@pytest.mark.parametrize("depth", [HANDED_DEPTH + 1, 1000])
async def test_a_stranger_has_nothing_followed_without_end(depth: int) -> None:
    member = Node(MEMBER, [MEMBER])
    with pytest.raises(BadMessage, match=f"followed {depth} links"):
        await member.handlers[HandSeeds](ME, HandSeeds((("http://b.test/", 0), ("http://a.test/", depth))))
    assert not member.found
    await Node(ME, [MEMBER], member).seeds.publish([Visit("http://a.test/", 5_000)])
    assert [visit.depth for visit in member.found] == [HANDED_DEPTH], "who asks for more gets what there is"


async def test_rules_bound_how_deep_a_seed_of_a_stranger_is_followed() -> None:
    member = Node(MEMBER, [MEMBER])
    await member.handlers[HandSeeds](ME, HandSeeds((("http://shallow.test/", 50), ("http://a.test/", 50))))
    assert [visit.depth for visit in member.found] == [2, 50]


@pytest.mark.parametrize("scope", ["a.test\r\n", "\u202e", "a b"])
async def test_an_odd_scope_is_refused_before_anybody_keeps_it(scope: str) -> None:
    member = Node(MEMBER, [MEMBER])
    with pytest.raises(BadMessage, match="scope"):
        await member.handlers[HandSeeds](ME, HandSeeds((("http://a.test/", 1),), ((scope, False),)))
    assert not member.found


async def test_a_client_takes_none() -> None:
    client = Node(ME, [MEMBER])
    with pytest.raises(BadMessage, match="client"):
        await client.handlers[HandSeeds](MEMBER, HandSeeds((("http://a.test/", 1),)))


async def test_a_node_that_does_not_know_its_network_takes_no_seeds() -> None:
    lost = Node(ME, [ME])
    lost.apart = "nobody answers; say `dse-node network begin`"
    with pytest.raises(NotJoined, match="dse-node network begin"):
        await lost.seeds.publish(visits(1))
    with pytest.raises(BadMessage, match="apart from its network"):
        await lost.handlers[HandSeeds](MEMBER, HandSeeds((("http://a.test/", 0),)))
    assert not lost.found


async def test_known_seeds_are_fetched_again_by_the_holders_of_their_slots_once_in_half_a_day() -> None:
    member = Node(MEMBER, [ME, MEMBER])
    node = Node(ME, [ME, MEMBER], member)
    asked = [Followed(f"http://{n}.test/", 1, f"{n}.test/#/private/") for n in range(8)]
    node.held, member.held = {Slot(0): 1}, {Slot(1): 1}
    for each in (node, member):
        each.known = {seed.url: Visit(seed.url, 0, 0, VisitState.FETCHED, 9e9, visited_at=50.0) for seed in asked}
        each.now = 50.0 + RESTED_S
    assert await node.seeds.fetch_again(asked) == len(node.outcomes)
    here, there = ({visit.url for visit in each.outcomes} for each in (node, member))
    assert here and there and not here & there and here | there == {seed.url for seed in asked}
    assert {(visit.due_at, visit.depth) for visit in member.outcomes} == {(50.0 + RESTED_S, 1)}
    assert {visit.scope for visit in member.outcomes} < {seed.scope for seed in asked}
    assert not member.found, "seeds that are known are not written once more"
    member.outcomes.clear()
    member.now -= 1.0
    await node.seeds.fetch_again(asked)
    assert not member.outcomes, "a stranger could have a page fetched all the time"
    message = HandSeeds(tuple((seed.url, 1) for seed in asked), again=True)
    with pytest.raises(BadMessage, match="does not hold"):
        await member.handlers[HandSeeds](ME, message)
    with pytest.raises(PeerTimeout, match="any holder"):
        await Node(ME, [ME, MEMBER]).seeds.fetch_again(asked)
