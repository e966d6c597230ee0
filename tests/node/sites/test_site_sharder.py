"""Which sites a node spreads: those at home with it alone, if they are big, in networks that are large enough."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from crawl import Page
from dht import Rule, ShardPolicy, slot_of
from node.extras.simulation import sim_node
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from store import HostAlias, HostRecord, TooFewCopies, decode_host, host_name, host_url

BIG, SMALL, RULED = "big.example", "small.example", "ruled.example"
PAGES = 24
RULE = Rule(action="spread", host=RULED, depth=0)
MIRROR = HostAlias(False, "https://big.example/", 1e9, 1)


def holder(world: World, site: str) -> SimNode:
    home = slot_of(host_name(site)[1], world.plan.slot_bits)
    return next(node for node in world.running() if home in node.overlay.view.leases())


async def look(world: World) -> None:
    for node in world.running():
        await node.node_core.sites.sharder.step()


def said(world: World) -> dict[str, HostRecord]:
    return take_census(world.running()).hosts


def spreading(
    monkeypatch: pytest.MonkeyPatch, scenario: Callable[[World], Awaitable[None]], *, least: int = 3, pages: int = PAGES
) -> None:
    """A story of three nodes that keep a big site, a ruled one as big, and smaller ones."""
    bounds = ShardPolicy(pages=pages, share=0.25, nodes=least, look_every_s=1e6)  # the story says when
    monkeypatch.setattr(sim_node, "SPREADING", bounds)

    async def prepared(world: World) -> None:
        await world.add(3)
        await world.pass_time(60.0)
        world.publish(rules=(RULE,))
        await world.pass_time(5.0)
        for site, count in ((BIG, PAGES), (RULED, PAGES), (SMALL, PAGES // 2)):
            await keep(world, site, count)
        await scenario(world)

    simulate(prepared, WorldPlan(seed=9, hosts=1, pages=2, slot_bits=5, replicas=1))


async def keep(world: World, site: str, count: int) -> None:
    """Have the holder of a site's slot store its pages."""
    for n in range(count):
        now = world.loop.clock()().wall
        page = Page(f"https://{site}/{n}", now, 200, (), b"x", "text/html", "", "", "t", (), "text", ())
        while True:
            try:
                await holder(world, site).node_core.store.ingest.keep(page, 1)
                break
            except TooFewCopies:
                await asyncio.sleep(1.0)


def test_a_big_site_is_spread_once_by_who_holds_its_home(monkeypatch: pytest.MonkeyPatch):
    def epoch(world: World) -> int:
        view = holder(world, BIG).overlay.view
        return view.leases()[slot_of(host_name(BIG)[1], world.plan.slot_bits)]

    async def scenario(world: World) -> None:
        keeper = holder(world, BIG)
        for node in world.running():
            if node is not keeper:
                await node.node_core.sites.sharder.step()
        assert not said(world), "others leave it alone"
        await keeper.node_core.sites.writer.change(BIG, epoch(world), lambda host: replace(host, aliases=(MIRROR,)))
        assert not said(world)[host_url(BIG)].depth
        await look(world)
        record = said(world)[host_url(BIG)]
        assert said(world).keys() == {host_url(BIG)}, "a rule and a small size leave the others where they are"
        assert record.depth > 0 and record.before == 0 and record.since > 1e9
        assert record.aliases == (MIRROR,), "what else the record says stays"
        assert keeper.node_core.store.host_book.depths(BIG)[0] == record.depth, "its writer goes by it at once"
        await look(world)
        assert said(world)[host_url(BIG)] == record, "written once, though nothing has moved yet"

        keeper = holder(world, SMALL)
        keeper.node_core.store.host_records.believe(HostRecord(host_url(SMALL), 5))
        lease = keeper.overlay.view.leases()[slot_of(host_name(SMALL)[1], world.plan.slot_bits)]
        await keeper.node_core.sites.writer.change(SMALL, lease, lambda host: replace(host, aliases=(MIRROR,)))
        assert said(world)[host_url(SMALL)].depth == 5, "also where its holder lacks the record that it has read once"

    spreading(monkeypatch, scenario)


@pytest.mark.parametrize(("least", "pages"), [(4, PAGES), (3, PAGES + 1)])
def test_small_networks_and_sites_are_left_alone(least: int, pages: int, monkeypatch: pytest.MonkeyPatch):
    async def scenario(world: World) -> None:
        await look(world)
        assert not said(world)

    spreading(monkeypatch, scenario, least=least, pages=pages)


def test_a_record_is_renewed_before_it_expires_and_never_spread_less(monkeypatch: pytest.MonkeyPatch):
    async def scenario(world: World) -> None:
        await look(world)
        keeper, (id, _) = holder(world, BIG), host_name(BIG)
        before, writer = keeper.node_core.store.records.find(3, id), keeper.node_core.sites.writer  # type: ignore[arg-type]
        assert before is not None
        await writer.renew(BIG, before.version.epoch)
        assert keeper.node_core.store.records.find(before.kind, id) == before, "it lasts for a long time yet"
        monkeypatch.setattr("node.sites.host_records.RENEW_DAYS", 801)
        await world.pass_time(1.0)
        await writer.renew(BIG, before.version.epoch)
        after = keeper.node_core.store.records.find(before.kind, id)
        assert after is not None and after.version > before.version and after.body == before.body
        await writer.change(BIG, before.version.epoch, lambda host: replace(host, aliases=(MIRROR,)))
        written = keeper.node_core.store.records.find(before.kind, id)
        assert written is not None and decode_host(written.body).depth == decode_host(before.body).depth

    spreading(monkeypatch, scenario)
