"""Hosts that an owner pauses or refuses while the network crawls: who asks them, and that wishes outlast a restart."""

from urllib.parse import urlsplit

import pytest

from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import assert_complete, assert_polite, crawled
from tests.sim.simulated import simulated

SMALL = WorldPlan(hosts=6, pages=6)


def hosts_of(world: World) -> list[str]:
    return sorted({urlsplit(url).netloc for url in world.web.outcomes()})


def asked(world: World, node: SimNode, host: str) -> int:
    return sum(visit.node == node.name and urlsplit(visit.url).hostname == host for visit in world.log)


@simulated(SMALL)
async def test_a_paused_host_is_asked_nothing_until_it_is_allowed_even_over_a_restart(world: World) -> None:
    (node,) = await world.add(1)
    host = hosts_of(world)[-1]  # the first one has the seed
    await node.node_core.hosts.wish(host, "held")
    await world.pass_time(8.0)
    await world.crawl()
    await world.pass_time(300.0)
    assert asked(world, node, host) == 0 and len(world.log) > 20
    page = node.node_core.crawl.crawler.sites(host, "", "", 10)
    assert [(row.host, row.why) for row in page.rows] == [(host, "held")] and page.all == len(hosts_of(world))
    assert "hosts that this node's owner has paused" in node.node_core.crawl.crawler.status().reason
    await world.kill(node)
    await world.restart(node)
    assert node.node_core.hosts.wishes.of(host) == "held"
    await world.pass_time(120.0)
    assert asked(world, node, host) == 0
    await node.node_core.hosts.wish(host, "")
    await crawled(world)
    assert asked(world, node, host) > 0
    assert_complete(world)
    assert_polite(world)


@pytest.mark.prove
@simulated(SMALL)
async def test_a_refused_host_is_fetched_by_others_alone_and_peers_are_told(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(8.0)
    refusing, mark = nodes[1], len(world.log)
    for host in hosts_of(world):
        await refusing.node_core.hosts.wish(host, "refused")
    await world.until(lambda: len(nodes[0].overlay.view.peers.refuses(refusing.identity.node_id)) == 4 * 6, 60.0)
    await world.kill(refusing)
    await world.restart(refusing)
    await world.pass_time(30.0)
    await world.crawl()
    await crawled(world)
    assert not [visit for visit in world.log[mark:] if visit.node == refusing.name]
    assert_complete(world)
