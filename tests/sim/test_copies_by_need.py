"""Copies are made by need: soon where one is left, later where two are, not at all for a reboot or a cut that ends.

A stable machine is expected back within four hours, so it counts as a copy for so long while two others live.
"""

from collections import Counter
from itertools import combinations

import pytest

from node.extras.simulation.census import Census, take_census
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from store.repair import absences
from tests.parameters import proved
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated
from tests.sim.test_laptops import moved_bytes

NODES = 6
AWAY_S = 180.0  # a reboot, a cut
TWO_COPIES_S, THREE_COPIES_S = 120.0, 3600.0
PLAN = WorldPlan(seed=4, hosts=6, pages=6)


async def grown(world: World) -> list[SimNode]:
    """Six stable nodes that have crawled all there is, and will fetch nothing again."""
    nodes = await world.add(NODES)
    await world.pass_time(10.0)
    await world.crawl()
    await crawled(world)
    for node in nodes:
        node.node_core.fetching.pause.pause()
    await world.pass_time(60.0)
    return nodes


def two_owners_of_one_record(nodes: list[SimNode]) -> tuple[SimNode, ...]:
    """The pair of nodes, the first left out, that own most records together."""
    holders = take_census(nodes).holders.values()
    return max(combinations(nodes[1:], 2), key=lambda pair: sum({n.name for n in pair} <= held for held in holders))


def fewest(census: Census) -> tuple[int, Counter[int]]:
    """The copies of the record that has the fewest, and how many records have how many."""
    counts = Counter(len(holders) for (_, url), holders in census.holders.items() if url)
    return min(counts), counts


async def moves_nothing(world: World, nodes: list[SimNode]) -> None:
    """Reboot a node; then part the network for a while."""
    before = moved_bytes(world)
    await world.kill(nodes[2])
    await world.pass_time(AWAY_S)
    await world.restart(nodes[2])
    nodes[2].node_core.fetching.pause.pause()
    await world.pass_time(60.0)
    assert moved_bytes(world) == before
    world.cut(nodes[:3], nodes[3:])
    await world.pass_time(AWAY_S)
    world.heal()
    await world.pass_time(60.0)
    assert moved_bytes(world) == before
    assert_complete(world)


@pytest.mark.parametrize("copies", [2, *proved(3)])
@simulated(PLAN)
async def test_a_reboot_and_a_cut_move_nothing_and_two_of_six_that_die_are_replaced_long_before_their_grace_ends(
    world: World, monkeypatch: pytest.MonkeyPatch, copies: int
) -> None:
    """The third copy comes an hour later."""
    nodes = await grown(world)
    await moves_nothing(world, nodes)
    monkeypatch.setattr(absences, "STABLE_S", 300.0)  # four hours of waiting show nothing more
    before, stored = moved_bytes(world), set(take_census(world.running()).holders)
    for node in two_owners_of_one_record(nodes):
        await world.kill(node)
    least, counts = fewest(take_census(world.running()))
    print(f"at the death: {sorted(counts.items())}")
    assert least == 1
    await world.pass_time(TWO_COPIES_S)
    census = take_census(world.running())
    least, counts = fewest(census)
    print(f"after {TWO_COPIES_S:.0f} s: {sorted(counts.items())}, {moved_bytes(world) - before} bytes moved")
    assert least >= 2 and set(census.holders) == stored, "nothing is lost"
    if copies == 2:
        return
    rest_s = THREE_COPIES_S - TWO_COPIES_S
    await world.until(lambda: fewest(take_census(world.running()))[0] >= 3, rest_s, every_s=30.0)
    assert set(take_census(world.running()).holders) == stored
