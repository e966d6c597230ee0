"""Work is due at a node also in slots that nobody may crawl; there the frontier knows of none."""

from node.crawling.crawl_watch import PAUSED_S, CrawlProgress, UnheldWork
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


def play(looks: list[tuple[float, int, bool]]) -> float:
    """Look at each (second, outcomes so far, whether work is due); return the seconds of standstill at the last one."""
    progress = CrawlProgress()
    for now, recorded, is_due in looks:
        progress.step(now, recorded, is_due=is_due)
    return progress.still_s(looks[-1][0])


def every_five(begin: int, end: int, recorded: int = 7, *, is_due: bool = True) -> list[tuple[float, int, bool]]:
    return [(float(second), recorded, is_due) for second in range(begin, end + 1, 5)]


def test_it_counts_from_the_last_outcome_while_work_is_due() -> None:
    assert 290.0 <= play([(0.0, 7, True), *every_five(5, 300)]) <= 300.0
    assert play([*every_five(0, 300), (305.0, 8, True)]) == 0.0, "something got done"
    assert play([(0.0, 0, False)]) == 0.0


def test_no_work_or_a_rest_is_no_standstill() -> None:
    assert play(every_five(0, 600, is_due=False)) == 0.0
    assert play([*every_five(0, 300), *every_five(305, 310, is_due=False), *every_five(315, 320)]) == 5.0


def test_a_sleep_does_not_count() -> None:
    woke_at = 300.0 + PAUSED_S + 5.0
    assert play([*every_five(0, 300), (woke_at, 7, True)]) == 0.0
    assert play([*every_five(0, 300), (woke_at, 7, True), (woke_at + 5.0, 7, True), (woke_at + 10.0, 7, True)]) == 5.0
