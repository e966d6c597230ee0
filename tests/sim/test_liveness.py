"""Nobody passes for dead who lives: not on lossy lines, nor behind a broken way, nor with a clock that differs."""

import asyncio

from node.extras.simulation.loop import SimLoop
from node.extras.simulation.world import World
from tests.sim.overlays import World as Overlays
from tests.sim.overlays import grow, simulate
from tests.sim.simulated import simulated


def test_nobody_passes_for_dead_where_a_tenth_is_lost_on_long_lines() -> None:
    async def scenario(world: Overlays, group: asyncio.TaskGroup) -> None:
        world.wire.slow_down((0.075, 0.09))
        await grow(world, group, 9)
        await asyncio.sleep(30)
        for _ in range(240):
            await asyncio.sleep(0.5)
            assert {len(node.view.live()) for node in world.nodes} == {9}

    simulate(Overlays(SimLoop(), 8, loss=0.1), scenario)


def test_a_peer_that_one_alone_cannot_ask_passes_for_dead_there_once_at_most() -> None:
    async def scenario(world: Overlays, group: asyncio.TaskGroup) -> None:
        await grow(world, group, 6)
        await asyncio.sleep(30)
        world.wire.break_way("n1", "n2")
        deaths, lived = 0, True
        for _ in range(1800):
            await asyncio.sleep(0.1)
            lives = world.nodes[1].view.is_live(world.nodes[2].node_id)
            deaths, lived = deaths + (lived and not lives), lives
        assert deaths <= 1 and lived

    simulate(Overlays(SimLoop(), 9), scenario)


@simulated()
async def test_clocks_that_differ_by_a_minute_or_two_keep_nobody_apart(world: World) -> None:
    nodes = await world.add(5, 0.0)
    for node, off_s in zip(nodes, (-40.0, 0.0, 60.0, 0.0, -40.0), strict=True):
        node.clock.ahead_s += off_s
    await world.pass_time(120.0)
    assert all(len(node.overlay.view.live()) == 5 for node in nodes)
