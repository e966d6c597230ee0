"""A newcomer takes nobody for a member whom one liar among its first contacts made up, and keeps honest sleepers."""

import asyncio

import pytest

from dht.admission.membership_claim import mark_of
from dht.wire.heartbeat import MOST_ATTESTED
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan
from tests.attacks.phantoms import Phantoms
from tests.parameters import proved
from tests.sim.simulated import simulated
from tests.sim.test_admission import have_one_view

ATTESTED = WorldPlan(strategy={"admission": "attested"})
JOINED_S = 61.0  # member_table.JOIN_S and a look at it


async def lie(world: World, liar: SimNode, phantoms: Phantoms) -> None:
    """Have a member name phantoms, whomever else it names."""
    marks = b"".join(mark_of(each) for each in phantoms.ids)
    while True:
        own = liar.core.own
        if not own.says.attests.startswith(marks):
            known = own.says.attests[: 8 * MOST_ATTESTED - len(marks)].replace(marks, b"")
            own.attest(marks + known, own.says.attested_days[-2:] * ((len(marks) + len(known)) // 8))
            liar.core.members.claim_own(own.claim())
        await world.pass_time(0.5)


@pytest.mark.parametrize(
    ("count", "sleepers", "haunt_s"),
    [
        *((2, 0, 20.0), (3, 0, 90.0), (4, 1, 20.0)),
        *(
            pytest.param(*more, marks=pytest.mark.prove)
            for more in ((2, 0, 90.0), (3, 0, 20.0), (4, 1, 90.0), (9, 3, 20.0), (9, 3, 90.0))
        ),
    ],
)
@simulated(ATTESTED)
async def test_a_newcomer_sees_the_members_that_others_see_whomever_one_liar_names(
    world: World, count: int, sleepers: int, haunt_s: float
) -> None:
    nodes = await world.add(count)
    await world.pass_time(90.0)
    for sleeper in nodes[count - sleepers :]:
        world.sleep(sleeper)
    await world.pass_time(60.0)
    phantoms = Phantoms(world, 3, are_heard=haunt_s > JOINED_S)
    phantoms.attests = b"".join(mark_of(each) for each in phantoms.ids)
    async with asyncio.TaskGroup() as tasks:
        lying = tasks.create_task(lie(world, nodes[1], phantoms))
        tasks.create_task(phantoms.haunt(haunt_s))
        await world.pass_time(5.0)
        newcomer = await world.add_with((4, 6))
        met = False
        for _ in range(int(JOINED_S)):
            await world.pass_time(1.0)
            met |= phantoms.ids <= set(newcomer.overlay.view.members())
        everybody = [*nodes, newcomer]
        honest = [each for each in everybody[: count - sleepers] if each is not nodes[1]] + [newcomer]
        assert met, "it was lied to"
        for _ in range(60):
            assert have_one_view(everybody, seen_by=honest)
            await world.pass_time(1.0)
        lying.cancel()


@pytest.mark.parametrize("count", [4, *proved(12)])
@simulated(ATTESTED)
async def test_a_sleeper_with_one_attester_left_stays_a_member_for_newcomers(world: World, count: int) -> None:
    nodes = await world.add(2, 0.0)
    await world.pass_time(90.0)
    world.sleep(nodes[1])
    await world.pass_time(60.0)
    for new in (1, count - 3):
        nodes += await world.add(new, 0.0)
        await world.pass_time(2 * JOINED_S)
    for newcomer in await world.add(2, 0.0):
        nodes.append(newcomer)
    await world.pass_time(JOINED_S + 60.0)
    assert have_one_view(nodes, seen_by=[nodes[0], *nodes[2:]])
    world.wake(nodes[1])
    await world.pass_time(120.0)
    assert have_one_view(nodes)
