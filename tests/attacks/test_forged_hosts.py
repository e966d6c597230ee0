"""A member writes host records of sites that are not its to decide about: nothing is left out, nothing moves."""

import pytest
from msgspec.structs import replace

from crawl import AliasEvidence
from node.simulation.census import take_census
from node.simulation.sim_node import SimNode
from node.simulation.world import World, WorldPlan, simulate
from store import Draft, HostAlias, HostRecord, Kind, encode_host, host_name, host_url
from tests.sim.judged import assert_complete, assert_polite, crawled

GAMMA, EVIL = "site0.example", "site1.example"


async def forge(world: World, liar: SimNode, host: HostRecord, ahead_s: float = 0.0) -> None:
    """Have a member sign a host record under an epoch that beats all others, and bring it to the owners."""
    wall = world.loop.clock()().wall
    name = host_name(host.url.split("/")[2])
    draft = Draft(Kind.HOST, *name, int(wall + ahead_s), int(wall * 1000), int(wall // 86_400) + 90, encode_host(host))
    await liar.node_core.store.replicator.write([draft])


@pytest.mark.parametrize("how", AliasEvidence)
def test_a_site_is_not_another_one_because_somebody_says_so(how: AliasEvidence) -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(4)
        await world.pass_time(10.0)
        alias = HostAlias(True, f"https://{EVIL}/", world.loop.clock()().wall - 60.0, how)
        await forge(world, nodes[-1], HostRecord(host_url(GAMMA), aliases=(alias, replace(alias, is_secure=False))))
        await world.pass_time(5.0)
        assert any(node.node_core.control.mirrors.unproved == 2 for node in nodes), "it was heard of"
        await world.crawl()
        await crawled(world)
        assert not [url for url, visit in take_census(nodes).visits.items() if visit.reason.startswith("alias of")]
        assert_complete(world)
        assert_polite(world)

    simulate(scenario, WorldPlan(seed=3, hosts=3, pages=20))
