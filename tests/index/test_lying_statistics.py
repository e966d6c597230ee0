"""A member that makes up its statistics changes no answer where two others hold the same slots, and is asked no more.
Where only one other holds them, the answer reports the doubt."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import index_corpus as corpus
import pytest
from index_network import QueryNode, World, lie, loop_clock

from dht import Message, NodeId
from dht.audit.sampling import FIRST, Topic
from index.asking.two_phase_search import CONFIRM_S
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.shard.messages import AskStatistics, StatisticsAnswer

pytestmark = pytest.mark.virtual_time
QUERY = "run OR the OR walk"
Make = Callable[[int], Awaitable[World]]
Handler = Callable[[NodeId, Message], Awaitable[Message]]


def many_elsewhere(answer: StatisticsAnswer) -> dict[str, object]:
    """So many that the sum can still be told, in copies that nobody else has."""
    slots = len(answer.slots)
    return {"documents": (1 << 40,) * slots, "fingerprints": (b"other" + bytes(27),) * slots}


def one_is_rare(answer: StatisticsAnswer) -> dict[str, object]:
    """The same copies, and one leaf in no document."""
    return {"df": ((0,) * len(answer.slots), *answer.df[1:])} if len(answer.df) > 1 else {}


endless = lie(StatisticsAnswer, lambda answer: {"documents": (1 << 48,) * len(answer.slots)})
many, rare = lie(StatisticsAnswer, many_elsewhere), lie(StatisticsAnswer, one_is_rare)


@pytest.fixture
def made(make_world: Callable[..., World]) -> Callable[[int], Awaitable[World]]:
    async def make(replicas: int) -> World:
        world = make_world(random.Random(21), 5, replicas, IndexConfig(engine="memory", commit_s=0.0))
        await world.put(corpus.web(random.Random(22), 60))
        return world

    return make


async def found(node: QueryNode) -> tuple[list[str], list[float], dict[str, object]]:
    answer = await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
    return [each["url"] for each in answer["results"]], [each["score"] for each in answer["results"]], answer


@pytest.mark.parametrize("told", [endless, many, rare])
async def test_two_others_refute_a_liar_at_once(made: Make, told: Callable[[Message], Message]) -> None:
    world = await made(3)
    liar = world.nodes[2]
    world.network.lies[liar.id] = told
    wanted = world.sought(QUERY).hits[:10]
    for node in world.nodes:
        if node is liar:
            continue
        for _ in range(3):
            urls, scores, answer = await found(node)
            assert urls == [hit.text.url for hit in wanted]
            assert scores == [hit.scored.score for hit in wanted]
            assert answer["exact"], answer["why"]
        world.network.asked.clear()
        await found(node)
        assert not any(peer == liar.id for peer, _ in world.network.asked), "who was refuted is left alone"
    refuted = [each for node in world.nodes for each in node.searcher.audit.refutations()]
    assert {each.is_behind for each in refuted} == {told is many}, "other copies may be late: a minute at first"


async def test_a_busy_third_is_waited_for_where_two_say_unlike_things(made: Make) -> None:
    """All take a moment at first; whoever is asked after two rounds takes longer than a confirmation may."""
    world = await made(3)
    world.network.lies[world.nodes[2].id] = endless
    moment_s, began = CONFIRM_S / 4, loop_clock().steady
    for node in world.nodes:

        def slowed(answer: Handler) -> Handler:
            async def slow(sender: NodeId, message: Message) -> Message:
                is_third = loop_clock().steady - began > 1.5 * moment_s
                await asyncio.sleep(3 * CONFIRM_S if is_third else moment_s)
                return await answer(sender, message)

            return slow

        node.overlay.handlers[AskStatistics] = slowed(node.overlay.handlers[AskStatistics])
    _, _, answer = await found(world.nodes[0])
    assert answer["exact"], answer["why"]
    assert [each.peer for each in world.nodes[0].searcher.audit.refutations()] == [world.nodes[2].id]


async def test_one_against_one_is_a_doubt_that_names_both(made: Make) -> None:
    world = await made(2)
    liar = world.nodes[2]
    world.network.lies[liar.id] = many
    wanted = world.sought(QUERY).hits[:10]
    urls, _, answer = await found(world.nodes[0])
    assert urls == [hit.text.url for hit in wanted], "the smaller number counts"
    reasons = {each["reason"]: each["peers"] for each in answer["why"]}
    assert not answer["exact"] and liar.id.hex() in reasons["disputed"]


async def test_peers_that_agreed_often_are_asked_once(made: Make) -> None:
    world = await made(3)
    node = world.nodes[0]
    counts = []
    for _ in range(2):
        world.network.asked.clear()
        await found(node)
        counts.append(sum(name == "AskStatistics" for peer, name in world.network.asked if peer != node.id))
        for _ in range(3 * FIRST[Topic.STATISTICS]):
            await found(node)
    assert counts[1] < counts[0]
