"""Lists of sitemaps are told by whoever read them."""

from dht import placement_key, slot_of
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.jobs.sitemap_listing import fitting
from tests.sim.simulated import simulated


def test_an_answer_holds_what_fits() -> None:
    assert fitting(("aaa", "bb", "c"), 11) == ("aaa", "bb")
    assert fitting(("aaa",), 3) == ()


def _owns(node: SimNode, url: str) -> bool:
    view = node.overlay.view
    return node.overlay.view.node_id in view.live_owners(slot_of(placement_key(url), view.strategy.slot_bits))


@simulated(WorldPlan(seed=2, hosts=2, pages=2, replicas=2))
async def test_any_node_hears_what_an_owner_read(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(12.0)
    url = world.web.seed_url
    (holder,) = [n for n in nodes if (await n.node_core.jobs.explanations.explain(url)).holder["self"]]
    for reader in (holder, *(n for n in nodes if n is not holder and _owns(n, url))):
        reader.node_core.crawl.crawler._sitemap_reader.listings.add(url, [f"{url}1"])
        assert [await node.node_core.jobs.listing.find(url) for node in nodes] == [(f"{url}1",)] * 3
        reader.node_core.crawl.crawler._sitemap_reader.listings.add(url, [])
        assert [await node.node_core.jobs.listing.find(url) for node in nodes] == [()] * 3
    holder.node_core.crawl.crawler._sitemap_reader.listings.add(url, [url])
    world.wire.kill(holder.name)
    other = next(node for node in nodes if node is not holder)
    assert await other.node_core.jobs.listing.find(url) == ()
