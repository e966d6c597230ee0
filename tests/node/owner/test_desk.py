"""The owner's desk reports a node at work, and what becomes of a wish, a job and a damaged file."""

from collections import Counter
from math import isnan

import pytest

from crawl import VisitState
from node.errors import BadDataDir
from node.extras.simulation.world import World, WorldPlan
from node.owner import desk as owner_desk
from tests.sim.judged import crawled, service_of
from tests.sim.simulated import simulated


@simulated(WorldPlan(hosts=6, pages=6))
async def test_a_node_at_work_is_told_by_figures_map_sites_and_jobs(world: World) -> None:
    service = service_of(world, *await world.add(1))
    desk, seed = service.owner, world.web.seed_url
    desk.step()
    assert (await service.crawl([seed], depth=3, dry_run=True)).accepted == 1
    assert await desk.jobs() == (), "a dry run is no job"
    assert (await service.crawl([seed], depth=3)).accepted == 1
    for _ in range(12):
        await world.pass_time(10.0)
        desk.step()
    lines = await desk.history.lines("hour", 0.0)
    rates = [value for _, value in lines["pages_per_s"]]
    assert len(rates) == 13 and 0 < sum(rates) * 10 <= len(world.log)
    assert lines["peers"][-1][1] == 0 and lines["disk_bytes"][-1][1] > 0
    assert isnan(lines["p50_ms"][-1][1]), "nobody has asked anything"
    (job,) = await desk.jobs()
    assert (job.first, job.seeds, job.depth) == (seed, 1, 3) and job.wait.counts["fetched"] > 5
    found = desk.network()
    assert (found.slots, found.members, found.live) == (16, 1, 1)
    assert set(found.mine) == {3} and found.uncrawled == 0 and found.by_copies == ((1, 16),)
    assert found.families == (("none", 1),), "nobody else has told it where it is reached"
    seen = desk.sites("", "", "", 3)
    assert len(seen.page.rows) == 3 and seen.page.all > 3 and seen.wished == ()
    await desk.wish(seen.page.rows[0].site, "refused")
    told = desk.sites("", "", "", 3)
    assert told.page.rows[0].why == "refused" and told.wished == ((seen.page.rows[0].host, "refused"),)


@simulated(WorldPlan(hosts=8, pages=90))
async def test_one_look_counts_the_whole_of_a_crawl_that_has_ended_or_says_that_it_is_unfinished(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = service_of(world, *await world.add(1))
    await service.crawl([world.web.seed_url], depth=100)
    await crawled(world)
    await world.pass_time(30.0)
    monkeypatch.setattr(owner_desk, "PROGRESS_WITHIN_S", 0.0)
    (job,) = await service.owner.jobs()
    assert not job.wait.is_counted and not job.is_done
    monkeypatch.undo()
    (job,) = await service.owner.jobs()
    outcomes = Counter(world.web.outcomes().values())
    assert job.wait.counts["fetched"] == outcomes.pop(VisitState.FETCHED) > 600
    assert (job.waiting, job.wait.counts["failed"], job.others) == (0, 0, sum(outcomes.values()))
    assert job.is_done and job.wait.is_counted


@simulated(WorldPlan(hosts=8, pages=20))
async def test_a_cancelled_crawl_fetches_nothing_more_and_a_new_one_takes_up_what_it_left(world: World) -> None:
    service = service_of(world, *await world.add(1))
    await service.crawl([world.web.seed_url], depth=100)
    await world.pass_time(30.0)
    assert (await service.owner.cancel(2)) is None, "there is one job"
    before = len(world.log)
    job = await service.owner.cancel(1)
    assert job is not None and job.is_cancelled and job.waiting < 8, "what is being fetched goes on"
    service.owner.step()
    await world.pass_time(20.0)
    await service.owner.jobs()
    settled = len(world.log)
    await world.pass_time(300.0)
    await service.owner.jobs()
    assert settled - before < 40, "some requests of robots.txt and pages were under way"
    (job,) = service.owner.ledger.rows()
    assert len(world.log) == settled and 8 < job.wait.counts["fetched"] < settled
    assert job.is_done and "cancelled by the owner" in "".join(job.reasons)
    await service.crawl([world.web.seed_url], depth=100)
    await crawled(world)
    again, _ = await service.owner.jobs()
    assert again.wait.counts["fetched"] == Counter(world.web.outcomes().values())[VisitState.FETCHED]
    assert again.wait.counts["fetched"] > job.wait.counts["fetched"]


@simulated(WorldPlan(hosts=1, pages=3))
async def test_a_daily_job_fetches_its_seed_again_a_day_later_even_after_a_restart_until_it_is_cancelled(
    world: World,
) -> None:
    (node,) = await world.add(1)
    seed = world.web.seed_url
    assert (await service_of(world, node).crawl([seed], depth=9, every="daily")).accepted == 1
    await crawled(world)

    def fetches(url: str) -> int:
        return sum(visit.url == url for visit in world.log)

    first, pages = fetches(seed), len({visit.url for visit in world.log})
    assert first > 0 and pages > 1
    await world.kill(node)
    await world.restart(node)
    desk = service_of(world, node).owner
    (job,) = await desk.jobs()
    assert (job.number, job.first, job.every) == (1, seed, "daily")
    await desk.submit_due()
    await world.pass_time(30.0)
    assert fetches(seed) == first, "it is not due yet"
    node.clock.ahead_s += 86_400.0
    await desk.submit_due()
    await world.until(lambda: fetches(seed) == first + 1, 60.0)
    (again,) = await desk.jobs()
    assert again.number == 1 and again.at >= job.at + 86_400.0
    assert (await desk.cancel(1)) is not None
    node.clock.ahead_s += 86_400.0
    await desk.submit_due()
    await world.pass_time(30.0)
    assert fetches(seed) == first + 1


@simulated(WorldPlan(hosts=8, pages=20))
async def test_a_crawl_is_listed_and_cancelled_after_a_restart_too(world: World) -> None:
    (node,) = await world.add(1)
    await service_of(world, node).crawl([world.web.seed_url], depth=100, exclude=["/never/"])
    await world.pass_time(30.0)
    await world.kill(node)
    await world.restart(node)
    await world.pass_time(10.0)
    desk = service_of(world, node).owner
    (job,) = await desk.jobs()
    assert (job.number, job.first, job.depth) == (1, world.web.seed_url, 100) and not job.is_done
    assert job.scope == "the whole web without /never/"
    told = [await service_of(world, node).explain(f"https://new.test/{path}/") for path in ("never", "ever")]
    assert told[0].why.startswith("excluded by job 1 of this node; not queued")
    assert [each.answer for each in told] == ["unknown"] * 2 and told[1].why.startswith("not queued: add it with")
    assert (await desk.cancel(1)) is not None
    desk.step()
    await world.pass_time(20.0)
    await desk.jobs()
    settled = len(world.log)
    await world.pass_time(300.0)
    (job,) = await desk.jobs()
    assert job.is_done and len(world.log) == settled
    await world.kill(node)
    await world.restart(node)
    assert await service_of(world, node).owner.jobs() == (), "a cancelled job is not listed again"


@simulated(WorldPlan(hosts=12, pages=1))
async def test_a_daily_job_has_its_seeds_fetched_again_in_the_slots_of_other_members_too(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(120.0)
    assert all(node.overlay.view.leases() for node in nodes), "each of them crawls something"
    seeds = sorted(url for url, state in world.web.outcomes().items() if state == VisitState.FETCHED)[:10]
    service = service_of(world, nodes[0])
    assert (await service.crawl(seeds, depth=0, every="daily")).accepted == len(seeds)
    await crawled(world)
    first = Counter(visit.url for visit in world.log)
    crawlers = {visit.node for visit in world.log if visit.url in seeds}
    assert len(crawlers) > 1, "the seeds lie in slots of several members"
    for node in nodes:
        node.clock.ahead_s += 86_400.0
    await world.until(lambda: sum(len(node.overlay.view.leases()) for node in nodes) == 16, 900.0)
    await world.pass_time(60.0)
    await service.owner.submit_due()
    await world.until(lambda: all(Counter(v.url for v in world.log)[url] > first[url] for url in seeds), 120.0)


@simulated(WorldPlan(hosts=1, pages=1))
async def test_a_daily_job_that_a_full_disk_stops_is_submitted_again_an_hour_later(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    (node,) = await world.add(1)
    service, seed = service_of(world, node), world.web.seed_url
    await service.crawl([seed], depth=0, every="daily")
    await crawled(world)
    fetched = len(world.log)
    node.disk.capacity_bytes = 0
    node.clock.ahead_s += 86_400.0
    for _ in range(30):
        await service.owner.submit_due()
        await world.pass_time(60.0)
    assert caplog.text.count("job is tried again in an hour") == 1
    node.disk.capacity_bytes = 1 << 40
    await world.pass_time(1900.0)
    await service.owner.submit_due()
    await world.until(lambda: len(world.log) > fetched, 60.0)


@simulated(WorldPlan(hosts=1, pages=1))
async def test_a_damaged_file_of_wishes_stops_the_start_and_names_the_remedy(world: World) -> None:
    (node,) = await world.add(1)
    await node.node_core.hosts.wish("a.test", "refused")
    path = node.folder / "hosts.json"
    assert b"a.test" in path.read_bytes()
    await world.kill(node)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(BadDataDir, match=r"hosts\.json: cannot be read: .*; mend it, or delete it"):
        await world.restart(node)
