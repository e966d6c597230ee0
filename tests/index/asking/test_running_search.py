"""A search tells what it has found before it is over, and asks no peer twice for that."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import index_corpus as corpus
import pytest
from index_network import World

from dht import Message, NodeId
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.shard.messages import AskBest

pytestmark = pytest.mark.virtual_time
FIRST_S, SLOW_S = 0.4, 1.0
Answer = dict[str, Any]
Make = Callable[..., World]
Prepare = Callable[[World], None]


async def searched(
    make_world: Make, prepare: Prepare, replicas: int = 1, words: str = "python run"
) -> tuple[World, Answer | None, Answer]:
    """Ask the first of four nodes; return what there is after 400 ms, None where that is all, and in the end."""
    world, rng = make_world(random.Random(4), 4, replicas, IndexConfig(engine="memory", commit_s=0.0)), random.Random(4)
    await world.put([corpus.text(rng, f"https://site{number}.test/") for number in range(60)])
    prepare(world)
    running = world.nodes[0].searcher.begin(SearchRequest(words, 100, deadline_ms=2500, first_ms=400))
    async with asyncio.TaskGroup() as tasks:
        answer = tasks.create_task(running.answer())
        await asyncio.sleep(FIRST_S)
        early = None if answer.done() else await running.so_far()
    return world, early, answer.result()


def is_slow(world: World) -> None:
    world.network.slow_s[world.nodes[1].id] = SLOW_S


def is_slow_at_last(world: World) -> None:
    def before(peer: NodeId, message: Message) -> None:
        if isinstance(message, AskBest):
            is_slow(world)

    world.network.before = before


def shown(answer: Answer) -> list[str]:
    return [each["url"] for each in answer["results"]]


def of_peers(world: World) -> Counter[tuple[NodeId, str]]:
    return Counter(asked for asked in world.network.asked if asked[0] != world.nodes[0].id)


async def test_what_has_come_is_told_and_nobody_is_asked_again_for_the_rest(make_world: Make) -> None:
    world, early, answer = await searched(make_world, is_slow_at_last)
    _, _, at_once = await searched(make_world, lambda world: None)
    assert early is not None and early["whole"] is False and answer["exact"]
    assert answer["results"] == at_once["results"], "what came first changes nothing of the whole answer"
    assert shown(early) == [url for url in shown(answer) if url in shown(early)], "in the order of the whole answer"
    assert 0 < len(early["results"]) < len(answer["results"])
    assert early["coverage"]["late"] == [world.nodes[1].id.hex()]
    assert set(of_peers(world).values()) == {1} and len(of_peers(world)) == 6, "three peers, two rounds"
    assert set(world.nodes[0].reads.values()) == {1}, "what was shown first is not read again"


async def test_before_all_have_counted_it_is_what_lies_here(make_world: Make) -> None:
    world, early, answer = await searched(make_world, is_slow)
    assert early is not None and answer["exact"] and set(of_peers(world).values()) == {1}
    here = {text.url for text in world.store.values() if world.team(text) == [world.nodes[0]]}
    assert {*shown(early)} == here & {*shown(answer)} and shown(early)


async def test_what_a_silent_peer_has_is_asked_of_others_before_the_first_is_shown(make_world: Make) -> None:
    world, early, answer = await searched(
        make_world, lambda world: world.network.silent.add(world.nodes[1].id), replicas=2
    )
    assert early is None and answer["whole"] and answer["coverage"]["late"] == [world.nodes[1].id.hex()]
    assert answer["took_ms"] < 1000 * FIRST_S


async def test_where_nothing_was_found_yet_nothing_is_told(make_world: Make) -> None:
    _, early, answer = await searched(make_world, is_slow, words="nobodywroteit")
    assert early is None and answer["whole"] and answer["total"] == 0
