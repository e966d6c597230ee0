"""Many whole nodes for a while: every page once, kept three times, found by all, while nodes die and return."""

from functools import partial

import pytest

from node.extras.simulation.census import is_settled, take_census
from node.extras.simulation.trial import plan_for
from node.extras.simulation.world import World, simulate
from tests.sim.judged import assert_complete, assert_fetched_once, assert_one_answer, assert_polite, crawled

PAGES = {16: 152, 25: 240, 50: 480}  # kept of the web that a trial of so many nodes crawls


@pytest.mark.prove
@pytest.mark.parametrize(("nodes", "seconds"), [(16, 240.0), (25, 240.0), (50, 3600.0)])
def test_they_live_through_some_minutes_or_an_hour(nodes: int, seconds: float) -> None:
    """`dse-node simulate --nodes 50 --hours 1` measures the cost of the hour, not this test."""
    simulate(partial(scenario, nodes, seconds), plan_for(nodes, seed=1, loss=0.0))


async def scenario(nodes: int, until_s: float, world: World) -> None:
    await world.add(nodes)
    await world.pass_time(20.0)
    await world.crawl()
    await world.pass_time(15.0)
    gone, back = world.nodes["n7"], [world.nodes[f"n{min(21, nodes - 1)}"], world.nodes["n14"]]
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
    assert len(take_census(world.running()).texts) == PAGES[nodes]
    assert_fetched_once(world)
    assert_polite(world)
    await assert_one_answer(world, world.web.words[5:7], nodes - 1)
