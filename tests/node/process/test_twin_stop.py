"""Of two machines with one identity the one that was started beside the other ends, and the other goes on."""

import asyncio

import pytest

from node.errors import TwinRuns
from node.extras.simulation.world import World
from node.process.twin_stop import YOUNG_S, give_way_to_twin
from tests.sim.simulated import simulated


@simulated()
async def test_the_younger_twin_ends_and_the_elder_goes_on(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(YOUNG_S + 10.0)
    elder = nodes[2]
    assert not elder.overlay.twin_warning()
    younger = await world.add_twin(elder)
    with pytest.raises(TwinRuns, match="another machine runs with this node's identity"):
        async with asyncio.timeout(YOUNG_S):
            await give_way_to_twin(younger.overlay)
    await world.kill(younger)
    assert elder.overlay.view.why_apart()
    await world.until(lambda: not elder.overlay.view.why_apart(), 2 * YOUNG_S)


@simulated()
async def test_a_node_without_a_twin_runs_on(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(20.0)
    await world.kill(nodes[1])
    await world.restart(nodes[1])
    async with asyncio.timeout(YOUNG_S + 2.0):
        await give_way_to_twin(nodes[1].overlay)
