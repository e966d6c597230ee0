"""As many workers as items at once, and not one more."""

import asyncio

from crawl.pipeline.worker_pool import WorkerPool


async def test_idle_workers_take_the_next_items() -> None:
    workers, started, done = set[asyncio.Task[None] | None](), asyncio.Semaphore(0), asyncio.Queue[int]()

    async def work(item: int) -> None:
        workers.add(asyncio.current_task())
        await started.acquire()
        done.put_nowait(item)

    pool = WorkerPool(work)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        for first in range(0, 9, 3):
            for item in range(first, first + 3):
                pool.start(tasks, item)
            for _ in range(3):
                started.release()
            assert {await done.get() for _ in range(3)} == {first, first + 1, first + 2}
        assert len(workers) == 3
        for worker in workers:
            assert worker is not None
            worker.cancel()
