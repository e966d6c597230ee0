"""A node that says that all is settled gives whole answers: it announces every slot that it keeps."""

import pytest

from bootstrap import load_network, new_network
from dht import Identity, Strategy
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.judged import crawled, status_of
from tests.sim.simulated import simulated

FIRST = Strategy(network="", version=1, effective_at=0, next_at=2**40, expires_at=2**41)
NETWORK = load_network(new_network("any", [Identity(b"\1" * 32)], FIRST))
JOINED_WITHIN_S = 90.0
LOOK_EVERY_S = 0.02


@pytest.mark.parametrize("seed", [1, *proved(5, 6, 7)])
def test_a_newcomer_is_settled_only_once_it_announces_what_it_keeps(seed):
    async def scenario(world: World) -> None:
        await world.add(1)
        await world.crawl()
        await crawled(world)
        (newcomer,) = await world.add(1)
        view, levels = newcomer.overlay.view, newcomer.node_core.levels
        ends, seen = world.loop.time() + JOINED_WITHIN_S, 0
        while world.loop.time() < ends and seen < 10:
            if len(view.live()) == 2 and levels.are_alike():
                seen += 1
                assert all(view.is_ready(view.node_id, slot) for slot in view.owned()), world.loop.time()
            await world.pass_time(LOOK_EVERY_S)
        assert seen, "it settles"

    simulate(scenario, WorldPlan(seed=seed, hosts=2, pages=2))


@simulated(WorldPlan(seed=1, hosts=4, pages=60, slot_bits=4))
async def test_nobody_says_settled_while_addresses_wait_in_the_network(world: World) -> None:
    """Copies may be alike while a crawl goes on, after kills above all; then the status names what is still due, and
    counts the slots whose addresses nobody announces."""
    await world.add(4)
    await world.pass_time(10.0)
    await world.crawl()
    await world.pass_time(30.0)
    await world.kill(world.running()[1])
    unheld = 0
    for _ in range(40):  # seconds until heartbeats were sent anew and leases have gone on
        await world.pass_time(1.0)
        for node in world.running():
            assert not node.node_core.is_settled()
            unheld += node.node_core.work_left().unheld
    assert unheld
    waits = sum(sum(node.node_core.crawl.crawler.due().values()) for node in world.running())
    assert waits > 10
    for node in world.running():
        status = await status_of(node, NETWORK).status()
        assert status.crawl.due >= waits / 2, (status.crawl, waits)
    await crawled(world)
    await world.pass_time(30.0)
    for node in world.running():
        status = await status_of(node, NETWORK).status()
        assert status.settled and not status.crawl.due


@simulated(WorldPlan(seed=1, hosts=2, pages=2))
async def test_a_node_that_rests_gives_up_what_work_left_in_memory_once(world: World) -> None:
    (node,) = await world.add(1)
    await world.crawl()
    await crawled(world)
    assert not await node.node_core.spare(), "it may be at work: nothing was looked at before"
    await world.pass_time(60.0)
    given_up = [await node.node_core.spare() for _ in range(2)]
    assert given_up == [True, False]
