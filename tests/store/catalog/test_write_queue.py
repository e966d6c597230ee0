"""Writers at the same moment share a commit, and a writer that goes away leaves no riddle in the log."""

import asyncio
import gc
import threading

from dht import MachineRefuses
from store import MemoryDisk
from tests.store.support import draft, open_store, records


async def test_concurrent_writers_share_commits() -> None:
    disk = MemoryDisk()
    store = open_store(disk)
    async with asyncio.TaskGroup() as tasks:
        puts = [tasks.create_task(store.put(records(draft(n)))) for n in range(50)]
    assert [p.result() for p in puts] == [1] * 50
    store.close()


async def test_a_refusal_that_nobody_awaits_any_more_is_a_fault_and_no_traceback() -> None:
    told: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(str(context["exception"])))
    store, may_end = open_store(MemoryDisk()), threading.Event()

    async def cancel(error: Exception) -> None:
        def job() -> None:
            may_end.wait(10)
            raise error

        async with asyncio.TaskGroup() as tasks:
            writes = tasks.create_task(store._queue.run(job))
            await asyncio.sleep(0.01)
            writes.cancel()

    await cancel(MachineRefuses("disk", "full", "free some space"))
    await cancel(KeyError("a mistake"))
    may_end.set()
    store.close()
    await asyncio.sleep(0.01)
    gc.collect()
    assert store._queue.refusal is not None and told == ["'a mistake'"]
