"""What a relay brings is done once where it changes something, however long it takes; what only reads is hedged."""

import asyncio
from typing import ClassVar

import pytest

from dht import Done, Message, NodeId
from node.simulation.world import World, simulate

TAKES_S = 3.0


class Work(Message, frozen=True):
    """Takes long, and must not be done twice."""


class Look(Message, frozen=True):
    """Takes as long, and only reads."""

    in_packets: ClassVar[bool] = True


@pytest.mark.parametrize(("question", "times"), [(Work(), 1), (Look(), 2)])
def test_slow_work_behind_a_relay_is_done_once(question: Message, times: int) -> None:
    async def scenario(world: World) -> None:
        nodes = await world.add(9)
        await world.pass_time(30.0)
        pairs = ((a, b) for a in nodes for b in nodes)
        asker, far = next(
            (a, b) for a, b in pairs if not {x.family for x in a.addresses} & {x.family for x in b.addresses}
        )
        began: list[NodeId] = []

        async def work(peer: NodeId, message: Message) -> Done:
            began.append(peer)
            await asyncio.sleep(TAKES_S)
            return Done()

        far.overlay.serve(type(question), work)
        await asker.overlay.ask(far.overlay.view.node_id, question, Done, timeout_s=10.0)
        assert len(began) == times

    simulate(scenario)
