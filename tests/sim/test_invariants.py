"""Exact means exact: whatever befalls the nodes while people write and read, invariants A, B and C hold."""

from collections.abc import Awaitable, Callable
from random import Random

import pytest

from node.extras.simulation.census import is_settled
from node.extras.simulation.sim_node import SimNode
from node.extras.simulation.world import World, WorldPlan, simulate
from tests.sim.history import History, unequal_at_rest

NODES = 7
SETTLED_WITHIN_S = 300.0
Trouble = Callable[[History], Awaitable[None]]


async def join(history: History) -> None:
    await history.world.add(1)
    await history.use(60.0)


async def kill_for_good(history: History) -> None:
    await history.world.kill(pick(history))
    await history.use(60.0)


async def kill_and_start(history: History) -> None:
    node = pick(history)
    await history.world.kill(node)
    await history.use(history.rng.uniform(5.0, 90.0))
    await history.world.restart(node)
    await history.use(30.0)


async def cut(history: History) -> None:
    nodes = history.world.running()
    history.rng.shuffle(nodes)
    size = history.rng.randint(1, len(nodes) // 2)
    history.cut(nodes[size:], nodes[:size])
    await history.use(history.rng.uniform(20.0, 240.0))
    history.heal()
    await history.use(60.0)


async def sleep(history: History) -> None:
    node = pick(history)
    history.world.sleep(node)
    await history.use(history.rng.uniform(20.0, 200.0))
    history.world.wake(node)
    await history.use(30.0)


async def rolling_restart(history: History) -> None:
    for node in history.world.running():
        await history.world.kill(node)
        await history.use(5.0)
        await history.world.restart(node)
        await history.use(25.0)


def pick(history: History) -> SimNode:
    return history.rng.choice(history.world.running())


TROUBLES: tuple[Trouble, ...] = (join, kill_for_good, kill_and_start, cut, sleep, rolling_restart)


async def settled(history: History) -> None:
    """Wait until all copies are equal."""
    await history.world.until(lambda: is_settled(history.world.running()), SETTLED_WITHIN_S)


def check(history: History) -> None:
    lacking, doubly = list(history.lacking()), list(history.doubly_exact())
    wrote = f"{len(history.writes)} writes, {history.failed} failed, {history.held_by_nobody} without a holder"
    print(f"{wrote}, {len(history.reads)} reads, {history.share_exact():.0%} exact, {history.why()}")
    assert not lacking, f"{len(lacking)} times an exact answer lacks what was acknowledged: {lacking[:5]}"
    assert not doubly, doubly


async def scenario(seed: int, troubles: tuple[Trouble, ...], world: World, nodes: int = NODES) -> None:
    history = History(world, Random(f"history {seed}"))
    await world.add(nodes)
    await world.pass_time(20.0)
    await history.use(60.0)
    for trouble in troubles:
        print(f"{world.loop.time():.0f} s: {trouble.__name__}")
        await trouble(history)
    check(history)
    await settled(history)
    await world.pass_time(30.0)
    assert not (unequal := await unequal_at_rest(history)), unequal
    check(history)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(12))
def test_an_exact_answer_is_exact_whatever_happens(seed: int) -> None:
    rng = Random(f"troubles {seed}")
    troubles = tuple(rng.choice(TROUBLES) for _ in range(4))
    simulate(lambda world: scenario(seed, troubles, world), WorldPlan(seed=seed))


def test_two_dead_and_a_newcomer_spoil_no_exact_answer() -> None:
    simulate(lambda world: scenario(2, (kill_for_good, kill_for_good, join), world, 5), WorldPlan(seed=2))
