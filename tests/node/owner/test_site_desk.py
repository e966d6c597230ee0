"""A node lists the sites that it crawls, and asks the members for theirs; who does not answer is said to be missing."""

from collections import Counter

import pytest

from crawl import VisitState
from dht import BadMessage, NodeId
from node.extras.simulation.world import World, WorldPlan
from node.owner.site_desk import AskSites
from tests.sim.judged import crawled, service_of
from tests.sim.simulated import simulated


@simulated(WorldPlan(seed=3, hosts=8, pages=8, slot_bits=4, replicas=2))
async def test_sites_of_the_network_are_those_of_all_members_with_their_pages(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    services = [service_of(world, node) for node in nodes]
    stored = Counter[str]()
    for url, state in world.web.outcomes().items():
        stored[url.split("/")[2]] += state == VisitState.FETCHED
    found = await services[0].sites.network("", "pages", 0, 50)
    assert {row.site: row.pages for row in found.sites} == dict(stored)
    assert (found.members, found.answered, found.partial, found.cut) == (3, 3, False, False)
    assert [row.pages for row in found.sites] == sorted(stored.values(), reverse=True)
    own = [service.sites.own("", "name", 0, 50) for service in services]
    assert sum(table.all for table in own) == found.all == len(stored)
    for node, table in zip(nodes, own, strict=True):
        assert [row.site for row in table.sites] == sorted(
            row.site for row in found.sites if row.crawled_by[0].node_id == node.overlay.view.node_id.hex()
        )
    assert all(row.visited_at and row.known >= row.pages for table in own for row in table.sites)
    site = found.sites[0].site
    (row,) = (await services[0].sites.network(site[:4], "name", 0, 1)).sites
    assert row.site.startswith(site[:4])
    with pytest.raises(BadMessage, match="for members"):
        await services[0].sites._tell(NodeId(bytes(20)), AskSites())
    await world.kill(nodes[2])
    await world.pass_time(70.0)
    later = await services[0].sites.network("", "pages", 0, 50)
    assert later.partial and (later.members, later.answered) == (3, 2)
