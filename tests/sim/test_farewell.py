"""In a network of two or three, who stops cleanly stops nobody, and who falls silent without a word does."""

import asyncio

import pytest

from dht import Slot
from dht.strategy.document import Gone
from index import SearchRequest
from node.extras.simulation.census import holders_of, repeated
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_fetched_once, assert_one_answer, crawled
from tests.sim.simulated import simulated
from tests.sim.test_lease_history import Image

PLAN = WorldPlan(hosts=12, pages=20)
GOES_ON_S = 45.0  # after a farewell: votes that bind for 30 s are waited for
STARTED_S = 60.0  # from the last start
SILENT_S = 120.0  # longer than any vote binds
STILL_S = 75.0  # until a node trusts its clock again, and the votes have run out that it may have missed


async def amid_a_crawl(world: World, nodes: int) -> list[SimNode]:
    """Nodes that all hold slots, each having fetched some of what the web has."""
    members = await world.add(nodes)
    await world.pass_time(10.0)
    await world.crawl()
    await world.until(lambda: all(fetched_by(world, node) >= 15 for node in members), 120.0)
    return members


def fetched_by(world: World, node: SimNode, since: float = 0.0) -> int:
    return sum(visited.node == node.name and visited.began_at >= since for visited in world.log)


def holds_all(world: World, node: SimNode) -> bool:
    return set(holders_of([node])) == set(range(1 << world.plan.slot_bits))


@pytest.mark.parametrize("leaver", [0, *proved(1)])
@simulated(PLAN)
async def test_of_two_nodes_one_stops_cleanly_and_the_other_fetches_all_though_it_starts_again(
    world: World, leaver: int
) -> None:
    nodes = await amid_a_crawl(world, 2)
    left, stays = nodes[leaver], nodes[1 - leaver]
    await world.stop(left)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    await world.stop(stays)
    await world.restart(stays)
    await world.until(lambda: holds_all(world, stays), STARTED_S)
    before = len(world.log)
    await crawled(world)
    assert {visited.node for visited in world.log[before:]} == {stays.name}
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], 1)
    await world.restart(left)
    await world.until(lambda: bool(left.overlay.view.leases()), 180.0)
    await crawled(world)
    assert_complete(world)
    assert not repeated(world.log)
    await assert_one_answer(world, world.web.words[:2], 2)


async def stop_all(world: World, nodes: list[SimNode], within_s: float = 1.0) -> None:
    """Stop nodes one shortly after the other, none waiting for the one before."""
    async with asyncio.TaskGroup() as stops:
        for number, node in enumerate(nodes):
            stops.create_task(stop_later(world, node, number * within_s / len(nodes)))


async def stop_later(world: World, node: SimNode, after_s: float) -> None:
    await world.pass_time(after_s)
    await world.stop(node)


@pytest.mark.parametrize(
    ("order", "within_s"), [((1, 0), 1.0), *proved(((2, 1, 0), 0.0), ((0, 1), 0.0), ((0, 1, 2), 1.0), ((1, 2, 0), 1.0))]
)
@simulated(PLAN)
async def test_all_stop_at_once_and_crawl_soon_after_the_last_has_started_again(
    world: World, order: tuple[int, ...], within_s: float
) -> None:
    nodes = await amid_a_crawl(world, len(order))
    await stop_all(world, nodes, within_s)
    await world.pass_time(20.0)
    for number in order:
        await world.restart(nodes[number])
        await world.pass_time(10.0)
    slots = set(range(1 << world.plan.slot_bits))
    await world.until(lambda: set(holders_of(nodes)) == slots, STARTED_S - 10.0)
    began = world.loop.time()
    await world.until(lambda: any(fetched_by(world, node, began) for node in nodes), 10.0)
    await crawled(world)
    assert_complete(world)
    assert not repeated(world.log)


def has_no_say(node: SimNode) -> bool:
    """Whether a node holds nothing, and has promised nothing to anybody."""
    view = node.overlay.view
    return not view.leases() and not any(view.votes.promised(Slot(n)) for n in range(1 << view.strategy.slot_bits))


async def is_exact(world: World, node: SimNode) -> bool:
    answer = await node.node_core.index.searcher.search(SearchRequest(world.web.words[0]))
    return bool(answer["exact"])


@simulated(PLAN)
async def test_two_that_do_not_reach_each_other_do_not_both_go_on_by_a_farewell(world: World) -> None:
    left, stays = await amid_a_crawl(world, 2)
    await world.stop(left)
    world.cut([stays], [left])
    await world.restart(left)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    for _ in range(20):
        assert has_no_say(left) and not await is_exact(world, left)
        await world.pass_time(5.0)
    await world.kill(stays)
    await world.restart(stays)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    assert has_no_say(left), "who went on remembers the farewell"
    world.heal()
    await world.until(lambda: bool(left.overlay.view.leases()), 120.0)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
    await assert_one_answer(world, world.web.words[:2], 2)


@pytest.mark.parametrize(
    ("stops", "breaker", "is_renamed"),
    [((0,), 1, False), *proved(((0,), 1, True), ((0, 2), 0, False), ((0, 2), 1, False), ((0, 2), 2, False))],
)
@simulated(WorldPlan(seed=5, hosts=1, pages=1))
async def test_of_three_those_that_return_beside_a_cut_have_no_say_while_the_one_beyond_it_may_go_on_alone(
    world: World, stops: tuple[int, ...], breaker: int, is_renamed: bool
) -> None:
    nodes, slots = await world.add(3), 1 << world.plan.slot_bits
    world.publish(tie_breaker=nodes[breaker].identity.node_id.hex())
    await world.until(lambda: len(holders_of(nodes)) == slots, STARTED_S)
    await world.pass_time(STARTED_S)
    leavers = [nodes[number] for number in stops]
    await stop_all(world, leavers)
    await world.until(lambda: len(holders_of(world.running())) == slots, GOES_ON_S)
    world.cut([nodes[1]], [nodes[0], nodes[2]])
    await world.until(lambda: holds_all(world, nodes[1]), 2 * GOES_ON_S)
    if is_renamed:
        world.publish(tie_breaker=nodes[2].identity.node_id.hex())
    for node in leavers:
        await world.restart(node)
    for _ in range(20):
        assert not any(node.overlay.view.leases() for node in (nodes[0], nodes[2]))
        await world.pass_time(SILENT_S / 20)
    waits = [node.node_core.crawl_reason() for node in (nodes[0], nodes[2])]
    assert all(f"waits for {nodes[1].identity.node_id.hex()[:12]}" in told for told in waits)
    world.heal()
    await world.until(lambda: all(node.overlay.view.leases() for node in nodes), SILENT_S)


@simulated(WorldPlan(hosts=20, pages=40))
async def test_a_node_whose_disk_lost_its_farewell_takes_the_pages_that_the_farewell_proves(world: World) -> None:
    left, stays = await amid_a_crawl(world, 2)
    image, at = Image(left), world.loop.time()
    await world.stop(left)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    await world.until(lambda: fetched_by(world, stays, at) >= 200, SILENT_S)
    await world.kill(stays)
    image.put_back(left)
    await world.restart(left)
    await world.pass_time(SILENT_S)
    assert not left.overlay.view.leases()
    await world.restart(stays)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], 2)


@simulated(WorldPlan(hosts=1, pages=1))
async def test_the_wrong_clock_of_a_node_that_stopped_keeps_nobody_from_going_on(world: World) -> None:
    first, second, third = nodes = await world.add(3)
    await world.until(lambda: len(holders_of(nodes)) == 1 << world.plan.slot_bits, STARTED_S)
    await world.stop(first)
    await world.pass_time(SILENT_S)
    second.clock.ahead_s = 61.0
    await world.pass_time(3.0)
    await world.stop(second)
    await world.until(lambda: holds_all(world, third), STILL_S)


@simulated(PLAN)
async def test_who_stopped_has_no_say_before_it_was_compared_with_who_went_on(world: World) -> None:
    left, stays = await amid_a_crawl(world, 2)
    await world.stop(left)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    await world.kill(stays)
    for _ in range(2):
        await world.restart(left)
        await world.pass_time(SILENT_S)
        assert has_no_say(left) and not await is_exact(world, left)
        await world.stop(left)
    await world.restart(left)
    await world.restart(stays)
    await world.until(lambda: len(holders_of([left, stays])) == 1 << world.plan.slot_bits, STARTED_S)
    await crawled(world)
    assert_complete(world)


@simulated(PLAN)
async def test_a_publisher_ends_the_wait_for_a_node_that_will_not_be_back(world: World) -> None:
    left, stays = await amid_a_crawl(world, 2)
    await world.stop(left)
    await world.until(lambda: holds_all(world, stays), GOES_ON_S)
    await world.kill(stays)
    await world.restart(left)
    await world.pass_time(SILENT_S)
    assert has_no_say(left)
    at = int(left.clock().wall)
    world.publish(gone=(Gone(stays.identity.node_id.hex(), at),))
    await world.until(lambda: holds_all(world, left), STARTED_S)
    await crawled(world)


@simulated(PLAN)
async def test_of_three_two_stop_one_after_the_other_and_the_third_goes_on_alone(world: World) -> None:
    first, second, third = await amid_a_crawl(world, 3)
    await world.stop(first)
    await world.until(lambda: len(holders_of([second, third])) == 1 << world.plan.slot_bits, GOES_ON_S)
    await world.stop(second)
    await world.until(lambda: holds_all(world, third), GOES_ON_S)
    await world.restart(first)
    await world.until(lambda: bool(first.overlay.view.leases()), 120.0)
    await world.kill(third)
    await world.pass_time(SILENT_S)
    now = world.loop.time()
    await world.pass_time(SILENT_S)
    assert not fetched_by(world, first, now), "it cannot know that the third does not go on"
    await world.restart(second)
    await world.until(lambda: len(holders_of([first, second])) == 1 << world.plan.slot_bits, STARTED_S)
    await world.restart(third)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
    await assert_one_answer(world, world.web.words[:2], 3)
