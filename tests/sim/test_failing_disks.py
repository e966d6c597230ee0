"""Disks that fill or lose bytes under a network that crawls: no node ends, no page is lost, all is whole again."""

import random

import pytest

from dht import FaultSite
from node.extras.simulation.census import take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store import Kind
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_one_answer, crawled
from tests.sim.simulated import simulated


def _fill(node: SimNode, *, index: bool) -> None:
    """Let no file of a node's disk grow, or (`index`) not the database beside them."""
    if index:
        (pages,) = node.disk.database().execute("PRAGMA page_count").fetchone()
        node.disk.database().execute(f"PRAGMA max_page_count = {pages}")
    else:
        node.disk.capacity_bytes = sum(map(node.disk.size, node.disk.names()))


def _empty(node: SimNode) -> None:
    node.disk.database().execute("PRAGMA max_page_count = 1000000000")
    node.disk.capacity_bytes = 1 << 40


def _ended(world: World) -> list[str]:
    return [node.name for node in world.nodes.values() if node.task is None or node.task.done()]


@pytest.mark.parametrize("index", [False, *proved(True)], ids=["segments", "index"])
@simulated(WorldPlan(seed=11))
async def test_disks_that_fill_amid_a_crawl_cost_time_and_nothing_else(world: World, index: bool) -> None:
    await world.add(5)
    await world.pass_time(8.0)
    await world.crawl()
    await world.pass_time(6.0)
    full = [world.nodes["n1"], world.nodes["n3"]]
    for node in full:
        _fill(node, index=index)
    await world.until(lambda: all(node.node_core.faults.present() for node in full), 15.0)
    for node in full:
        (fault,) = node.node_core.faults.present()
        assert fault.site == FaultSite.STORE and "free some space" in fault.remedy
        assert "no room" in node.node_core.fetching.pause.room_reason()
    await world.pass_time(110.0)  # small rows may fit into its pages meanwhile, and the fault end and begin again
    assert _ended(world) == []
    for node in full:
        _empty(node)
    await world.pass_time(90.0)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:3], 5)
    await world.until(lambda: not any(node.node_core.faults.present() for node in full), 60.0)


@pytest.mark.parametrize("seed", [1, *proved(*range(2, 8))])
@simulated(WorldPlan(seed=12))
async def test_forty_flipped_bytes_on_each_of_two_disks_are_copied_again(world: World, seed: int) -> None:
    await world.add(5)
    await world.pass_time(8.0)
    await world.crawl()
    await crawled(world)
    before, rng = take_census(world.running()), random.Random(seed)
    hurt = [world.nodes["n0"], world.nodes["n2"]]
    for node in hurt:
        data = node.disk._files[max(node.disk.names())]
        for _ in range(40):
            data[rng.randrange(16, len(data))] ^= 1 << rng.randrange(8)
    for node in hurt:  # reads all that they have, to the last byte: else challenges find the rest, one by one
        await node.node_core.store.records.spare()  # not what it remembers
        for kind in (Kind.DOCUMENT, Kind.VISIT):
            list(node.node_core.store.records.scan(kind, bytes(20), b"\xff" * 20, content=True))
    await world.pass_time(60.0)
    await crawled(world)
    assert _ended(world) == []
    assert_complete(world)
    after = take_census(world.running())
    assert {u: t.version for u, t in after.texts.items()} == {u: t.version for u, t in before.texts.items()}
    for node in hurt:
        assert not len(node.node_core.store.records._unreadable)
    await assert_one_answer(world, world.web.words[:3], 5)
