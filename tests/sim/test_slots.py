"""Slots doubled by a strategy while nodes crawl, store and answer: nothing lost, fetched twice or unanswered."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field

import pytest

from index import SearchRequest
from node.extras.simulation.census import repeated, take_census
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_complete, assert_one_answer, assert_polite, crawled


@dataclass
class Watch:
    """A reader's view, once a second: the share of slots that answered, and what answers lacked."""

    coverage: list[float] = field(default_factory=list)
    wrong: list[object] = field(default_factory=list)


async def watch(world: World, seen: Watch, query: str, wanted: list[str] | None) -> None:
    """Ask another node each second; with `wanted`, an answer that calls itself whole must be it."""
    turn = 0
    while True:
        node = world.running()[turn % len(world.running())]
        turn += 1
        answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=100))
        coverage = answer["coverage"]
        seen.coverage.append(coverage["answered"] / coverage["slots"])
        found = [hit["url"] for hit in answer["results"]]
        if wanted is not None and not answer["partial"] and found != wanted:
            seen.wrong.append((world.loop.time(), node.name, len(found), len(wanted)))
        await world.pass_time(1.0)


async def watched(world: World, seen: Watch, query: str, wanted: list[str] | None, scenario: Awaitable[None]) -> None:
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(watch(world, seen, query, wanted))
        await scenario
        task.cancel()


def test_slots_doubled_in_a_settled_network_move_little_and_every_answer_stays_whole():
    seen = Watch()

    async def scenario(world: World) -> None:
        await world.add(8)
        await world.pass_time(8.0)
        await world.crawl()
        await crawled(world)
        word = world.web.words[0]
        wanted = [hit.text.url for hit in take_census(world.running()).brute_force().search(word).hits]
        assert 8 < len(wanted) <= 100
        fetched = len(world.log)

        async def doubled() -> None:
            world.publish(slot_bits=5)
            await world.pass_time(90.0)

        await watched(world, seen, word, wanted, doubled())
        await crawled(world)
        assert all(node.overlay.view.strategy.slot_bits == 5 for node in world.running())
        assert len(world.log) == fetched
        assert_complete(world)
        await assert_one_answer(world, world.web.words[:2], 8)

    simulate(scenario, WorldPlan(seed=11))
    assert min(seen.coverage) == 1.0
    assert not seen.wrong


def test_slots_doubled_twice_in_mid_crawl_lose_nothing_and_fetch_nothing_twice():
    check_doubling_in_mid_crawl(12, nodes=8)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(30, 40))
def test_slots_doubled_at_any_time_in_networks_of_any_size(seed: int):
    check_doubling_in_mid_crawl(seed, nodes=(1, 2, 3, 5, 24)[seed % 5], after_s=float(seed - 20), between_s=seed * 1.5)


def check_doubling_in_mid_crawl(seed: int, nodes: int, after_s: float = 12.0, between_s: float = 40.0) -> None:
    seen = Watch()

    async def scenario(world: World) -> None:
        await world.add(nodes)
        await world.pass_time(8.0)
        await world.crawl()
        await world.pass_time(after_s)

        async def doubled() -> None:
            for slot_bits in (5, 6):
                world.publish(slot_bits=slot_bits)
                await world.pass_time(between_s)

        await watched(world, seen, world.web.words[0], None, doubled())
        await crawled(world)
        assert_complete(world)
        assert not repeated(world.log)
        assert_polite(world)

    simulate(scenario, WorldPlan(seed=seed, hosts=16, pages=12))
    assert min(seen.coverage) == 1.0
