"""Fifty whole nodes for a while: every page once, kept three times, found by all, while nodes die and return."""

from functools import partial

import pytest

from node.simulation.census import is_settled, take_census
from node.simulation.trial import plan_for
from node.simulation.world import World, simulate
from tests.sim.judged import assert_complete, assert_fetched_once, assert_one_answer, assert_polite, crawled

NODES, CALM_S, HOUR_S = 50, 360.0, 3600.0


def test_fifty_nodes_live_through_six_minutes() -> None:
    simulate(partial(scenario, CALM_S), plan_for(NODES, seed=1, loss=0.0))


@pytest.mark.prove
def test_fifty_nodes_live_through_an_hour() -> None:
    """What the hour costs is measured by `dse-node simulate --nodes 50 --hours 1`, not here."""
    simulate(partial(scenario, HOUR_S), plan_for(NODES, seed=1, loss=0.0))


async def scenario(until_s: float, world: World) -> None:
    await world.add(NODES)
    await world.pass_time(20.0)
    await world.crawl()
    await world.pass_time(15.0)
    gone, back = world.nodes["n7"], [world.nodes["n21"], world.nodes["n40"]]
    await world.kill(gone)
    for node in back:
        await world.pass_time(10.0)
        await world.kill(node)
    await world.pass_time(120.0)
    for node in back:
        await world.restart(node)
    await crawled(world)
    assert_complete(world)
    await world.pass_time(max(0.0, until_s - world.loop.time()))
    assert is_settled(world.running())
    assert len(take_census(world.running()).texts) == 480
    assert_fetched_once(world)
    assert_polite(world)
    await assert_one_answer(world, world.web.words[5:7], NODES - 1)
