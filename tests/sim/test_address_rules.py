"""Rules by address in a whole network: hosts are contacted where all rules allow, and nowhere else."""

from crawl import VisitState
from dht import Rule, split_url
from node.extras.simulation.census import take_census
from node.extras.simulation.world import World, WorldPlan
from node.strategy.draft import DraftRequest
from tests.node.jobs.test_explain import explained
from tests.sim.judged import assert_complete, assert_polite, crawled
from tests.sim.simulated import simulated
from tests.sim.test_steering import obey, publish, refusing

SMALL = WorldPlan(seed=5, hosts=10, pages=4)
OURS = Rule(action="only", prefixes=("10.20.0.0/16", "2001:db8::/48"))


def placed(world: World) -> None:
    """Hosts 0 to 3 are inside of our IPv4 prefix, 4 and 5 of our IPv6 prefix, all others elsewhere."""
    for number in range(10):
        inside = f"10.20.0.{number}" if number < 4 else f"2001:db8::{number}" if number < 6 else f"192.0.2.{number}"
        world.web.addresses[f"site{number}.example"] = inside


def asked(world: World, node: str = "") -> set[str]:
    return {split_url(seen.url).host for seen in world.log if node in ("", seen.node)}


OUTSIDE = {f"site{number}.example" for number in range(6, 10)}


@simulated(SMALL)
async def test_only_our_prefixes_are_contacted_and_what_was_refused_is_fetched_once_the_rule_goes(world: World) -> None:
    placed(world)
    nodes = await world.add(4)
    await world.pass_time(8.0)
    publish(world, DraftRequest({}, rules=[OURS, Rule(action="never", host="site3.example", prefixes=("10.20.0.3",))]))
    await world.until(lambda: obey(world, 2), 20.0)
    publish(world, DraftRequest({}, rules=[Rule(host="*.example", min_delay_s=1.0)]))
    await world.until(lambda: obey(world, 3), 20.0)
    await world.crawl()
    await crawled(world)
    assert asked(world) and not asked(world) & {*OUTSIDE, "site3.example"}
    refused = [v for v in take_census(world.running()).visits.values() if v.state == VisitState.REFUSED]
    reasons = {split_url(v.url).host: v.reason for v in refused}
    assert reasons["site7.example"] == (
        "address: rule 2 of strategy 3 says only from 10.20.0.0/16 and 2001:db8::/48, and site7.example is at 192.0.2.7"
    )
    assert "rule 3 of strategy 3 says never from 10.20.0.3, and site3" in reasons["site3.example"]
    told = await explained(nodes[0], "http://site7.example/new")
    assert told["answer"] == "no" and "site7.example is at 192.0.2.7" in told["why"]
    assert told["rule"]["addresses"] == ["rule 2: only from 10.20.0.0/16 and 2001:db8::/48"]
    before = len(world.log)
    await world.pass_time(600.0)
    assert not asked(world) & OUTSIDE
    assert {v.due_at - v.visited_at for v in refused if "address:" in v.reason} == {30 * 86_400.0}, "not soon again"
    assert len(world.log) == before
    publish(world, DraftRequest({}, drop_rules=[2, 3]))
    await world.until(lambda: obey(world, 4), 20.0)
    await world.pass_time(5.0)
    await crawled(world)
    assert asked(world) >= OUTSIDE
    assert_complete(world)
    assert_polite(world)


@simulated(SMALL)
async def test_an_operators_prefixes_bind_one_node_and_other_owners_fetch(world: World) -> None:
    placed(world)
    nodes = await world.add(4)
    await refusing(world, nodes[1], "only 10.20.0.0/16", "10.20.0.3")
    await refusing(world, nodes[2], "192.0.2.0/24")
    await world.pass_time(60.0)
    await world.crawl()
    await crawled(world)
    assert asked(world, "n1") <= {f"site{number}.example" for number in range(3)}
    assert not asked(world, "n2") & OUTSIDE
    assert asked(world) >= OUTSIDE
    assert_complete(world)
    assert_polite(world)


@simulated(SMALL)
async def test_what_all_operators_refuse_by_address_waits_with_its_reason(world: World) -> None:
    placed(world)
    for node in await world.add(3):
        await refusing(world, node, "10.20.0.0/16")
    await world.pass_time(40.0)
    await world.crawl()
    await world.pass_time(60.0)
    assert not world.log
    (visit,) = take_census(world.running()).visits.values()
    assert visit.state == VisitState.FAILED and visit.due_at - visit.visited_at >= 3_600.0
    assert visit.reason.startswith('refused here by crawl.refuse "10.20.0.0/16": the host is at 10.20.0.0: no other')
    told = await explained(world.running()[0], visit.url)
    assert told["fetcher"]["node_id"] != told["holder"]["node_id"], "the next one is asked, and refuses, too"
    assert told["fetcher"]["why"] == 'refused here by crawl.refuse "10.20.0.0/16": the host is at 10.20.0.0'


@simulated(SMALL)
async def test_a_named_crawler_that_its_operator_keeps_from_the_address_leaves_it_to_the_holder(world: World) -> None:
    placed(world)
    nodes = await world.add(4)
    await refusing(world, nodes[3], "192.0.2.0/24")
    await world.pass_time(60.0)
    name = nodes[3].overlay.node_id.hex()
    publish(world, DraftRequest({}, rules=[Rule(action="prefer", host="*.example", peer=name)]))
    await world.until(lambda: obey(world, 2), 20.0)
    await world.crawl()
    await crawled(world)
    assert not asked(world, "n3") & OUTSIDE and asked(world, "n3") >= {"site0.example"}
    assert_complete(world)
    assert_polite(world)
    urls = {seen.url for seen in world.log if split_url(seen.url).host in OUTSIDE and "robots" not in seen.url}
    all_told = [await explained(nodes[0], url) for url in sorted(urls)]
    told = [each["fetcher"] for each in all_told if each["holder"]["node_id"] != name]
    assert told and all("rule 1 names, did not carry out the last order" in each["why"] for each in told)
    assert name not in {each["node_id"] for each in told}
