"""In a network of two or three, who stops cleanly stops nobody, and who falls silent without a word does."""

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
