"""Busy owners acknowledge copies minutes late, leases go and come meanwhile: no page is fetched twice, none is lost."""

import asyncio
from random import Random

import pytest

from node.extras.simulation.census import repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import assert_complete, assert_one_answer, assert_polite, crawled

NODES = 5
LATE_S = (20.0, 600.0)  # for so long one owner stays busy
BUSY_S = 12.0  # longer than anybody waits for an answer to a package
MESSAGES = ("PutPackage", "LeaseRequest")


async def keep_busy(world: World, node: SimNode, rng: Random, messages: tuple[str, ...]) -> None:
    """Let a node be busy, and at rest, by turns."""
    while True:
        for message in rng.choice((messages[:1], messages, ())):
            world.wire.hold_back(node.name, message, BUSY_S)
        await world.pass_time(rng.uniform(*LATE_S) / 2)
        at_rest(world, node)


def at_rest(world: World, node: SimNode) -> None:
    for message in MESSAGES:
        world.wire.hold_back(node.name, message, 0.0)


async def check(world: World, messages: tuple[str, ...], *, comes: bool = False, dies: bool = False) -> None:
    rng = Random(f"busy {world.plan.seed}")
    nodes = await world.add(NODES)
    await world.pass_time(20.0)
    await world.crawl()
    async with asyncio.TaskGroup() as tasks:
        busy = [tasks.create_task(keep_busy(world, node, rng, messages)) for node in nodes]
        await world.pass_time(60.0)
        if comes:
            await world.add(1)
        if dies:
            await world.kill(nodes[1])
            await world.pass_time(20.0)
            await world.restart(nodes[1])
        await world.pass_time(900.0)
        for task in busy:
            task.cancel()
    for node in nodes:
        at_rest(world, node)
    await crawled(world)
    twice = repeated(world.log)
    print(f"seed={world.plan.seed} {comes=} {dies=} fetched={len(world.log)} twice={len(twice)}")
    for url, visits in twice.items():
        print(url, [(v.node, round(v.began_at)) for v in visits])
    assert_complete(world)
    assert_polite(world)
    await assert_one_answer(world, world.web.words[:3], NODES)
    open_ = sum(loss.open for loss in world.node_losses)
    assert sum(len(visits) - 1 for visits in twice.values()) <= open_, twice


@pytest.mark.parametrize(("comes", "dies"), [(False, False), (True, False), (False, True)])
def test_late_copies_cost_no_second_fetch(comes: bool, dies: bool):
    simulate(lambda world: check(world, MESSAGES, comes=comes, dies=dies), WorldPlan(seed=3, hosts=6, pages=24))
