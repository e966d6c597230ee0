"""One of two nodes dies: the other gives its leases back, keeps what is handed in, and says for which node it waits."""

from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import assert_complete, assert_fetched_once, crawled
from tests.sim.simulated import simulated

NOTICED_S = 45.0  # a silent member counts as live for 30 s
AT_ONCE_S = 5.0


@simulated(WorldPlan(seed=5, hosts=4, pages=4))
async def test_one_of_two_keeps_what_is_handed_in_and_waits_for_the_other_by_name(world: World) -> None:
    left, dead = await world.add(2)
    await world.pass_time(60.0)
    await world.kill(dead)
    core, view = left.node_core, left.overlay.view
    await world.until(lambda: not view.leases() and bool(view.votes.waits_for()), NOTICED_S)
    name = dead.identity.node_id.hex()[:12]
    assert f"waits for {name} (silent for " in core.crawl_reason()
    began, seed = world.loop.time(), world.web.seed_url
    told = await core.jobs.submission.crawl([seed], [], 30, "whole", False)
    assert world.loop.time() - began < AT_ONCE_S
    assert told.accepted == 1 and name in told.waits
    await world.pass_time(120.0)
    assert not world.log, "nothing is fetched that could not be kept"
    await world.restart(dead)
    await world.until(lambda: not view.votes.waits_for() and bool(view.leases()), 60.0)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
    again = await core.jobs.submission.crawl([f"{seed}?new"], [], 0, "whole", False)
    assert again.waits == ""


@simulated(WorldPlan(seed=6, hosts=8, pages=16))
async def test_a_crawl_stops_where_its_pages_could_not_be_kept_and_goes_on_when_the_other_is_back(world: World) -> None:
    left, dead = await world.add(2)
    await world.pass_time(60.0)
    await world.crawl(by=left)
    await world.until(lambda: len(world.log) > 10, 60.0)
    await world.kill(dead)
    await world.pass_time(NOTICED_S)
    fetched = len(world.log)
    await world.pass_time(300.0)
    assert len(world.log) == fetched
    await world.restart(dead)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)  # what was fetched before the death was noticed is recorded now
