"""Members write host records of sites that are not theirs to decide about: nothing is left out, nothing moves."""

from contextlib import suppress

import pytest
from msgspec.structs import replace

from crawl import AliasEvidence
from dht import RemoteError, slot_of
from node.extras.simulation.census import is_idle, take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Draft, HostAlias, HostRecord, Kind, encode_host, host_name, host_url, sign_package
from store.record.messages import PutPackage, PutReply
from store.record.package import pack
from tests.parameters import proved
from tests.sim.judged import CRAWLED_WITHIN_S, assert_complete, assert_polite, crawled, is_due
from tests.sim.simulated import simulated
from tests.store.support import grant

GAMMA, EVIL = "site0.example", "site1.example"


async def forge(world: World, liar: SimNode, friend: SimNode, host: HostRecord, ahead_s: float = 0.0) -> None:
    """Have a member sign a host record under an epoch that beats all others, which another one grants it, and bring it
    to everybody."""
    wall = world.loop.clock()().wall
    name = host_name(host.url.split("/")[2])
    draft = Draft(Kind.HOST, *name, int(wall + ahead_s), int(wall * 1000), int(wall // 86_400) + 90, encode_host(host))
    network = bytes.fromhex(liar.overlay.view.strategy.network)
    given = grant(draft, liar.identity, friend.identity, bits=world.plan.slot_bits, network=network)
    message = PutPackage(pack(sign_package([draft], liar.identity)), (), (given,))
    for node in world.running():
        if node is not liar:
            with suppress(RemoteError):
                await liar.overlay.ask(node.overlay.node_id, message, PutReply, timeout_s=5.0)


@pytest.mark.parametrize("how", list(AliasEvidence))
@simulated(WorldPlan(seed=3, hosts=3, pages=20))
async def test_a_site_is_not_another_one_because_somebody_says_so(world: World, how: AliasEvidence) -> None:
    nodes = await world.add(4)
    await world.pass_time(10.0)
    alias = HostAlias(True, f"https://{EVIL}/", world.loop.clock()().wall - 60.0, how)
    await forge(world, *nodes[:-3:-1], HostRecord(host_url(GAMMA), aliases=(alias, replace(alias, is_secure=False))))
    await world.pass_time(5.0)
    assert any(node.node_core.control.mirrors.unproved == 2 for node in nodes), "it was heard of"
    await world.crawl()
    await crawled(world)
    assert not [url for url, visit in take_census(nodes).visits.items() if visit.reason.startswith("alias of")]
    assert_complete(world)
    assert_polite(world)


@pytest.mark.parametrize("ahead_s", [*proved(0.0), 80_000.0])
@simulated(WorldPlan(seed=5, hosts=3, pages=20))
async def test_nobody_moves_a_site_that_is_not_at_home_with_him(world: World, ahead_s: float) -> None:
    """Every member but the holder says that the site lies in 256 places, now and for a day to come."""
    nodes = await world.add(5)
    await world.pass_time(10.0)
    await world.crawl()
    await world.pass_time(20.0)
    home = slot_of(host_name(GAMMA)[1], world.plan.slot_bits)
    liars = [node for node in nodes if home not in node.overlay.view.leases()]
    for liar, friend in zip(liars, (*liars[1:], liars[0]), strict=True):
        await forge(world, liar, friend, HostRecord(host_url(GAMMA), 8, 0, world.loop.clock()().wall), ahead_s)
    await world.until(lambda: is_idle(nodes) and not is_due(world), CRAWLED_WITHIN_S)
    honest = [node for node in nodes if node not in liars]
    assert honest and not any(node.node_core.store.host_book.spreads for node in honest)
    assert sum(node.node_core.store.replicator.host_writers.ignored for node in nodes) >= len(liars)
    assert take_census(nodes).states() == world.web.outcomes()
    assert_polite(world)


@simulated(WorldPlan(seed=6, hosts=3, pages=20))
async def test_the_next_holder_vouches_for_what_the_last_one_said_of_a_site(world: World) -> None:
    """The holder spreads a site and dies; a newcomer learns it from whoever holds its home slot then."""
    await world.add(6)
    await world.pass_time(10.0)
    await world.crawl()
    await crawled(world)
    home = slot_of(host_name(GAMMA)[1], world.plan.slot_bits)
    holder = next(node for node in world.running() if home in node.overlay.view.leases())
    wall, epoch = world.loop.clock()().wall, holder.overlay.view.leases()[home]
    host = HostRecord(host_url(GAMMA), 2, 0, wall)
    name, day = host_name(GAMMA), int(wall // 86_400) + 90
    draft = Draft(Kind.HOST, *name, epoch, int(wall * 1000), day, encode_host(host))
    await holder.node_core.store.replicator.write([draft])
    await world.pass_time(30.0)
    await world.kill(holder)
    await world.pass_time(60.0)
    (newcomer,) = await world.add(1)
    await crawled(world)
    await world.pass_time(60.0)
    assert await newcomer.node_core.store.host_records.learn([GAMMA])
    depths = [node.node_core.store.host_book.depths(GAMMA)[0] for node in world.running() if holds(node, GAMMA)]
    assert depths and set(depths) == {2}
    assert newcomer.node_core.store.host_book.depths(GAMMA)[0] == 2
    assert_complete(world)


def holds(node: SimNode, site: str) -> bool:
    return node.node_core.store.records.find(Kind.HOST, host_name(site)[0]) is not None
