"""A big site that lies in many places: several nodes crawl it, and it sees one polite crawler."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from dht import Rule, ShardPolicy, slot_of
from node.extras.simulation import sim_node
from node.extras.simulation.census import repeated, take_census
from node.extras.simulation.world import World, WorldPlan, simulate
from store import Kind, decode_document
from tests.parameters import proved
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


# in some worlds two nodes have all four places
MORE_SEEDS = [pytest.param(seed, 2, marks=pytest.mark.prove) for seed in range(20, 41)]


OUTCOMES = f"SELECT kind, id, epoch, at_ms FROM records WHERE epoch > 0 AND kind IN ({Kind.DOCUMENT:d}, {Kind.VISIT:d})"


class CopyWatch:
    """Watches from outside, all the time, that no page or outcome which had all its copies has fewer later."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept = dict[tuple[int, bytes], tuple[int, int]]()  # what had all its copies once
        self.seen = 0

    async def run(self) -> None:
        """Look every quarter of a second, until cancelled."""
        while True:
            await asyncio.sleep(0.25)
            self.look()

    def look(self) -> None:
        """Take stock of this moment."""
        held = dict[tuple[int, bytes], list[tuple[int, int]]]()
        for node in self._world.running():
            for kind, id, *version in node.node_core.store.records.tables.query(OUTCOMES):
                held.setdefault((kind, id), []).append((version[0], version[1]))
        for name, version in self._kept.items():
            copies = sum(found >= version for found in held.get(name, ()))
            assert copies >= self._world.plan.replicas, f"{name} has {copies} copies at {self._world.loop.time()}"
        for name, versions in held.items():
            if versions.count(newest := max(versions)) >= self._world.plan.replicas:
                self._kept[name] = newest
        self.seen = len(self._kept)


async def watched(world: World, scenario: Callable[[World], Awaitable[None]]) -> None:
    """Run a scenario while its copies are watched."""
    watch = CopyWatch(world)
    async with asyncio.TaskGroup() as tasks:
        looking = tasks.create_task(watch.run())
        await scenario(world)
        looking.cancel()
    assert watch.seen > 50


@pytest.mark.parametrize(("seed", "least"), [(21, 3), *MORE_SEEDS])
def test_a_site_spread_from_the_beginning_is_crawled_by_several_as_if_by_one(seed: int, least: int):
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
        assert len(crawlers(world)) >= least, crawlers(world)
        await assert_one_answer(world, [world.web.words[0], f"{world.web.words[1]} site:{BIG}"], 6)

    simulate(scenario, WorldPlan(seed=seed, hosts=2, pages=80, slot_bits=6))


@pytest.mark.parametrize(("move_every_s", "replicas"), proved((10.0, 3), (200.0, 1)))
@pytest.mark.parametrize(("seed", "least"), [(22, 3), *MORE_SEEDS])
def test_a_site_spread_in_mid_crawl_moves_and_nothing_is_fetched_twice(
    seed: int, least: int, move_every_s: float, replicas: int
):
    """Also where the move takes long, and crawlers find at the old place what is not at the new one yet."""

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
        assert len(crawlers(world, mark)) >= least, crawlers(world, mark)
        assert len(keepers(world)) >= least
        for node in world.running():
            place = node.node_core.store.shards.key_of
            for record in node.node_core.store.records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20):
                assert record.key == place(decode_document(record.body).url), "nothing stays behind"
        await assert_one_answer(world, [world.web.words[0], f"{world.web.words[1]} site:{BIG}"], 6)

    plan = WorldPlan(seed=seed, hosts=2, pages=80, slot_bits=6)
    plan = replace(plan, replicas=replicas, store=replace(plan.store, move_every_s=move_every_s))
    simulate(lambda world: watched(world, scenario), plan)


def spread_sites(world: World) -> dict[str, int]:
    """Sites that the network spreads, by what its records say; all their owners must have them."""
    return {host.url: host.depth for host in take_census(world.running()).hosts.values() if host.depth}


@pytest.mark.parametrize(
    ("nodes", "pages", "hosts", "seed"),
    [
        (6, 60, 4, 24),
        *proved((16, 90, 16, 24)),
        *(pytest.param(6, 60, 4, case.values[0], marks=pytest.mark.prove) for case in MORE_SEEDS),
    ],
)
def test_the_network_itself_spreads_its_biggest_site_in_mid_crawl(
    nodes: int, pages: int, hosts: int, seed: int, monkeypatch: pytest.MonkeyPatch
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

    plan = WorldPlan(seed=seed, hosts=hosts, pages=pages, slot_bits=6, zipf=True)
    simulate(lambda world: watched(world, scenario), plan)


def test_a_named_crawler_fetches_all_of_a_site_that_the_network_spreads(monkeypatch: pytest.MonkeyPatch):
    """Several nodes hold its parts; the named one need not know that it is spread."""
    monkeypatch.setattr(sim_node, "SPREADING", ShardPolicy(pages=33, nodes=6, look_every_s=20.0))

    async def scenario(world: World) -> None:
        nodes = await world.add(6)
        await world.pass_time(8.0)
        name = nodes[4].overlay.node_id.hex()
        world.publish(rules=(Rule(action="prefer", host=BIG, peer=name),))
        await world.pass_time(20.0)
        await world.crawl()
        await crawled(world)
        assert spread_sites(world) and len(keepers(world)) > 1
        assert crawlers(world).keys() == {nodes[4].name}
        assert_complete(world)
        assert_polite(world)
        assert not repeated(world.log)

    simulate(scenario, WorldPlan(seed=24, hosts=4, pages=60, slot_bits=6, zipf=True))


def assert_nothing_astray(world: World) -> None:
    place = next(
        node for node in world.running() if node.node_core.store.host_book.spreads
    ).node_core.store.shards.key_of
    for node in world.running():
        for record in node.node_core.store.records.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20):
            url = decode_document(record.body).url
            assert record.key == place(url), f"{node.name} has {url} where it does not belong"
