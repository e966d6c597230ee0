"""A query of known words is asked in one round, and finds what two rounds find whatever changed since."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable

import index_corpus as corpus
import pytest
from index_network import QueryNode, World, lie
from msgspec import structs

from dht import Message, NodeId, Slot
from dht.audit.sampling import FIRST, Topic
from index.config import IndexConfig
from index.query.collection_statistics import Statistics
from index.query.parser import parse_query
from index.query.remembered_statistics import RememberedStatistics
from index.query.search_request import SearchRequest
from index.query.search_rules import NEWEST_RULES
from index.shard.messages import AskStatistics, BestAnswer

pytestmark = pytest.mark.virtual_time
QUERY = "run OR the OR walk"
RULES = (16, 1)  # slots, and the analyzer


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
    await asyncio.sleep(2.0)
    world.network.asked.clear()
    answer = await node.searcher.search(SearchRequest(query, deadline_ms=20_000))
    wanted = world.sought(query)
    assert [each["url"] for each in answer["results"]] == [hit.text.url for hit in wanted.hits[:10]]
    assert [each["score"] for each in answer["results"]] == [hit.scored.score for hit in wanted.hits[:10]]
    assert answer["exact"], answer["why"]
    return Counter(kind for _, kind in world.network.asked)


def one_is_rare(answer: BestAnswer) -> dict[str, object]:
    """The first leaf in no document, by the sums that come with the best."""
    return {"sums": answer.sums and structs.replace(answer.sums, df=(0, *answer.sums.df[1:]))}


async def test_known_words_take_one_round_and_new_ones_two(world: World) -> None:
    node = world.nodes[0]
    await asked(world, node)
    assert not (await asked(world, node))["AskStatistics"]
    assert not (await asked(world, node, "the OR run"))["AskStatistics"], "its words are known, in whatever query"
    assert (await asked(world, node, "walk"))["AskStatistics"], "it might be a slip"
    assert not (await asked(world, node, "walk"))["AskStatistics"]
    assert (await asked(world, node, "dog OR walk"))["AskStatistics"]


async def test_words_are_learnt_from_what_others_ask(world: World) -> None:
    one, other = world.nodes[:2]
    assert (await asked(world, one, "dog"))["AskStatistics"]
    assert (await asked(world, other, "cat OR run"))["AskStatistics"]
    assert not (await asked(world, one, "cat OR dog"))["AskStatistics"]


async def test_common_words_are_learnt_before_anybody_asks_for_them(world: World) -> None:
    node = world.nodes[0]
    assert (await asked(world, node))["AskStatistics"]
    assert (await asked(world, node, "python OR zebra"))["AskStatistics"]
    await node.searcher.audit.checks.run_waiting()
    assert not (await asked(world, node, "search OR engine"))["AskStatistics"]


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_came_or_went_since_is_found_and_scored_by_what_is_there_now(world: World, seed: int) -> None:
    node, chance, queries = world.nodes[0], random.Random(seed), ["run dog", "walk", "the OR run walk dog", QUERY]
    for query in queries:
        await asked(world, node, query)
    await world.put(corpus.web(random.Random(50 + seed), 300))
    new, rounds = corpus.web(random.Random(23 + seed), 60), Counter[int]()
    for _ in range(12):
        some = chance.sample(new, chance.choice([1, 2, 8, 30]))
        await world.put([text for text in some if text.id not in world.store])
        await world.drop([text for text in some[: len(some) // 3] if text.id in world.store])
        kinds = await asked(world, node, chance.choice(queries))
        assert not kinds["AskStatistics"]
        rounds[kinds["AskBest"]] += 1
    assert rounds.most_common(1)[0][0] <= 3, rounds


async def test_words_that_nothing_held_are_found_once_pages_have_them(world: World) -> None:
    node, texts = world.nodes[0], list(world.store.values())
    await world.drop(texts)
    await asked(world, node)
    await world.put([*texts, *corpus.web(random.Random(5), 300)])
    await asked(world, node)


async def test_who_is_new_is_asked_for_its_numbers_by_slot_and_others_after_it(world: World) -> None:
    node, liar = world.nodes[0], world.nodes[2]
    await asked(world, node)
    for peer in world.nodes:
        node.searcher.audit.sampling.forget(peer.id)
    kinds = await asked(world, node)
    assert kinds["AskStatistics"] and kinds["AskBest"] <= 3, "what was found is scored by what they count"
    world.network.lies[liar.id] = lie(BestAnswer, one_is_rare)
    for _ in range(12):
        await asked(world, node)
    assert liar.id in node.searcher.audit.refuted()


async def test_slots_that_a_new_peer_hands_over_between_its_two_answers_are_asked_of_others(world: World) -> None:
    node, ready = world.nodes[0], world.network.ready
    await asked(world, node)
    for peer in world.nodes:
        node.searcher.audit.sampling.forget(peer.id)
    moved = set[Slot]()

    def hand_over(peer: NodeId, message: Message) -> None:
        for slot in message.slots if isinstance(message, AskStatistics) and peer != node.id else ():
            if not moved:
                moved.add(slot)
                ready[slot] = [each for each in ready[slot] if each != peer]

    world.network.before = hand_over
    answer = await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
    assert moved and answer["coverage"]["answered"] == answer["coverage"]["slots"], answer["why"]


async def test_a_hedged_answer_that_counts_in_part_costs_no_other_round(world: World) -> None:
    node = world.nodes[0]
    await asked(world, node)
    for peer in world.nodes[1:]:
        world.network.slow_s[peer.id] = 0.08
    for _ in range(8):
        kinds = await asked(world, node)
        assert kinds["AskBest"] <= 5


async def test_a_silent_peer_costs_no_result(world: World) -> None:
    node = world.nodes[0]
    await asked(world, node)
    world.network.silent.add(world.nodes[2].id)
    for _ in range(3):
        await asked(world, node)


async def test_who_brings_other_sums_than_it_counts_is_refuted(world: World) -> None:
    node, liar = world.nodes[0], world.nodes[2]
    await asked(world, node)
    world.network.lies[liar.id] = lie(BestAnswer, one_is_rare)
    for _ in range(400):
        await node.searcher.search(SearchRequest(QUERY, deadline_ms=20_000))
        await node.searcher.audit.checks.run_waiting()
        if liar.id in node.searcher.audit.refuted():
            break
    (told,) = node.searcher.audit.refutations()
    assert (told.peer, told.topic, told.is_behind) == (liar.id, Topic.STATISTICS, False)
    await asked(world, node)


def test_a_lie_of_another_nodes_question_is_not_taken_for_a_known_word() -> None:
    memory = RememberedStatistics()
    tea, green = (parse_query(text, "", "", False, NEWEST_RULES) for text in ("tea", "green"))
    told = Statistics(1000, (1, 2, 3, 4), (100,))
    memory.hear(tea, RULES, told)
    memory.hear(green, RULES, Statistics(0, (0, 0, 0, 0), (0,)))
    assert memory.guess(tea.leaves, RULES) is None, "who was never told how many documents there are believes nobody"
    memory.note(tea.leaves, RULES, told)
    memory.hear(tea, RULES, Statistics(1000, (1, 2, 3, 4), (900,)))
    assert memory.guess(tea.leaves, RULES) == told
    memory.hear(green, RULES, Statistics(5000, (1, 2, 3, 4), (7,)))
    assert memory.guess(green.leaves, RULES) is None
    assert memory.guess(tea.leaves, (32, 1)) is None, "another number of slots"
