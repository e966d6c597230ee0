"""A node of nine becomes full amid a crawl: it owns nothing from then on, hands over what it has, and loses nothing."""

from dataclasses import replace

from dht.wire.room_step import FULL_STEP
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import assert_complete, assert_one_answer, crawled
from tests.sim.simulated import simulated

SMALL_BYTES = 20_000  # of which an eighth is kept for tidying
NOTICED_S = 5.0
SHED_WITHIN_S = 600.0


def serves(node: SimNode) -> bool:
    return bool(node.node_core.store.replicator.ready_slots())


def owned(world: World, node: SimNode) -> int:
    """How many slots the views of all nodes give to one of them, at most."""
    me = node.overlay.node_id
    views = [each.overlay.view for each in world.running()]
    return max(sum(me in owners for owners in view.owners_by_slot()) for view in views)


@simulated(WorldPlan(seed=5, slot_bits=6, filler_bytes=2000))
async def test_a_full_node_of_nine_hands_its_part_to_others_and_nothing_is_lost_or_refused_for_good(
    world: World,
) -> None:
    nodes = await world.add(9)
    small = nodes[4]
    await world.pass_time(8.0)
    await world.stop(small)
    small.store = replace(small.store, quota_bytes=SMALL_BYTES)
    (small.folder / "room.json").unlink()
    await world.restart(small)
    await world.pass_time(8.0)
    assert 2 * owned(world, small) <= sum(owned(world, node) for node in nodes) / len(nodes) + 2, "half a part"
    await world.crawl()
    await world.until(lambda: small.core.own.room_step.step == FULL_STEP, 300.0)
    await world.until(lambda: owned(world, small) == 0, NOTICED_S)
    assert serves(small), "until others have its part"
    await world.until(lambda: not serves(small), SHED_WITHIN_S)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:3], 9)
    await world.stop(small)
    await world.restart(small)
    await world.pass_time(8.0)
    assert small.core.own.room_step.step == FULL_STEP and owned(world, small) == 0, "it stays out after a restart, too"
