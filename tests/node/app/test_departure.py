"""A node on its way out says what lies there still and what is at risk, and ends when nothing does."""

import asyncio
from pathlib import Path

import pytest

from node.api.status import Leaving
from node.app.departure import Departure
from node.errors import NobodyElse
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.sim.judged import crawled
from tests.sim.simulated import simulated

WITHIN_S = 60.0


def departure_of(node: SimNode, note: Path | None = None) -> Departure:
    return Departure(node.overlay, node.node_core.store, note)


@simulated()
async def test_it_hands_over_says_how_far_it_is_and_goes_on_after_a_restart(world: World) -> None:
    nodes = await world.add(4)
    await world.crawl()
    await crawled(world)
    leaver, note = nodes[1], nodes[1].folder / "leaving"
    departure = departure_of(leaver, note)
    assert departure.leaving() is None
    here = departure.leave(at_once=True, is_sure=False)
    assert here.state == "here" and here.documents and not here.at_risk and not note.exists()
    assert departure.leave(at_once=False, is_sure=False).state == "leaving" and note.exists()
    await world.kill(leaver)
    await world.restart(leaver)
    departure = departure_of(leaver, note)
    assert departure.progress().state == "leaving"
    assert departure.leaving() == Leaving(departure.progress().slots)
    async with asyncio.timeout(WITHIN_S):
        await departure.run()
    ended = departure.progress()
    assert (ended.state, ended.slots, ended.documents) == ("gone", 0, 0) and not note.exists()


@simulated(WorldPlan(replicas=2))
async def test_what_nobody_else_has_is_at_risk_and_silent_owners_are_waited_for(world: World) -> None:
    nodes = await world.add(3)
    await world.crawl()
    await crawled(world)
    alone = departure_of(nodes[0])
    for node in nodes[1:]:
        await world.kill(node)
    await world.pass_time(40.0)
    begun = alone.leave(at_once=False, is_sure=False)
    assert begun.at_risk == begun.documents > 0
    assert begun.silent == sorted(node.overlay.node_id.hex() for node in nodes[1:])
    await world.pass_time(WITHIN_S)
    assert alone.progress().state == "leaving", "it waits"
    assert alone.leave(at_once=True, is_sure=True).state == "leaving"
    async with asyncio.timeout(WITHIN_S):
        await alone.run()
    assert alone.progress().state == "gone"


@simulated()
async def test_the_only_member_has_nobody_to_leave_to(world: World) -> None:
    (node,) = await world.add(1)
    await world.crawl()
    await crawled(world)
    departure = departure_of(node)
    with pytest.raises(NobodyElse, match="no other member"):
        departure.leave(at_once=False, is_sure=False)
    assert departure.progress().state == "here"
