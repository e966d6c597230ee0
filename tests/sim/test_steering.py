"""Rules that steer a whole network: who makes the fetches, who refuses, who is spoken with."""

import re

from crawl import CrawlConfig, VisitState
from dht import NodeId, Rule, Strategy, encode_document, placement_key, sign_strategy, slot_of
from node.extras.simulation.census import repeated, take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from node.strategy.draft import DraftRequest, draft
from tests.sim.judged import assert_complete, assert_polite, crawled
from tests.sim.simulated import simulated

SMALL = WorldPlan(seed=5, hosts=10, pages=4)


def publish(world: World, wishes: DraftRequest, node: SimNode | None = None) -> Strategy:
    """Sign the next version and give it to one node."""
    overlay = (node or world.running()[0]).overlay
    newest, digest = overlay.strategies.newest, overlay.strategies.newest_digest
    document = encode_document(draft(newest, digest, wishes, int(world.loop.clock()().wall)))
    return overlay.adopt(sign_strategy(document, world.publisher))


def obey(world: World, version: int) -> bool:
    return all(node.overlay.view.strategy.version == version for node in world.running())


def node_id(node: SimNode) -> NodeId:
    return node.overlay.node_id


@simulated(SMALL)
async def test_a_named_node_fetches_what_others_hold_and_the_holders_fetch_the_rest(world: World) -> None:
    nodes = await world.add(6)
    await world.pass_time(8.0)
    wanted, site = nodes[3], re.compile(r"https?://site[0-4]\.example/")
    rule = Rule(action="prefer", pattern="^https?://site[0-4][.]example/", peer=node_id(wanted).hex())
    publish(world, DraftRequest({}, rules=[rule]))
    await world.until(lambda: obey(world, 2), 20.0)
    await world.crawl()
    await crawled(world)
    view = nodes[0].overlay.view
    for_others = 0
    for visit in world.log:
        is_owner = node_id(wanted) in view.live_owners(slot_of(placement_key(visit.url), 4))
        if site.match(visit.url):
            assert visit.node == wanted.name, visit
            for_others += not is_owner
        else:
            assert visit.node != wanted.name or is_owner, visit
    assert for_others
    assert_complete(world)
    assert not repeated(world.log)
    assert_polite(world)


@simulated(SMALL)
async def test_where_the_preferred_node_is_gone_the_owners_crawl(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(8.0)
    publish(world, DraftRequest({}, rules=[Rule(action="prefer", host="*.example", peer=node_id(nodes[3]).hex())]))
    await world.until(lambda: obey(world, 2), 20.0)
    await world.kill(nodes[3])
    await world.crawl()
    await crawled(world)
    assert {visit.node for visit in world.log} <= {"n0", "n1", "n2"}
    assert_complete(world)


async def refusing(world: World, node: SimNode, *entries: str) -> None:
    """Let a node's operator write this into its configuration, and start it again."""
    await world.kill(node)
    node.crawl = CrawlConfig(refuse=entries)
    await world.restart(node)


@simulated(SMALL)
async def test_who_refuses_fetches_nothing_and_loses_nothing_for_the_others(world: World) -> None:
    nodes = await world.add(5)
    await refusing(world, nodes[1], "*.example")
    await refusing(world, nodes[2], "/site[0-4]\\.example/")
    await world.pass_time(60.0)
    told = nodes[0].overlay.view.peers.refuses(node_id(nodes[1]))
    assert len(told) == 4 and nodes[0].overlay.view.peers.refuses(node_id(nodes[2])) == b""
    await world.crawl()
    await crawled(world)
    assert not [visit for visit in world.log if visit.node == "n1"]
    asked = [visit.url for visit in world.log if visit.node == "n2" and "/robots.txt" not in visit.url]
    assert not [url for url in asked if re.search(r"site[0-4]\.example/", url)]
    assert_complete(world)
    assert_polite(world)


@simulated(SMALL)
async def test_what_every_owner_refuses_is_fetched_by_nobody_and_the_reason_stands(world: World) -> None:
    nodes = await world.add(3)
    for node in nodes:
        await refusing(world, node, "*.example")
    await world.pass_time(40.0)
    await world.crawl()
    await world.pass_time(60.0)
    assert not world.log
    (visit,) = take_census(world.running()).visits.values()
    assert visit.state == VisitState.FAILED
    assert visit.reason.startswith('refused here by crawl.refuse "*.example": no other live owner')
    counted = [node.node_core.crawl.crawler.status().refused for node in nodes]
    assert sum(sum(refused.values()) for refused in counted) == 1
    assert 'refused here by crawl.refuse "*.example"' in next(filter(None, counted))


@simulated(SMALL)
async def test_a_blocked_node_is_no_member_and_nobody_answers_it(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(20.0)
    blocked, others = nodes[3], nodes[:3]  # the last one is no first contact, which all try for ever
    assert all(node_id(blocked) in node.overlay.view.members() for node in nodes)
    publish(world, DraftRequest({}, block=[node_id(blocked).hex()]))
    await world.until(lambda: all(node.overlay.view.strategy.version == 2 for node in others), 20.0)
    await world.pass_time(60.0)
    for node in others:
        assert node_id(blocked) not in node.overlay.view.members()
        assert sorted(map(node_id, others)) == list(node.overlay.view.members())
    assert sum(node.overlay.report.refused["blocked by the strategy"] for node in others) > 0
    assert not blocked.overlay.view.live() - {node_id(blocked)}, "nobody answers it any more"
    publish(world, DraftRequest({}, unblock=[node_id(blocked).hex()]))
    await world.until(lambda: obey(world, 3), 200.0)
    await world.until(lambda: all(len(node.overlay.view.live()) == 4 for node in nodes), 200.0)


@simulated(SMALL)
async def test_a_strategy_reaches_who_was_cut_off(world: World) -> None:
    nodes = await world.add(6)
    await world.pass_time(20.0)
    world.cut(nodes[:3], nodes[3:])
    publish(world, DraftRequest({"replicas": 2}), nodes[0])
    await world.pass_time(100.0)
    assert [node.overlay.view.strategy.version for node in nodes] == [2, 2, 2, 1, 1, 1]
    world.heal()
    await world.until(lambda: obey(world, 2), 200.0)
