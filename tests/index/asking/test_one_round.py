"""A query of known words is asked in one round, and finds what two rounds find whatever changed since."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import index_corpus as corpus
import pytest
from index_network import QueryNode, World, lie
from msgspec import structs

from dht.audit.sampling import FIRST, Topic
from index.asking.remembered_statistics import KEPT_S, RememberedStatistics
from index.config import IndexConfig
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.query.search_request import SearchRequest
from index.query.search_rules import NEWEST_RULES
from index.shard.messages import BestAnswer

pytestmark = pytest.mark.virtual_time
QUERY = "run OR the OR walk"
PAUSE_S = 2.0


@pytest.fixture
async def world(make_world: Callable[..., World]) -> World:
    made = make_world(random.Random(21), 5, 3, IndexConfig(engine="memory", commit_s=0.0))
    await made.put(corpus.web(random.Random(22), 60))
    for node in made.nodes:
        for peer in made.nodes:
            for _ in range(FIRST[Topic.STATISTICS]):
                node.searcher.audit.agreed(peer.id, Topic.STATISTICS)
    return made


async def asked(world: World, node: QueryNode, query: str = QUERY) -> Counter[str]:
    """Ask, hold the answer to what looking at every document finds, and tell which questions peers were asked."""
    await asyncio.sleep(PAUSE_S)
    world.network.asked.clear()
    answer = await node.searcher.search(SearchRequest(query, deadline_ms=20_000))
    wanted = world.sought(query)
    assert [each["url"] for each in answer["results"]] == [hit.text.url for hit in wanted.hits[:10]]
    assert [each["score"] for each in answer["results"]] == [hit.scored.score for hit in wanted.hits[:10]]
    assert answer["exact"], answer["why"]
    return Counter(kind for _, kind in world.network.asked)


async def known(world: World, node: QueryNode, query: str = QUERY) -> None:
    for _ in range(2):
        assert (await asked(world, node, query))["AskStatistics"]


def one_is_rare(answer: BestAnswer) -> dict[str, object]:
    """The first leaf in no document, by the sums that come with the best."""
    return {"sums": answer.sums and structs.replace(answer.sums, df=(0, *answer.sums.df[1:]))}


async def test_known_words_take_one_round_and_new_ones_two(world: World) -> None:
    node = world.nodes[0]
    await known(world, node)
    assert not (await asked(world, node))["AskStatistics"]
    assert not (await asked(world, node, "walk"))["AskStatistics"], "its words are known, in whatever query"
    assert (await asked(world, node, "dog OR walk"))["AskStatistics"]


async def test_what_came_meanwhile_is_found_and_counted(world: World) -> None:
    node, new = world.nodes[0], corpus.web(random.Random(23), 20)
    await known(world, node)
    await world.put(new)
    kinds = await asked(world, node)
    assert not kinds["AskStatistics"] and kinds["AskBest"] > 1, "once more by the sums that came with the first answers"
    await world.drop(new)
    await asked(world, node)


async def test_who_is_new_is_asked_for_its_numbers_by_slot(world: World) -> None:
    node = world.nodes[0]
    await known(world, node)
    node.searcher.audit.sampling.forget(world.nodes[1].id)
    assert (await asked(world, node))["AskStatistics"]


async def test_a_silent_peer_costs_no_result(world: World) -> None:
    node = world.nodes[0]
    await known(world, node)
    world.network.silent.add(world.nodes[2].id)
    for _ in range(3):
        await asked(world, node)


async def test_who_brings_other_sums_than_it_counts_is_refuted(world: World) -> None:
    node, liar = world.nodes[0], world.nodes[2]
    await known(world, node)
    world.network.lies[liar.id] = lie(BestAnswer, one_is_rare)
    for _ in range(400):
        await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
        await asyncio.sleep(PAUSE_S)
        if liar.id in node.searcher.audit.refuted():
            break
    (told,) = node.searcher.audit.refutations()
    assert (told.peer, told.topic, told.is_behind) == (liar.id, Topic.STATISTICS, False)
    await asked(world, node)


def test_a_guess_is_made_only_where_it_is_probably_right() -> None:
    memory, query = RememberedStatistics(), parse_query("green tea", "", "", False, NEWEST_RULES)
    some = Statistics(1000, (1, 2, 3, 4), (100,) * len(query.leaves))
    memory.note(query, 16, some, 0.0)
    assert memory.guess(query, 16, 1.0) is None, "seen once: nobody knows how long it lasts"
    memory.note(query, 16, some, 5.0)
    assert memory.guess(query, 16, 9.0) == some
    assert memory.guess(query, 32, 9.0) is None, "another number of slots"
    assert memory.guess(query, 16, 10.5) is None, "it has stayed for five seconds, and nobody looked for longer"
    memory.note(query, 16, some, 200.0)
    assert memory.guess(query, 16, 200.0 + KEPT_S + 1) is None
    other = parse_query("tea", "", "", False, NEWEST_RULES)
    for at in (201.0, 210.0):
        memory.note(other, 16, Statistics(1020, (1, 2, 3, 4), (100,) * len(other.leaves)), at)
    assert memory.guess(other, 16, 211.0) is not None
    assert memory.guess(query, 16, 211.0) is None, "of twenty new documents two hold the other word, as far as is known"
