"""Whole nodes under virtual time: overlay, store, crawler and index; killed, wiped, cut off and put to sleep."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from crawl import VisitState
from node.extras.simulation.census import repeated, take_census
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.parameters import proved
from tests.sim.judged import assert_complete, assert_fetched_once, assert_one_answer, assert_polite, crawled
from tests.sim.simulated import simulated


async def start(world: World, count: int) -> None:
    await world.add(count)
    await world.pass_time(8.0)
    await world.crawl()


@simulated()
async def test_five_nodes_crawl_a_web_once_politely_and_answer_alike(world: World) -> None:
    await start(world, 5)
    await crawled(world)
    assert_complete(world)
    assert not repeated(world.log)
    assert_polite(world)
    words = world.web.words
    await assert_one_answer(world, [*words[:3], f"{words[0]} -{words[1]}", f'"{words[0]} {words[0]}"'], 5)


@pytest.mark.parametrize("victim", [0, *proved(1, 2, 3, 4, 5)])
def test_killing_any_node_for_good_loses_no_url(victim: int):
    check_a_kill(victim + 1, victim)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(20, 40))
@pytest.mark.parametrize("victim", range(7))
def test_killing_any_node_at_any_time_loses_no_url(seed: int, victim: int):
    check_a_kill(seed, victim, nodes=7, after_s=float(seed))


def check_a_kill(seed: int, victim: int, nodes: int = 6, after_s: float = 12.0) -> None:
    async def scenario(world: World) -> None:
        await start(world, nodes)
        await world.pass_time(after_s)
        await world.kill(world.nodes[f"n{victim}"])
        await crawled(world)
        assert_complete(world)
        assert_fetched_once(world)
        assert_polite(world)

    simulate(scenario, WorldPlan(seed=seed))


@simulated(WorldPlan(seed=3))
async def test_a_killed_node_comes_back_and_fetches_nothing_that_it_has(world: World) -> None:
    await start(world, 5)
    await world.pass_time(12.0)
    node = max(world.running(), key=lambda n: len(n.overlay.view.leases()))
    await world.kill(node)
    await world.pass_time(5.0)
    held = {url for url, state in take_census(world.running()).states().items() if state != VisitState.WAITING}
    mark = len(world.log)
    await world.restart(node)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)
    assert not held & {visited.url for visited in world.log[mark:]}


@simulated(WorldPlan(seed=4))
async def test_all_nodes_killed_at_once_go_on_from_their_disks(world: World) -> None:
    await start(world, 4)
    await world.pass_time(12.0)
    nodes = world.running()
    for node in nodes:
        await world.kill(node)
    await world.pass_time(30.0)
    for node in nodes:
        await world.restart(node)
    await crawled(world)
    assert_complete(world)
    assert_fetched_once(world)


@simulated(WorldPlan(seed=5))
async def test_two_of_three_disks_wiped_at_once_lose_nothing(world: World) -> None:
    await start(world, 6)
    await crawled(world)
    before = take_census(world.running())
    for node in (world.nodes["n1"], world.nodes["n4"]):
        await world.kill(node)
        node.wipe()
        await world.restart(node)
    await world.pass_time(60.0)
    await crawled(world)
    after = take_census(world.running())
    assert after.states() == before.states()
    assert {u: t.version for u, t in after.texts.items()} == {u: t.version for u, t in before.texts.items()}
    assert_complete(world)
    assert not repeated(world.log)


@simulated(WorldPlan(seed=6))
async def test_a_network_of_one_grows_to_two_and_five_and_data_spread(world: World) -> None:
    await start(world, 1)
    await crawled(world)
    assert_complete(world)
    for count in (1, 3):
        await world.add(count)
        await world.pass_time(60.0)
        await crawled(world)
        assert_complete(world)
    assert not repeated(world.log)
    assert all(node.node_core.index.local.documents for node in world.running())


@simulated(WorldPlan(seed=7))
async def test_a_partition_of_ten_minutes_heals_into_one_network_with_the_same_data(world: World) -> None:
    await start(world, 6)
    await world.pass_time(10.0)
    nodes = world.running()
    world.cut(nodes[:3], nodes[3:])
    await world.pass_time(600.0)
    world.heal()
    await world.pass_time(120.0)
    await crawled(world)
    assert_complete(world)
    await assert_one_answer(world, world.web.words[:2], 6)


@simulated(WorldPlan(seed=8))
async def test_a_laptop_sleeps_through_the_crawl_and_catches_up(world: World) -> None:
    await start(world, 5)
    await world.pass_time(10.0)
    laptop = world.nodes["n2"]
    world.sleep(laptop)
    await world.pass_time(1800.0)
    world.wake(laptop)
    await world.pass_time(60.0)
    await crawled(world)
    assert_complete(world)
    assert_polite(world)
    assert_fetched_once(world)


def test_the_same_seed_prints_the_same_whatever_python_hashes_with():
    command = [sys.executable, "-m", "node", "simulate", "--nodes", "3", "--hours", "0.03", "--json", "--seed"]
    printed = []
    for seed, hash_seed in (("1", "1"), ("1", "2"), ("2", "1")):
        around = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run([*command, seed], env=around, capture_output=True, check=True)
        printed.append(json.loads(done.stdout) | {"wall_s": 0})
    assert printed[0] == printed[1]
    assert printed[0]["trace_hash"] != printed[2]["trace_hash"]
