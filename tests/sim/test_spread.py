"""A big site that lies in many places: several nodes crawl it, and it sees one polite crawler."""

from collections import Counter
from dataclasses import replace

import pytest

from dht import Rule, ShardPolicy, slot_of
from node.simulation import sim_node
from node.simulation.census import repeated, take_census
from node.simulation.world import World, WorldPlan, simulate
from store import Kind, decode_document
from tests.sim.judged import assert_complete, assert_one_answer, assert_polite, crawled

BIG = "site0.example"
SPREAD = Rule(action="spread", host=BIG, depth=2)


def crawlers(world: World, since: int = 0) -> Counter[str]:
    """How many pages of the big site each node asked for."""
    return Counter(v.node for v in world.log[since:] if f"//{BIG}/" in v.url and not v.url.endswith("robots.txt"))


def keepers(world: World) -> set[str]:
    """Nodes that hold a lease of a slot in which pages of the big site lie."""
    nodes = world.running()
    slots = {
        slot_of(nodes[0].node_core.store.shards.key_of(url), world.plan.slot_bits)
        for url in take_census(nodes).visits
        if f"//{BIG}/" in url
    }
    return {node.name for node in nodes if slots & node.overlay.view.leases().keys()}


def test_a_site_spread_from_the_beginning_is_crawled_by_several_as_if_by_one():
    async def scenario(world: World) -> None:
        await world.add(6)
        await world.pass_time(8.0)
        world.publish(rules=(SPREAD,))
        await world.pass_time(20.0)
        await world.crawl()
        await crawled(world)
        assert_complete(world)
        assert_polite(world)
        assert not repeated(world.log)
        assert len(crawlers(world)) >= 3, crawlers(world)
        await assert_one_answer(world, [world.web.words[0], f"{world.web.words[1]} site:{BIG}"], 6)

    simulate(scenario, WorldPlan(seed=21, hosts=2, pages=80, slot_bits=6))


@pytest.mark.parametrize(("move_every_s", "replicas"), [(10.0, 3), (200.0, 1)])
def test_a_site_spread_in_mid_crawl_moves_and_nothing_is_fetched_twice(
    move_every_s: float, replicas: int, monkeypatch: pytest.MonkeyPatch
):
    """Also where the move takes long, and crawlers find at the old place what is not at the new one yet."""
    monkeypatch.setattr(sim_node, "STORE", replace(sim_node.STORE, move_every_s=move_every_s))

    async def scenario(world: World) -> None:
        await world.add(6)
        await world.pass_time(8.0)
        await world.crawl()
        await world.pass_time(60.0)
        mark = len(world.log)
        before = len(take_census(world.running()).texts)
        assert before > 10
        world.publish(rules=(SPREAD,))
        await world.pass_time(10.0)
        await crawled(world)
        await world.pass_time(120.0 + 2 * move_every_s)
        await crawled(world)
        assert_complete(world)
        assert_polite(world)
        assert not repeated(world.log)
        assert len(crawlers(world, mark)) >= 3, crawlers(world, mark)
        assert len(keepers(world)) >= 3
        for node in world.running():
            place = node.node_core.store.shards.key_of
            for record in node.node_core.store.records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20):
                assert record.key == place(decode_document(record.body).url), "nothing stays behind"
        await assert_one_answer(world, [world.web.words[0], f"{world.web.words[1]} site:{BIG}"], 6)

    simulate(scenario, WorldPlan(seed=22, hosts=2, pages=80, slot_bits=6, replicas=replicas, min_acks=min(2, replicas)))


def spread_sites(world: World) -> dict[str, int]:
    """Sites that the network spreads, by what its records say; all their owners must have them."""
    return {host.url: host.depth for host in take_census(world.running()).hosts.values() if host.depth}


@pytest.mark.parametrize(("nodes", "pages", "hosts"), [(6, 60, 4), pytest.param(16, 90, 16, marks=pytest.mark.prove)])
def test_the_network_itself_spreads_its_biggest_site_in_mid_crawl(
    nodes: int, pages: int, hosts: int, monkeypatch: pytest.MonkeyPatch
):
    """Sites by Zipf: the biggest alone is more than a quarter of what a node keeps on average."""
    bounds = ShardPolicy(pages=pages * 5 // 9, nodes=nodes, look_every_s=20.0)
    monkeypatch.setattr(sim_node, "SPREADING", bounds)

    async def scenario(world: World) -> None:
        await world.add(nodes)
        await world.pass_time(30.0)
        await world.crawl()
        await world.until(lambda: bool(spread_sites(world)), 600.0)
        mark = len(world.log)
        await crawled(world)
        await world.pass_time(60.0)
        await crawled(world)
        assert spread_sites(world).keys() == {f"https://{BIG}/"}
        assert_complete(world)
        assert_polite(world)
        assert not repeated(world.log)
        assert len(crawlers(world, mark)) >= 2, crawlers(world, mark)
        assert_nothing_astray(world)
        await assert_one_answer(world, [world.web.words[0], f"{world.web.words[1]} site:{BIG}"], 4)

    simulate(scenario, WorldPlan(seed=24, hosts=hosts, pages=pages, slot_bits=6, zipf=True))


def assert_nothing_astray(world: World) -> None:
    place = next(
        node for node in world.running() if node.node_core.store.host_book.spreads
    ).node_core.store.shards.key_of
    for node in world.running():
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20):
            url = decode_document(record.body).url
            assert record.key == place(url), f"{node.name} has {url} where it does not belong"
