"""Machines that have one family of address, believe in both, and are in one network with others."""

import pytest

from dht import Family
from index import SearchRequest
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_fetched_once, assert_polite, crawled
from tests.sim.simulated import simulated

MIXED: tuple[tuple[Family, ...], ...] = ((4, 6), (4,), (6,), (4,), (6,))
ONE_VIEW_S = 60.0
MISSED_S = 9.0  # two of four ask each: by turns that take 5 and 10 s, and twice


async def start(world: World) -> list[SimNode]:
    """Nodes that listen in both families, whatever their machines have."""
    nodes = [await world.add_with(families) for families in MIXED]
    everybody = {node.identity.node_id for node in nodes}
    await world.until(lambda: all(node.overlay.view.live() == everybody for node in nodes), ONE_VIEW_S)
    return nodes


@simulated(WorldPlan(hosts=6))
async def test_machines_of_one_family_crawl_once_and_give_one_answer(world: World) -> None:
    nodes = await start(world)
    for node, families in zip(nodes, MIXED, strict=True):
        assert node.overlay.families.working == set(families)
    world.web.families.update({"site1.example": (4,), "site2.example": (6,)})
    await world.crawl()
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
    assert_polite(world)
    word, totals = world.web.words[0], set()
    for node in nodes:
        answer = await node.node_core.index.searcher.search(SearchRequest(word, limit=10))
        assert answer["exact"], node.name
        totals.add((answer["total"], tuple(hit["url"] for hit in answer["results"])))
    assert len(totals) == 1, totals


@simulated(WorldPlan(hosts=3))
async def test_where_nobody_has_a_family_its_sites_wait_until_somebody_has_and_nobody_is_blamed(world: World) -> None:
    for _ in range(3):
        await world.add_with((4,))
    world.web.families["site1.example"] = (6,)
    await world.pass_time(10.0)
    await world.crawl()
    await world.pass_time(240.0)
    assert not any("site1.example" in visited.url for visited in world.log)
    assert all(node.node_core.crawl.crawler.status().broken == 0 for node in world.running())
    waiting = [v for v in take_census(world.running()).visits.values() if "site1.example" in v.url and v.reason]
    assert waiting and all("IPv6 alone, which no node that is there now has" in visit.reason for visit in waiting)
    await world.add_with((4, 6))
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)


@simulated()
async def test_a_node_that_only_a_relay_could_join_to_others_says_so(world: World) -> None:
    both, four, six = [await world.add_with(families) for families in ((4, 6), (4,), (6,))]
    await world.pass_time(20.0)
    assert four.overlay.report.warnings() == six.overlay.report.warnings() == both.overlay.report.warnings() == ()
    await world.kill(both)
    claim = "no live peer with both families is there to relay"
    await world.until(lambda: any(claim in told for told in four.overlay.report.warnings()), 20.0)


@simulated(WorldPlan(hosts=4))
async def test_a_pair_whose_direct_way_is_broken_is_joined_by_a_relay(world: World) -> None:
    nodes = [await world.add_with((4, 6)) for _ in range(4)]
    await world.pass_time(20.0)
    one, other = nodes[1], nodes[2]
    world.wire.break_way(one.name, other.name)
    await world.pass_time(60.0)
    assert all(len(node.overlay.view.live()) == 4 for node in nodes), "others vouch for both"
    await world.crawl()
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)


@simulated()
async def test_a_family_that_comes_and_goes_is_followed(world: World) -> None:
    nodes = [await world.add_with(families) for families in ((4, 6), (4, 6), (4, 6), (6,))]
    await world.pass_time(20.0)
    laptop = nodes[1]
    (six,) = (address for address in laptop.addresses if address.family == 6)
    laptop.wire.lose(6)
    await world.until(lambda: families_of(laptop, nodes[0]) == {4}, 12.0)
    assert laptop.overlay.families.reason(6) == "this machine has no route"
    laptop.wire.move(six._replace(host="2606:4700:ffff::1"))
    await world.until(lambda: host_of(laptop, nodes[3]) == "2606:4700:ffff::1", 12.0)


def families_of(node: SimNode, seen_by: SimNode) -> frozenset[Family]:
    contact = seen_by.overlay.view.contact(node.identity.node_id)
    return contact.families if contact is not None else frozenset()


def host_of(node: SimNode, seen_by: SimNode) -> str:
    contact = seen_by.overlay.view.contact(node.identity.node_id)
    endpoint = contact.endpoint(6) if contact is not None else None
    return endpoint.host if endpoint is not None else ""


@pytest.mark.parametrize("seed", [1, *proved(2)])
def test_a_frozen_machine_of_the_other_family_is_missed_as_soon_as_by_those_who_can_ask_it(seed: int) -> None:
    async def scenario(world: World) -> None:
        nodes = await start(world)
        await world.pass_time(30.0)
        for frozen in nodes[1:]:
            id, at = frozen.overlay.node_id, world.loop.time()
            others = [node for node in nodes if node is not frozen]
            world.sleep(frozen)
            await world.until(lambda id=id, others=others: not any(n.overlay.view.is_live(id) for n in others), 40.0)
            assert world.loop.time() - at <= MISSED_S, frozen.name
            world.wake(frozen)
            await world.pass_time(40.0)

    simulate(scenario, WorldPlan(seed=seed))
