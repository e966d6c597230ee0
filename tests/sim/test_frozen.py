"""One or two peers that accept requests and never answer, or two that just died, delay nobody. Seeds are handed in
within two seconds of that very moment, and queries are answered whole within their deadline."""

import asyncio

import pytest

from index import SearchRequest
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.judged import crawled

HANDED_IN_WITHIN_S = 2.0
DEADLINE_MS = 3000
NODES = 9


async def hand_in(world: World, node: SimNode, number: int) -> float:
    """Hand in new pages of sites that are known; return the seconds until they are safe."""
    began = world.loop.time()
    urls = [f"{world.web.seed_url}frozen/{number}/{n}" for n in range(20)]
    taken = await node.node_core.jobs.submission.crawl(urls, [], 0, "whole", False)
    assert taken.accepted == len(urls)
    return world.loop.time() - began


async def ask(world: World, node: SimNode, query: str) -> tuple[float, int, bool]:
    """Search; return the seconds that it took, the slots that answered, and whether all that was found is shown."""
    began = world.loop.time()
    answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=10, deadline_ms=DEADLINE_MS))
    is_shown = bool(answer["results"]) and all(result["title"] for result in answer["results"])
    return world.loop.time() - began, answer["coverage"]["answered"], answer["whole"] and is_shown


@pytest.mark.parametrize(
    ("frozen", "dead", "seed", "every"),
    [
        *proved((1, 0, 1, 4)),
        (2, 0, 1, 4),
        *(
            pytest.param(frozen, dead, n, 1, marks=pytest.mark.prove)
            for n in range(1, 5)
            for frozen, dead in ((1, 0), (0, 2))
        ),
        *(pytest.param(2, 0, n, 1, marks=pytest.mark.prove) for n in range(1, 11)),
    ],
)
def test_frozen_and_dead_peers_hold_up_neither_seeds_nor_queries(frozen: int, dead: int, seed: int, every: int) -> None:
    handed: list[float] = []
    asked: list[tuple[float, int, bool]] = []

    async def scenario(world: World) -> None:
        nodes = await world.add(NODES)
        await world.pass_time(20.0)
        await world.crawl()
        await crawled(world)
        for number in range(0, NODES, every):
            victims = [nodes[number], nodes[(number + 4) % NODES]][: dead + frozen]
            rest = [node for node in nodes if node not in victims]
            for each in victims:
                await world.kill(each) if dead else world.sleep(each)
            async with asyncio.TaskGroup() as tasks:
                hands = [tasks.create_task(hand_in(world, rest[number % len(rest)], number))]
                asks = [tasks.create_task(ask(world, node, world.web.words[0])) for node in rest[:4]]
            handed.extend(task.result() for task in hands)
            asked.extend(task.result() for task in asks)
            for each in victims:
                await world.restart(each) if dead else world.wake(each)
            await world.pass_time(60.0)

    world = simulate(scenario, WorldPlan(seed=seed, hosts=4, pages=4))
    assert max(handed) <= HANDED_IN_WITHIN_S
    assert max(took for took, _, _ in asked) <= DEADLINE_MS / 1000
    assert {(slots, is_whole) for _, slots, is_whole in asked} == {(1 << world.plan.slot_bits, True)}
