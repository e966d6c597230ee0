"""Networks in which what is written proves the lease that it was written under."""

from dht import Slot
from dht.wire.grant import grant_flaw
from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated


@simulated(WorldPlan(seed=21))
async def test_every_lease_is_granted_by_a_majority_of_its_team(world: World) -> None:
    nodes = await world.add(4)
    await world.crawl()
    await crawled(world)
    network = bytes.fromhex(nodes[0].overlay.view.strategy.network)
    held = {slot: node for node in nodes for slot in node.overlay.view.leases()}
    assert held.keys() == {Slot(n) for n in range(1 << world.plan.slot_bits)}
    for slot, node in held.items():
        grant = node.overlay.view.votes.grants(slot)[0]
        assert grant_flaw(grant, network) == ""
        assert len(grant.signers) >= 2
    assert_complete(world)


@simulated(WorldPlan(seed=23, hosts=8))
async def test_a_laptop_sleeps_one_side_is_cut_off_and_slots_are_doubled_while_all_crawl(world: World) -> None:
    """A node that was away accepts what it missed by its grants, and no page is refused to anybody."""
    nodes = await world.add(6)
    await world.pass_time(10.0)
    await world.crawl()
    await world.pass_time(20.0)
    world.sleep(nodes[5])
    await world.pass_time(60.0)
    world.publish(slot_bits=5)
    world.cut(nodes[:3], nodes[3:5])
    await world.pass_time(120.0)
    world.heal()
    world.wake(nodes[5])
    await crawled(world)
    assert_complete(world)
    assert not any(node.node_core.store.replicator.refusals.total for node in nodes)
