"""A relayed request that changes something is done once, however long it takes. One that only reads is hedged. Frozen
relays delay one question and not the next."""

import asyncio
from itertools import combinations
from typing import ClassVar

import pytest

from dht import Done, Message, NodeId
from dht.overlay.messenger import RELAY_PATIENCE_S
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World
from tests.parameters import proved
from tests.sim.simulated import simulated

TAKES_S = 3.0
SOON_S = 0.3


class Work(Message, frozen=True):
    """Takes long, and must not be done twice."""


class Look(Message, frozen=True):
    """Takes as long, only reads, and is asked by further ways meanwhile."""

    in_packets: ClassVar[bool] = True


class Glance(Message, frozen=True):
    """Is answered at once."""

    in_packets: ClassVar[bool] = True


def strangers(nodes: list[SimNode]) -> tuple[SimNode, SimNode]:
    """Two nodes without a common family."""
    pairs = ((a, b) for a in nodes for b in nodes)
    return next((a, b) for a, b in pairs if not {x.family for x in a.addresses} & {x.family for x in b.addresses})


@pytest.mark.parametrize("question", [Work(), Look()])
@simulated()
async def test_slow_work_behind_a_relay_is_done_once(world: World, question: Message) -> None:
    nodes = await world.add(9)
    await world.pass_time(30.0)
    asker, far = strangers(nodes)
    began: list[NodeId] = []

    async def work(peer: NodeId, message: Message) -> Done:
        began.append(peer)
        await asyncio.sleep(TAKES_S)
        return Done()

    far.overlay.serve(type(question), work)
    await asker.overlay.ask(far.overlay.view.node_id, question, Done, timeout_s=10.0)
    assert len(began) == 1


@pytest.mark.parametrize("count", [2, *proved(1)])
@simulated()
async def test_relays_that_froze_hold_up_one_question_and_not_the_next(world: World, count: int) -> None:
    """They freeze in one moment, and all of them lead to the peer better than the others do."""
    nodes = await world.add(9)
    await world.pass_time(30.0)
    asker, far = strangers(nodes)

    async def answer(peer: NodeId, message: Message) -> Done:
        return Done()

    async def took_s() -> float:
        began = world.loop.time()
        await asker.overlay.ask(far.overlay.view.node_id, Glance(), Done, timeout_s=10.0)
        return world.loop.time() - began

    far.overlay.serve(Glance, answer)
    for relays in combinations([node for node in nodes if len(node.addresses) > 1], count):
        for relay in relays:
            world.sleep(relay)
        if (first_s := await took_s()) > count * RELAY_PATIENCE_S:
            break
        for relay in relays:
            world.wake(relay)
    else:
        pytest.fail("no relay was needed")
    assert first_s < count * RELAY_PATIENCE_S + SOON_S
    assert await took_s() < SOON_S
