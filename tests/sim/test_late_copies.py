"""Busy owners acknowledge copies minutes late, leases go and come meanwhile: no page is fetched twice, none is lost."""

import asyncio
from random import Random

import pytest

from crawl import VisitState
from node.extras.simulation.census import repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_complete, assert_one_answer, assert_polite, crawled

NODES = 5
LATE_S = (20.0, 600.0)  # for so long one owner stays busy
BUSY_S = 12.0  # longer than anybody waits for an answer to a package
MESSAGES = ("PutPackage", "LeaseRequest")


async def keep_busy(world: World, node: SimNode, rng: Random) -> None:
    """Let a node be busy, and at rest, by turns."""
    while True:
        for message in rng.choice((MESSAGES[:1], MESSAGES, ())):
            world.wire.hold_back(node.name, message, BUSY_S)
        await world.pass_time(rng.uniform(*LATE_S) / 2)
        at_rest(world, node)


def at_rest(world: World, node: SimNode) -> None:
    for message in MESSAGES:
        world.wire.hold_back(node.name, message, 0.0)


async def check(world: World, busy_s: float, *, comes: bool = False, dies: bool = False) -> None:
    rng = Random(f"busy {world.plan.seed}")
    nodes = await world.add(NODES)
    await world.pass_time(20.0)
    await world.crawl()
    async with asyncio.TaskGroup() as tasks:
        busy = [tasks.create_task(keep_busy(world, node, rng)) for node in nodes]
        await world.pass_time(60.0)
        if comes:
            await world.add(1)
        if dies:
            await world.kill(nodes[1])
            await world.pass_time(20.0)
            await world.restart(nodes[1])
        await world.pass_time(busy_s)
        for task in busy:
            task.cancel()
    await judge(world, nodes)


async def judge(world: World, nodes: list[SimNode]) -> None:
    """Let all be at rest, and look at what the sites saw."""
    for node in nodes:
        at_rest(world, node)
    await crawled(world)
    stored = {
        url for url, state in world.web.outcomes().items() if state != VisitState.REDIRECT
    }  # redirects have no page
    twice = {
        url: [(v.node, v.began_at) for v in visits] for url, visits in repeated(world.log).items() if url in stored
    }
    in_flight = sum(loss.open for loss in world.node_losses)
    assert_complete(world)
    assert_polite(world)
    await assert_one_answer(world, world.web.words[:3], NODES)
    assert sum(len(visits) - 1 for visits in twice.values()) <= in_flight, twice


async def check_all_late(world: World) -> None:
    """For a minute nobody's answers to packages and to questions about leases come in time."""
    nodes = await world.add(NODES)
    await world.pass_time(20.0)
    await world.crawl()
    await world.pass_time(6.0)
    for node in nodes:
        for message in MESSAGES:
            world.wire.hold_back(node.name, message, BUSY_S)
    await world.pass_time(60.0)
    assert not any(node.overlay.view.leases() for node in nodes)
    await judge(world, nodes)


def test_late_copies_cost_no_second_fetch():
    simulate(check_all_late, WorldPlan(seed=3, hosts=6, pages=8))


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(3, 8))
@pytest.mark.parametrize(("comes", "dies"), [(False, False), (True, False), (False, True)])
def test_copies_that_are_late_for_minutes_cost_no_second_fetch(seed: int, comes: bool, dies: bool):
    simulate(lambda world: check(world, 900.0, comes=comes, dies=dies), WorldPlan(seed, hosts=6, pages=24))
