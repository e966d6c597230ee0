"""In a network of two or three, who stops cleanly stops nobody, and who falls silent without a word does."""

import asyncio

import pytest

from node.simulation.census import holders_of, repeated
from node.simulation.sim_node import SimNode
from node.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_complete, assert_one_answer, crawled

PLAN = WorldPlan(hosts=12, pages=40)
GOES_ON_S = 45.0  # after a farewell: votes that bind for 30 s are waited for
SILENT_S = 120.0  # longer than any vote binds


async def amid_a_crawl(world: World, nodes: int) -> list[SimNode]:
    """Nodes that all hold slots, each having fetched some of what the web has."""
    members = await world.add(nodes)
    await world.pass_time(10.0)
    await world.crawl()
    await world.until(lambda: all(fetched_by(world, node) >= 20 for node in members), 120.0)
    return members


def fetched_by(world: World, node: SimNode, since: float = 0.0) -> int:
    return sum(visited.node == node.name and visited.began_at >= since for visited in world.log)


def holds_all(world: World, node: SimNode) -> bool:
    return set(holders_of([node])) == set(range(1 << world.plan.slot_bits))


@pytest.mark.parametrize("leaver", [0, 1])
def test_of_two_nodes_one_stops_cleanly_and_the_other_fetches_all(leaver: int) -> None:
    async def scenario(world: World) -> None:
        nodes = await amid_a_crawl(world, 2)
        left, stays = nodes[leaver], nodes[1 - leaver]
        await world.stop(left)
        await world.until(lambda: holds_all(world, stays), GOES_ON_S)
        before = len(world.log)
        await crawled(world)
        assert {visited.node for visited in world.log[before:]} == {stays.name}
        assert_complete(world)
        await assert_one_answer(world, world.web.words[:2], 1)
        await world.restart(left)
        await world.until(lambda: bool(left.overlay.view.leases()), 180.0)
        await crawled(world)
        assert_complete(world)
        assert not repeated(world.log)
        await assert_one_answer(world, world.web.words[:2], 2)

    simulate(scenario, PLAN)


def test_of_two_nodes_one_dies_and_the_other_waits_for_it() -> None:
    async def scenario(world: World) -> None:
        nodes = await amid_a_crawl(world, 2)
        await world.kill(nodes[0])
        await world.pass_time(SILENT_S)
        died = world.loop.time()
        await world.pass_time(SILENT_S)
        assert not fetched_by(world, nodes[1], died)
        await world.restart(nodes[0])
        await crawled(world)
        assert_complete(world)

    simulate(scenario, PLAN)


STARTED_S = 60.0  # from the last start


async def stop_all(world: World, nodes: list[SimNode], within_s: float = 1.0) -> None:
    """Stop nodes one shortly after the other, none waiting for the one before."""
    async with asyncio.TaskGroup() as stops:
        for number, node in enumerate(nodes):
            stops.create_task(stop_later(world, node, number * within_s / len(nodes)))


async def stop_later(world: World, node: SimNode, after_s: float) -> None:
    await world.pass_time(after_s)
    await world.stop(node)


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("within_s", [0.0, 1.0])
def test_all_stop_at_once_and_crawl_soon_after_the_last_has_started_again(
    order: tuple[int, ...], within_s: float
) -> None:
    async def scenario(world: World) -> None:
        nodes = await amid_a_crawl(world, len(order))
        await stop_all(world, nodes, within_s)
        await world.pass_time(20.0)
        for number in order:
            await world.restart(nodes[number])
            await world.pass_time(10.0)
        slots = set(range(1 << world.plan.slot_bits))
        took = await world.until(lambda: set(holders_of(nodes)) == slots, STARTED_S - 10.0)
        print("TOOK", took)
        began = world.loop.time()
        await world.until(lambda: any(fetched_by(world, node, began) for node in nodes), 10.0)
        await crawled(world)
        assert_complete(world)
        assert not repeated(world.log)

    simulate(scenario, PLAN)
