"""Errors in the upkeep of a node: it serves on, its owner reads of it, and all that was under way comes about."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from dht import FaultSite, LocalFaults, Supervisor
from dht.supervisor import NoteRefusal
from node.extras.simulation.world import World, simulate
from node.owner.needs import needs_of
from tests.sim.judged import assert_complete, crawled
from tests.sim.simulated import simulated

BREAKS_WITHIN_S = 40.0


class Saboteur(Supervisor):
    """Breaks each task once, at an instant of its own, amid its work."""

    def __init__(self, faults: LocalFaults, rng: Random) -> None:
        super().__init__(faults)
        self._rng, self.whole, self.broken = rng, set[str](), set[str]()

    def start(
        self,
        tasks: asyncio.TaskGroup,
        name: str,
        run: Callable[[], Awaitable[None]],
        note_refusal: NoteRefusal | None = None,
    ) -> asyncio.Task[None]:
        async def breaks() -> None:
            if name not in self.broken:
                self.whole.add(name)
                async with asyncio.timeout(self._rng.uniform(5.0, BREAKS_WITHIN_S)):
                    await run()
            return await run()

        async def broken() -> None:
            try:
                await breaks()
            except TimeoutError:
                self.broken.add(name)
                self.whole.discard(name)
                raise KeyError(name) from None

        return super().start(tasks, name, broken, note_refusal)


@simulated()
async def test_each_task_of_each_node_breaks_once_amid_a_crawl_and_nothing_is_lost(world: World) -> None:
    nodes = await world.add(4)
    for node in nodes:
        node.supervise = lambda faults: Saboteur(faults, Random(repr(node.name)))  # noqa: B023
        await world.stop(node)
        await world.restart(node)
    await world.crawl()
    await world.pass_time(BREAKS_WITHIN_S)
    for node in nodes:
        assert isinstance(node.supervisor, Saboteur)
        assert len(node.supervisor.broken) > 30
        assert [fault.site for fault in node.node_core.faults.present()] == [FaultSite.TASKS]
        status = {"faults": [{"cause": "task", "what_stops": "x", "remedy": "y"}]}
        assert next(n for n in needs_of(status, {}, 0.0) if n.topic == "machine").state == "trouble"
    await crawled(world)
    assert_complete(world)
    await world.until(lambda: not any(node.node_core.faults.present() for node in nodes), 240.0)


def test_a_simulation_ends_where_a_task_raises() -> None:
    async def scenario(world: World) -> None:
        (node,) = await world.add()

        async def fails() -> None:
            raise KeyError("row")

        node.node_core.levels.refresh = fails  # type: ignore[method-assign]
        await world.pass_time(10.0)

    with pytest.raises(BaseExceptionGroup) as raised:
        simulate(scenario)
    assert raised.group_contains(KeyError)
