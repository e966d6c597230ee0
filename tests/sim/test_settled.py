"""A node that says that all is settled gives whole answers: it announces every slot that it keeps."""

import pytest

from node.simulation.world import World, WorldPlan, simulate
from tests.sim.judged import crawled

JOINED_WITHIN_S = 90.0
LOOK_EVERY_S = 0.02


@pytest.mark.parametrize("seed", [1, 5, 6, 7])
def test_a_newcomer_is_settled_only_once_it_announces_what_it_keeps(seed):
    async def scenario(world: World) -> None:
        await world.add(1)
        await world.crawl()
        await crawled(world)
        (newcomer,) = await world.add(1)
        view, levels = newcomer.overlay.view, newcomer.node_core.levels
        ends, seen = world.loop.time() + JOINED_WITHIN_S, 0
        while world.loop.time() < ends and seen < 10:
            if len(view.live()) == 2 and levels.is_settled():
                seen += 1
                assert all(view.is_ready(view.node_id, slot) for slot in view.owned()), world.loop.time()
            await world.pass_time(LOOK_EVERY_S)
        assert seen, "it settles"

    simulate(scenario, WorldPlan(seed=seed, hosts=2, pages=2))
