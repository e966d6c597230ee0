"""Bootstrap peers hold nothing that may not be lost: with all of them dead for good, the network lives and restarts."""

from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import assert_complete, assert_fetched_once, crawled
from tests.sim.simulated import simulated


@simulated(WorldPlan(seed=9))
async def test_a_network_outlives_its_bootstrap_peers_restarts_included(world: World) -> None:
    bootstrap_nodes = await world.add_bootstrap_nodes()
    members = await world.add(5)
    await world.pass_time(8.0)
    assert not any(door.overlay.view.owned() for door in bootstrap_nodes)
    await world.crawl(by=members[0])
    await world.pass_time(70.0)  # the peer cache is written each minute
    for door in bootstrap_nodes:
        await world.kill(door)
    await world.pass_time(60.0)
    for node in members[:4]:  # one after the other, then all that are left of the first network at once
        await world.kill(node)
        await world.pass_time(20.0)
        await world.restart(node)
        await world.pass_time(20.0)
    for node in members:
        await world.kill(node)
    await world.pass_time(300.0)
    for node in members:
        await world.restart(node)
    await world.until(lambda: all(len(node.overlay.view.live()) == 5 for node in members), 60.0)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
