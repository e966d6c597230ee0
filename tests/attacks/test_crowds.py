"""Many identities of one /24 come at once: they are members, and keep one copy of a slot at most."""

from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.sim.simulated import simulated

CROWD = [f"54.1.1.{n}" for n in range(1, 7)]


def members(nodes: list[SimNode], among: list[SimNode]) -> list[int]:
    """How many of some nodes each takes for members."""
    ids = {node.identity.node_id for node in among}
    return [len(ids.intersection(node.overlay.view.members())) for node in nodes]


@simulated()
async def test_a_crowd_from_one_prefix_owns_one_copy_of_a_slot_at_most_and_keeps_no_newcomer_out(world: World) -> None:
    nodes = await world.add(8)
    await world.until(lambda: members(nodes, nodes) == [8] * 8, 30.0)
    crowd = await world.add_at(*CROWD)
    await world.until(lambda: members(nodes, crowd) == [len(CROWD)] * 8, 60.0)
    theirs = {node.identity.node_id for node in crowd}
    for node in nodes:
        assert max(len(theirs.intersection(owners)) for owners in node.overlay.view.owners_by_slot()) == 1
    newcomer = await world.add_at("54.2.2.1")
    took_s = await world.until(lambda: members(nodes, newcomer) == [1] * 8, 30.0)
    assert took_s <= 15.0
