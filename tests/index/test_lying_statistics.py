"""A member that makes up its statistics changes no answer where two others hold the same slots, and is asked no more;
where one other does, the answer says that it is in doubt."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import index_corpus as corpus
import msgspec
import pytest
from index_network import QueryNode, World, loop_clock

from crawl import signature
from dht import Message, NodeId
from dht.audit.sampling import FIRST, Topic
from index.asking.two_phase_search import CONFIRM_S
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.results.oracle import SearchOracle
from index.shard.messages import AskStatistics, StatisticsAnswer

pytestmark = pytest.mark.virtual_time
QUERY = "run OR the OR walk"
Handler = Callable[[NodeId, Message], Awaitable[Message]]


def endless(answer: Message) -> Message:
    """More documents than any network has."""
    if isinstance(answer, StatisticsAnswer):
        return msgspec.structs.replace(answer, documents=(1 << 48,) * len(answer.slots))
    return answer


def many(answer: Message) -> Message:
    """So many that the sum can still be told, in copies that nobody else has."""
    if isinstance(answer, StatisticsAnswer):
        slots = len(answer.slots)
        return msgspec.structs.replace(
            answer, documents=(1 << 40,) * slots, fingerprints=(b"other" + bytes(27),) * slots
        )
    return answer


def rare(answer: Message) -> Message:
    """The same copies, and one leaf in no document."""
    if isinstance(answer, StatisticsAnswer) and len(answer.df) > 1:
        return msgspec.structs.replace(answer, df=((0,) * len(answer.slots), *answer.df[1:]))
    return answer


def misspelled(answer: Message) -> Message:
    """Whatever is typed is written nowhere, and every other spelling in all documents."""
    if isinstance(answer, StatisticsAnswer):
        rows = tuple(answer.documents for _ in answer.spellings)
        return msgspec.structs.replace(answer, spellings=rows)
    return answer


async def made(replicas: int) -> World:
    world = World(random.Random(21), 5, replicas, IndexConfig(engine="memory", commit_s=0.0))
    await world.put(corpus.web(random.Random(22), 60))
    return world


async def found(node: QueryNode) -> tuple[list[str], list[float], dict[str, object]]:
    answer = await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
    return [each["url"] for each in answer["results"]], [each["score"] for each in answer["results"]], answer


@pytest.mark.parametrize("lie", [endless, many, rare])
async def test_two_others_refute_a_liar_at_once(lie: Callable[[Message], Message]) -> None:
    world = await made(3)
    try:
        liar = world.nodes[2]
        world.network.lies[liar.id] = lie
        wanted = SearchOracle(list(world.store.values()), signature).search(QUERY).hits[:10]
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
        told = [told for node in world.nodes for told in node.searcher.audit.refutations()]
        assert {each.is_behind for each in told} == {lie is many}, "other copies may be late: a minute at first"
    finally:
        await world.close()


async def test_a_busy_third_is_waited_for_where_two_say_unlike_things() -> None:
    """All take a moment at first; whoever is asked after two rounds takes longer than a confirmation may."""
    world = await made(3)
    try:
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
    finally:
        await world.close()


async def test_spellings_are_compared_and_older_software_that_counts_none_is_no_liar() -> None:
    for lie in (misspelled, lambda answer: msgspec.structs.replace(answer, spellings=())
                if isinstance(answer, StatisticsAnswer) else answer):  # fmt: skip
        world = await made(3)
        try:
            liar, typed, touched = world.nodes[2], "runn dogz pythom", 0
            wanted = (await world.nodes[1].searcher.search(SearchRequest(typed)))["corrections"]
            world.network.lies[liar.id] = lie
            for node in world.nodes[:2] + world.nodes[3:]:
                for _ in range(5):
                    answer = await node.searcher.search(SearchRequest(typed, deadline_ms=20_000))
                asked = any(peer == liar.id for peer, _ in world.network.asked)
                touched += asked
                assert liar.id in node.searcher.audit.refuted() or lie is not misspelled or not asked
                assert lie is misspelled or not node.searcher.audit.refuted()
            assert touched and answer["corrections"] == wanted
        finally:
            await world.close()


async def test_one_against_one_is_a_doubt_that_names_both() -> None:
    world = await made(2)
    try:
        liar = world.nodes[2]
        world.network.lies[liar.id] = many
        wanted = SearchOracle(list(world.store.values()), signature).search(QUERY).hits[:10]
        urls, _, answer = await found(world.nodes[0])
        assert urls == [hit.text.url for hit in wanted], "the smaller number counts"
        reasons = {each["reason"]: each["peers"] for each in answer["why"]}
        assert not answer["exact"] and liar.id.hex() in reasons["disputed"]
    finally:
        await world.close()


async def test_peers_that_agreed_often_are_asked_once() -> None:
    world = await made(3)
    try:
        node = world.nodes[0]
        counts = []
        for _ in range(2):
            world.network.asked.clear()
            await found(node)
            counts.append(sum(name == "AskStatistics" for peer, name in world.network.asked if peer != node.id))
            for _ in range(3 * FIRST[Topic.STATISTICS]):
                await found(node)
        assert counts[1] < counts[0]
    finally:
        await world.close()
