"""A node that never met the others of its network reports so and does nothing in their name. A node that met them
serves what it has."""

import pytest

from dht.membership.reasons_apart import LOST
from index import SearchRequest
from node.errors import NotJoined
from node.extras.simulation.census import repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated


async def answered(node: SimNode, query: str) -> tuple[int, bool]:
    """How many slots answered a query, and whether the answer calls itself exact."""
    answer = await node.node_core.index.searcher.search(SearchRequest(query, limit=10))
    return answer["coverage"]["answered"], answer["exact"]


async def hand_in(world: World, node: SimNode) -> None:
    await node.node_core.jobs.submission.crawl([world.web.seed_url], [], 3, "whole", False)


@simulated()
async def test_a_newcomer_that_finds_nobody_says_so_and_claims_nothing_until_it_meets_them(world: World) -> None:
    others = await world.add(4)
    await world.pass_time(8.0)
    (newcomer,) = await world.add(1, 0.0)
    world.cut(others, [newcomer])
    await world.pass_time(15.0)
    for _ in range(2):
        assert newcomer.overlay.view.why_apart() == LOST and newcomer.overlay.report.warnings() == (LOST,)
        assert await answered(newcomer, world.web.words[0]) == (0, False)
        assert not newcomer.overlay.view.leases()
        with pytest.raises(NotJoined, match="network begin"):
            await hand_in(world, newcomer)
        await world.pass_time(100.0)
    await world.crawl()
    await world.pass_time(10.0)
    world.heal()
    await world.until(lambda: not newcomer.overlay.view.why_apart() and not newcomer.overlay.report.warnings(), 90.0)
    await crawled(world)
    assert_complete(world)
    assert not repeated(world.log)
    await hand_in(world, newcomer)
    assert (await answered(newcomer, world.web.words[0]))[0] == 1 << world.plan.slot_bits


@simulated()
async def test_newcomers_that_meet_each_other_begin_a_network(world: World) -> None:
    (founder,) = await world.add(1, 0.0)
    await world.kill(founder)
    two = await world.add(2)
    await world.pass_time(30.0)
    assert not any(node.overlay.view.why_apart() or node.overlay.report.warnings() for node in two)
    await hand_in(world, two[0])


@simulated()
async def test_who_met_the_others_before_serves_what_it_has_and_says_that_they_are_missing(world: World) -> None:
    nodes = await world.add(4)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    for node in nodes:
        await world.kill(node)
    await world.restart(nodes[3])
    await world.pass_time(30.0)
    told = "none of the 3 other members that this node knows answers; what they alone keep is missing"
    assert nodes[3].overlay.report.warnings() == (told,)
    assert not nodes[3].overlay.view.why_apart()
    assert (await answered(nodes[3], world.web.words[0]))[0] > 0
