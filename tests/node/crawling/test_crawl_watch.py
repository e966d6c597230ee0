"""Work is due at a node also in slots that nobody may crawl; there the frontier knows of none."""

from node.crawling.crawl_watch import UnheldWork
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

LOOKS = 20


def finds_work(node: SimNode) -> bool:
    """Whether a few looks find something due in slots of the node that nobody holds."""
    unheld = UnheldWork(node.overlay, node.node_core.store.records, node.clock)
    return any(unheld.is_due() for _ in range(LOOKS))


@simulated(WorldPlan(hosts=6, pages=400))
async def test_due_visits_of_slots_without_a_holder_are_found(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await world.pass_time(90.0)
    assert not any(map(finds_work, nodes)), "each slot has its holder"
    for node in nodes[1:]:
        await world.kill(node)
    await world.pass_time(120.0)
    assert nodes[0].node_core.work_left().unheld and finds_work(nodes[0])
    for node in nodes[1:]:
        await world.restart(node)
    await world.pass_time(90.0)
    assert not any(map(finds_work, nodes))


@simulated(WorldPlan(hosts=2, pages=4))
async def test_slots_without_a_holder_in_which_nothing_is_due_are_no_work(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    for node in nodes[1:]:
        await world.kill(node)
    await world.pass_time(120.0)
    assert nodes[0].node_core.work_left().unheld and not finds_work(nodes[0])
    assert nodes[0].node_core.crawl_watch.still_s() == 0.0
