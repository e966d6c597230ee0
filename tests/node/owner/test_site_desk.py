"""A node lists the sites that it crawls, and asks the members for theirs; who does not answer is said to be missing."""

from collections import Counter
from time import process_time
from types import SimpleNamespace
from typing import Any

import pytest

from crawl import VisitState
from dht import BadMessage, NodeId, PeerTimeout
from node.extras.simulation.world import World, WorldPlan
from node.owner.site_desk import TOLD, AskSites, SiteDesk, ToldSite, ToldSites
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


class Members:
    """The overlay of one of a thousand members, each of which tells of TOLD sites; nine in ten sites lie with several.
    One in ten members does not answer."""

    def __init__(self) -> None:
        self.peers = [NodeId(n.to_bytes(20, "big")) for n in range(1000)]
        self.asked = 0
        self.view = SimpleNamespace(
            members=lambda: self.peers,
            is_live=lambda peer: True,
            node_id=self.peers[0],
            peers=SimpleNamespace(heartbeat=lambda peer: None),
        )
        self.report = SimpleNamespace(own_name="")
        self.told = [
            ToldSites(tuple(ToldSite(f"s{n}.t{part}.test", n, n, 0, n, 0) for n in range(TOLD)), TOLD + part)
            for part in range(10)
        ]

    def serve(self, *handler: object) -> None:
        pass

    async def ask(self, peer: NodeId, *message: object, timeout_s: float) -> ToldSites:
        self.asked += 1
        number = int.from_bytes(peer, "big")
        if number % 10 == 9:
            raise PeerTimeout(peer.hex(), timeout_s)
        return self.told[number % 10]


async def test_a_thousand_members_with_a_thousand_sites_each_are_summed_up_in_seconds() -> None:
    members: Any = Members()
    desk, began = SiteDesk(None, members, None), process_time()  # type: ignore[arg-type]
    first = await desk.network("", "pages", 0, 40)
    assert process_time() - began < 5.0, "of ten seconds on a machine that has other work"
    assert (first.members, first.answered, first.partial, first.cut) == (1000, 900, True, True)
    assert first.all == 9 * TOLD and {row.pages for row in first.sites[:9]} == {100 * (TOLD - 1)}
    assert all(len(row.crawled_by) == 100 for row in first.sites)
    some = await desk.network("s7.", "name", 0, 40)
    assert (some.matching, some.all, len(some.sites)) == (9, 9 * TOLD, 9)
    assert members.asked == 1000, "pages of one list ask nobody again"
