"""Of two nodes the one that breaks ties goes on alone when the other falls silent, and the other never does."""

import pytest

from node.extras.simulation.census import holders_of, repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_one_answer, crawled, service_of
from tests.sim.simulated import simulated

PLAN = WorldPlan(hosts=12, pages=20)
GOES_ON_S = 60.0  # 30 s until a member counts as silent, and as long until its last vote has run out
NOTICED_S = 45.0  # until a node that hears nobody fetches no more
SILENT_S = 120.0  # longer than any vote binds


async def amid_a_crawl(world: World) -> tuple[SimNode, SimNode]:
    """Return the node that breaks ties and the other one, while both fetch."""
    breaker, other = await world.add(2)
    await world.pass_time(10.0)
    world.publish(tie_breaker=breaker.identity.node_id.hex())
    await world.pass_time(20.0)
    await world.crawl()
    await world.until(lambda: all(fetched_by(world, node) >= 15 for node in (breaker, other)), 120.0)
    return breaker, other


def fetched_by(world: World, node: SimNode, since: float = 0.0) -> int:
    return sum(visited.node == node.name and visited.began_at >= since for visited in world.log)


def holds_all(world: World, node: SimNode) -> bool:
    return set(holders_of([node])) == set(range(1 << world.plan.slot_bits))


def first_fetches(world: World) -> list[float]:
    """When each page that was fetched twice was fetched first."""
    return [min(visited.began_at for visited in visits) for visits in repeated(world.log).values()]


async def stands_still(world: World, node: SimNode) -> bool:
    """Whether a node fetches nothing for longer than any vote binds."""
    began = world.loop.time()
    await world.pass_time(SILENT_S)
    return not fetched_by(world, node, began)


async def silence(world: World, how: str, node: SimNode, other: SimNode) -> None:
    if how == "kill":
        await world.kill(node)
    else:
        world.cut([node], [other])


async def bring_back(world: World, how: str, node: SimNode) -> None:
    if how == "kill":
        await world.restart(node)
    else:
        world.heal()


@pytest.mark.parametrize("how", ["kill", "cut"])
@simulated(PLAN)
async def test_it_goes_on_within_a_minute_and_what_it_wrote_is_proven_to_the_other(world: World, how: str) -> None:
    breaker, other = await amid_a_crawl(world)
    cut_at = world.loop.time()
    await silence(world, how, other, breaker)
    await world.until(lambda: holds_all(world, breaker), GOES_ON_S)
    began = world.loop.time()
    await world.until(lambda: fetched_by(world, breaker, began) >= 20, 60.0)
    assert not fetched_by(world, other, began)
    await bring_back(world, how, other)
    await world.until(lambda: bool(other.overlay.view.leases()), 180.0)
    await crawled(world)
    assert_complete(world)
    late = [first - cut_at for first in first_fetches(world) if not -20.0 < first - cut_at < NOTICED_S]
    assert not late, "only what could not be handed over is fetched twice"
    await assert_one_answer(world, world.web.words[:2], 2)


@pytest.mark.parametrize("how", ["kill", *proved("cut")])
@simulated(PLAN)
async def test_the_other_waits_for_it_and_says_so(world: World, how: str) -> None:
    breaker, other = await amid_a_crawl(world)
    cut_at = world.loop.time()
    await silence(world, how, breaker, other)
    await world.pass_time(SILENT_S)
    began = world.loop.time()
    await world.pass_time(SILENT_S)
    assert not fetched_by(world, other, began)
    assert f"waits for {breaker.identity.node_id.hex()[:12]}" in other.node_core.crawl_reason()
    await bring_back(world, how, breaker)
    await crawled(world)
    assert_complete(world)
    late = [first - cut_at for first in first_fetches(world) if not -20.0 < first - cut_at < NOTICED_S]
    assert not late, "only what could not be handed over is fetched twice"


@simulated(PLAN)
async def test_it_may_stop_and_the_other_goes_on_by_its_farewell_and_it_has_no_say_until_they_met(world: World) -> None:
    breaker, other = await amid_a_crawl(world)
    await world.stop(breaker)
    await world.until(lambda: holds_all(world, other), GOES_ON_S)
    await world.kill(other)
    await world.restart(breaker)
    await world.pass_time(SILENT_S)
    assert not breaker.overlay.view.leases(), "the other wrote what it has not"
    await world.restart(other)
    await crawled(world)
    assert_complete(world)


@simulated(PLAN)
async def test_a_node_that_was_named_behind_the_others_back_does_not_go_on_without_it(world: World) -> None:
    breaker, other = await amid_a_crawl(world)
    world.cut([breaker], [other])
    world.publish(tie_breaker=other.identity.node_id.hex())
    await world.until(lambda: holds_all(world, breaker), GOES_ON_S)
    began = world.loop.time()
    await world.pass_time(SILENT_S)
    assert fetched_by(world, breaker, began) and not fetched_by(world, other, began)


@simulated(PLAN)
async def test_of_three_the_last_two_are_a_tie_once_one_said_farewell(world: World) -> None:
    breaker, second, third = await world.add(3)
    world.publish(tie_breaker=breaker.identity.node_id.hex())
    await world.pass_time(30.0)
    await world.crawl()
    await world.until(lambda: len(world.log) >= 40, 120.0)
    await world.stop(third)
    await world.until(lambda: len(holders_of([breaker, second])) == 1 << world.plan.slot_bits, GOES_ON_S)
    await world.kill(second)
    await world.until(lambda: holds_all(world, breaker), GOES_ON_S)
    await world.restart(second)
    await world.restart(third)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], 3)


@pytest.mark.parametrize("how", ["cut", *proved("kill")])
@simulated(PLAN)
async def test_of_four_halves_only_that_of_the_tie_breaker_goes_on(world: World, how: str) -> None:
    nodes = await world.add(4)
    world.publish(tie_breaker=nodes[2].identity.node_id.hex())
    await world.pass_time(30.0)
    await world.crawl()
    await world.until(lambda: len(world.log) >= 40, 120.0)
    first, second = nodes[:2], nodes[2:]
    for node in first if how == "kill" else ():
        await world.kill(node)
    world.cut(first, second)
    await world.until(lambda: len(holders_of(second)) == 1 << world.plan.slot_bits, GOES_ON_S)
    began = world.loop.time()
    await world.pass_time(SILENT_S)
    assert any(fetched_by(world, node, began) for node in second)
    if how == "cut":
        assert not any(fetched_by(world, node, began) for node in first)
        waits = [node.node_core.crawl_reason() for node in first]
        assert all(other.identity.node_id.hex()[:12] in told for other in second for told in waits)
    for node in first if how == "kill" else ():
        await world.restart(node)
    world.heal()
    await crawled(world)
    assert_complete(world)


@simulated(PLAN)
async def test_its_owner_may_have_it_go_on_without_two_and_what_it_wrote_is_proven_to_both(world: World) -> None:
    breaker, second, third = await world.add(3)
    world.publish(tie_breaker=breaker.identity.node_id.hex())
    await world.pass_time(30.0)
    await world.crawl()
    await world.until(lambda: len(world.log) >= 40, 120.0)
    assert not (await service_of(world, breaker).begin_alone(is_sure=True)).begun, "two others answer"
    await world.kill(second)
    await world.kill(third)
    await world.pass_time(SILENT_S)
    assert await stands_still(world, breaker)
    asked = await service_of(world, breaker).begin_alone(is_sure=False)
    assert third.identity.node_id.hex()[:12] in asked.silent and not (asked.begun or asked.refusal or asked.live)
    assert (await service_of(world, breaker).begin_alone(is_sure=True)).begun
    await world.until(lambda: holds_all(world, breaker), GOES_ON_S)
    await world.kill(breaker)
    await world.restart(breaker)
    await world.until(lambda: holds_all(world, breaker), GOES_ON_S)
    began = world.loop.time()
    await world.until(lambda: fetched_by(world, breaker, began) >= 20, 120.0)
    await world.restart(second)
    await world.until(lambda: len(holders_of([breaker, second])) == 1 << world.plan.slot_bits, 120.0)
    await world.kill(second)
    await world.pass_time(SILENT_S)
    assert await stands_still(world, breaker), "the second counted again once it was heard"
    await world.restart(second)
    await world.restart(third)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], 3)


@simulated(PLAN)
async def test_where_a_publisher_names_it_the_other_may_go_on_without_the_one_that_broke_ties(world: World) -> None:
    breaker, other = await amid_a_crawl(world)
    await world.kill(breaker)
    await world.pass_time(SILENT_S)
    refused = await service_of(world, other).begin_alone(is_sure=True)
    assert "publisher's key" in refused.refusal and not refused.begun
    world.publish(tie_breaker=other.identity.node_id.hex())
    await world.pass_time(NOTICED_S)
    assert await stands_still(world, other), "being named behind its back is not enough"
    assert (await service_of(world, other).begin_alone(is_sure=True)).begun
    await world.until(lambda: holds_all(world, other), GOES_ON_S)
    await world.until(lambda: fetched_by(world, other, world.loop.time() - 30.0) >= 20, 120.0)
    await world.restart(breaker)
    await crawled(world)
    assert_complete(world)
