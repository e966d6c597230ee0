"""A process that is told to stop ends at once while no node runs, and else after what has to be done before."""

import asyncio
from collections.abc import Sequence

import pytest

from node.errors import TwinRuns
from node.extras.simulation.loop import SimLoop
from node.extras.simulation.world import World
from node.process.run_end import REOPEN_S, YOUNG_S, CleanEnd, give_way_to_twin, reopening
from node.process.service_manager import ServiceManager
from store.errors import StoreCorrupt
from tests.sim.simulated import simulated


async def serve(ending: CleanEnd, done: list[str], rest_s: float = 0.0) -> None:
    """Run as a process does: it opens its files, then a node runs."""

    async def before() -> None:
        await asyncio.sleep(rest_s)
        done.append("handed over")

    await asyncio.sleep(0.01)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ending.run(before))
        await asyncio.sleep(60)


@pytest.mark.parametrize(("told_after_s", "done"), [(0.0, []), (0.05, ["handed over"])])
def test_it_ends_after_what_a_running_node_has_to_do(told_after_s: float, done: list[str]) -> None:
    async def main() -> None:
        task, found = asyncio.current_task(), list[str]()
        assert task is not None
        ending = CleanEnd(task, ServiceManager.of({}))
        asyncio.get_running_loop().call_later(told_after_s, ending.begin)
        with pytest.raises(asyncio.CancelledError):
            await serve(ending, found, 0.01)
        task.uncancel()
        assert ending.is_begun and found == done

    asyncio.run(main())


@simulated()
async def test_the_younger_twin_ends_and_the_elder_goes_on(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(YOUNG_S + 10.0)
    elder = nodes[2]
    assert not elder.overlay.report.twin_warning()
    younger = await world.add_twin(elder)
    with pytest.raises(TwinRuns, match="another machine runs with this node's identity"):
        async with asyncio.timeout(YOUNG_S):
            await give_way_to_twin(younger.overlay)
    await world.kill(younger)
    assert elder.overlay.view.why_apart()
    await world.until(lambda: not elder.overlay.view.why_apart(), 2 * YOUNG_S)


@simulated()
async def test_a_node_without_a_twin_runs_on(world: World) -> None:
    nodes = await world.add(3)
    await world.pass_time(20.0)
    await world.kill(nodes[1])
    await world.restart(nodes[1])
    async with asyncio.timeout(YOUNG_S + 2.0):
        await give_way_to_twin(nodes[1].overlay)


DAMAGE = StoreCorrupt("store/catalog.sqlite", "malformed", "start again")


async def told(endings: Sequence[BaseException | None], apart_s: float) -> int:
    """Serve with these endings, one after the other; return how often it was served."""
    left = list(endings)

    async def serve() -> None:
        await asyncio.sleep(apart_s)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(2):
                tasks.create_task(asyncio.sleep(0.0))
            if (ending := left.pop(0)) is not None:
                raise ending

    await reopening(serve)
    return len(endings) - len(left)


def test_it_is_served_again_after_damage_now_and_then() -> None:
    SimLoop().run(_now_and_then())


async def _now_and_then() -> None:
    assert await told([DAMAGE, DAMAGE, DAMAGE, None], REOPEN_S + 1) == 4
    with pytest.raises(BaseExceptionGroup):
        await told([DAMAGE, DAMAGE, None], 1.0)


@pytest.mark.parametrize("error", [ValueError("a bug"), OSError("a port is taken")])
def test_what_else_ends_it_is_no_reason_to_begin_again(error: Exception) -> None:
    async def main() -> None:
        with pytest.raises(BaseExceptionGroup):
            await told([error, None], 1.0)
        both = BaseExceptionGroup("both", [DAMAGE, error])
        with pytest.raises(BaseExceptionGroup):
            await told([both, None], 1.0)

    SimLoop().run(main())


def test_a_stop_is_a_stop() -> None:
    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await told([asyncio.CancelledError(), None], 1.0)

    SimLoop().run(main())
