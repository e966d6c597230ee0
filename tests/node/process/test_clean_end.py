"""A process that is told to stop ends at once while no node runs, and else after what has to be done before."""

import asyncio

import pytest

from node.process.clean_end import CleanEnd
from node.process.service_manager import ServiceManager


async def serve(ending: CleanEnd, done: list[str], rest_s: float = 0.0) -> None:
    """What a process does: it opens its files, then a node runs."""

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
