"""Laptops that sleep at night move nothing that was there, in days of real length."""

import asyncio
from contextvars import copy_context

import pytest

from node.extras.simulation.loop import PLACE, SimLoop
from store.repair.absences import NIGHT_S
from tests.store.network import Net, Node, network
from tests.store.repair.test_copies_by_need import PAGES, copies, moved
from tests.store.support import draft

HOUR_S, DAY_HOURS = 3600.0, 24
AWAKE_HOURS = 8
SERVERS, LAPTOPS = 2, 6
STEP_S = 9.0  # a node that looks more rarely takes itself to have slept


def started(node: Node) -> None:
    """Start a node where its sleep stops all that it does."""

    def start() -> None:
        PLACE.set(node.id.hex())
        node.start()

    copy_context().run(start)


def sleep(loop: SimLoop, node: Node) -> None:
    loop.sleep(node.id.hex())
    node.overlay.up = False
    node.tell(frozenset())


def wake(loop: SimLoop, node: Node) -> None:
    node.overlay.up = True
    node.tell(node.replicator.ready_slots())
    loop.wake(node.id.hex())


def is_awake(hour: int, number: int) -> bool:
    """Each laptop's day begins later than that of the one before."""
    return (hour - number * DAY_HOURS // LAPTOPS) % DAY_HOURS < AWAKE_HOURS


async def lived(net: Net, hours: range) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimLoop)
    for hour in hours:
        for number, laptop in enumerate(net.list[SERVERS:]):
            awake = is_awake(hour, number)
            if awake != laptop.overlay.up:
                (wake if awake else sleep)(loop, laptop)
        await asyncio.sleep(HOUR_S)


async def filled(net: Net) -> None:
    net.laptops = {node.id for node in net.list[SERVERS:]}
    net.config(step_s=STEP_S, deliver_every_s=60.0, reconcile_every_s=3600.0, tend_every_s=3600.0, move_every_s=3600.0)
    for node in net.list:
        started(node)
    await net.all_ready()
    await net.list[0].replicator.write([draft(n, hosts=97) for n in range(PAGES)])
    await net.until(net.is_level)
    await asyncio.sleep(60.0)


def check(days: int) -> None:
    async def story(net: Net) -> None:
        await filled(net)
        before = moved(net)
        await lived(net, range(days * DAY_HOURS))
        assert moved(net) == before
        for laptop in net.list[SERVERS:]:
            if not laptop.overlay.up:
                wake(asyncio.get_running_loop(), laptop)
        await net.all_ready()
        await net.until(net.is_level)
        assert moved(net) == before and set(copies(net)) == {3}

    assert (DAY_HOURS - AWAKE_HOURS) * HOUR_S == NIGHT_S
    network(SERVERS + LAPTOPS, story, loop=SimLoop)


@pytest.mark.prove
def test_a_day_of_laptops_that_sleep_sixteen_hours_moves_nothing() -> None:
    """Two minutes of the processor's time; weeks are `tests/benchmarks/test_durability.py`'s, by the same decisions."""
    check(1)
