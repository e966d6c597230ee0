"""A member that leaves documents out of its answers, or counts them wrongly, is found out. Others are asked the same
after the user has an answer. Honest copies that are a little behind are left in peace."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace

import index_corpus as corpus
import msgspec
import pytest
from index_network import QueryNode, World, lie, loop_clock

from dht import Message, NodeId
from dht.audit.sampling import FIRST, Topic
from index.asking.hit_audit import YOUNG_S
from index.change_feed import DocumentChange
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.shard.messages import BestAnswer

QUERY = "run OR the OR walk"
FOUND_WITHIN = 4  # queries of one asker
Make = Callable[..., Awaitable[World]]
CONFIG = IndexConfig(engine="memory", commit_s=0.0)
pytestmark = pytest.mark.virtual_time  # who is quick, and so is asked, hangs on the test, not on the machine's load


def nothing_at_all(answer: BestAnswer) -> dict[str, object]:
    return {"hits": (), "counts": (0,) * len(answer.slots), "complete": True, "bound": 0.0, "hosts": ()}


def one_digest(answer: BestAnswer) -> dict[str, object]:
    """All are said to be copies of each other, so that one alone is shown of a host."""
    return {"hits": tuple(msgspec.structs.replace(hit, digest=bytes(16)) for hit in answer.hits)}


best_left_out = lie(BestAnswer, lambda answer: {"hits": answer.hits[(len(answer.hits) + 1) // 2 :]})
nothing_there, copies_of_one = lie(BestAnswer, nothing_at_all), lie(BestAnswer, one_digest)
miscounted = lie(BestAnswer, lambda answer: {"counts": tuple(count + 7 for count in answer.counts)})
others_may_follow = lie(BestAnswer, lambda answer: {"hits": answer.hits[1:], "complete": False, "bound": 1e6})


@pytest.fixture
def made(make_world: Callable[..., World]) -> Make:
    async def make(replicas: int = 3, config: IndexConfig = CONFIG) -> World:
        world = make_world(random.Random(31), 5, replicas, config)
        await world.put(corpus.web(random.Random(32), 80))
        await asyncio.sleep(2 * YOUNG_S)  # what has no time of writing is old by now
        return world

    return make


async def ask(node: QueryNode) -> tuple[list[str], int]:
    """Ask as a user, and let what follows happen."""
    answer = await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
    await node.searcher.audit.checks.run_waiting()
    return [each["url"] for each in answer["results"]], answer["total"]


def refuted(node: QueryNode) -> frozenset[NodeId]:
    return node.searcher.audit.refuted()


@pytest.mark.parametrize(
    ("told", "within"),
    [
        (best_left_out, FOUND_WITHIN),
        (others_may_follow, FOUND_WITHIN),
        (nothing_there, FOUND_WITHIN),
        (copies_of_one, FOUND_WITHIN),
        (miscounted, 80),  # each time that it is the one chosen is a strike, and eight count
    ],
)
async def test_who_stands_alone_against_two_others_is_asked_no_more(
    made: Make, told: Callable[[Message], Message], within: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dht.audit.peer_audit.STRIKE_EVERY_S", 0.0)
    world = await made()
    liar = world.nodes[2]
    world.network.lies[liar.id] = told
    wanted, found = world.sought(QUERY), 0
    for node in world.nodes:
        if node is liar:
            continue
        world.network.asked.clear()
        for _ in range(within):
            await ask(node)
            if refuted(node):
                break
        if (liar.id, "AskBest") not in world.network.asked:
            continue  # others have all that this one needs
        found += 1
        assert refuted(node) == {liar.id}, "the liar and nobody else"
        world.network.asked.clear()
        urls, total = await ask(node)
        assert urls == [hit.text.url for hit in wanted.hits[:10]] and total == wanted.total
        assert not any(peer == liar.id for peer, _ in world.network.asked), "who was refuted is left alone"
        (strike,) = node.searcher.audit.refutations()
        assert strike.peer == liar.id and strike.topic == Topic.HITS and strike.reason
    assert found >= 2


async def test_what_a_peer_may_have_left_out_is_asked_of_another(made: Make) -> None:
    world = await made()
    world.network.lies[world.nodes[2].id] = others_may_follow
    wanted = world.sought(QUERY)
    for node in world.nodes[:2] + world.nodes[3:]:
        for _ in range(FOUND_WITHIN):
            answer = await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
            assert [each["url"] for each in answer["results"]] == [hit.text.url for hit in wanted.hits[:10]]
            assert answer["exact"], answer["why"]


async def test_who_honestly_looks_at_few_candidates_is_left_in_peace(made: Make) -> None:
    world = await made(config=replace(CONFIG, first_depth=1, max_depth=2))
    for node in world.nodes:
        for _ in range(3 * FOUND_WITHIN):
            await ask(node)
        assert refuted(node) == set()


async def test_where_one_other_holds_a_slot_nobody_is_judged(made: Make) -> None:
    world = await made(replicas=2)
    world.network.lies[world.nodes[2].id] = best_left_out
    for node in world.nodes:
        for _ in range(FOUND_WITHIN):
            await ask(node)
        assert refuted(node) <= {world.nodes[2].id} and refuted(world.nodes[0]) == set()


async def with_a_late_one(made: Make, written_s_ago: float, *, says_so: bool) -> tuple[QueryNode, QueryNode]:
    """Return an asker, and a node whose index has none of the newest documents, after some queries."""
    world = await made()
    node, late = world.nodes[0], world.nodes[2]
    if says_so:
        world.network.behind.add(late.id)
    for text in corpus.web(random.Random(33), 120)[80:]:
        world.store[text.id] = text = replace(text, written_at=loop_clock().wall - written_s_ago)
        for each in world.team(text):
            if each is not late:
                each.feed.put(DocumentChange(text.id, text))
    await world.settle()
    for _ in range(FOUND_WITHIN):
        await ask(node)
    return node, late


@pytest.mark.parametrize("says_so", [True, False])
async def test_who_is_behind_is_left_alone_briefly_where_it_says_so(made: Make, says_so: bool) -> None:
    node, late = await with_a_late_one(made, 2 * YOUNG_S, says_so=says_so)
    assert refuted(node) == {late.id}
    assert [told.is_behind for told in node.searcher.audit.refutations()] == [says_so]


async def test_what_was_just_written_may_be_on_its_way(made: Make) -> None:
    node, _ = await with_a_late_one(made, 0.0, says_so=False)
    assert refuted(node) == set()


async def test_honest_peers_are_asked_twice_at_first_and_seldom_after(made: Make) -> None:
    """So is who takes the place of a peer that became slow, and is new to the asker."""
    world = await made()
    node = world.nodes[0]
    first, after = [await questions_to_others(world) for _ in range(2)]
    assert after < 0.75 * first
    others, asked = world.network.peers.keys() - {node.id}, world.network.asked
    (used,) = [peer for peer in others if asked.count((peer, "AskBest")) >= FIRST[Topic.HITS]]
    world.network.slow_s[used] = 0.2
    first, _, after = [await questions_to_others(world) for _ in range(3)]
    assert after < 0.75 * first
    assert refuted(node) == set()


async def questions_to_others(world: World) -> int:
    """Return how many questions some queries of the first node lead to."""
    node = world.nodes[0]
    world.network.asked.clear()
    for _ in range(FIRST[Topic.HITS]):
        await ask(node)
    return sum(name == "AskBest" for peer, name in world.network.asked if peer != node.id)
