"""As many workers as items at once, and not one more."""

import asyncio
from collections import deque

import pytest

from crawl.pipeline.worker_pool import FIRST, LEAST, FlightLimit, WorkerPool


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


GIVEN_UP_S = 20.0  # a write


def crawl(limit: FlightLimit, per_s: float, seconds: float, begins_at: float = 0.0) -> tuple[list[float], int]:
    """Fetches take no time, and owners record one page after the other, so many a second. Returns how long each
    waited, and the most in flight."""
    waits, most, now = list[float](), 0, begins_at
    flying = deque[float]()
    while now < begins_at + seconds:
        while len(flying) < limit.urls:
            flying.append(now)
        most = max(most, len(flying))
        now += 1 / per_s
        waits.append(now - flying.popleft())
        limit.note(now, waits[-1])
    return waits, most


@pytest.mark.parametrize("per_s", [2.0, 5.0, 15.0])
def test_no_page_waits_for_as_long_as_writes_are_tried(per_s: float) -> None:
    waits, _ = crawl(FlightLimit(640), per_s, 600.0)
    settled = waits[2 * FIRST :]  # who begins knows nothing of its owners
    assert max(settled) < GIVEN_UP_S and sum(settled) / len(settled) < 6.0
    assert min(settled) > 0.5, "owners are never left without work"


def test_quick_owners_get_all_that_may_be_open() -> None:
    limit = FlightLimit(640)
    _, most = crawl(limit, 300.0, 10.0)
    assert most == limit.urls == 640


def test_owners_that_become_slow_get_less_and_those_that_recover_more() -> None:
    limit = FlightLimit(640)
    crawl(limit, 300.0, 10.0)
    waits, _ = crawl(limit, 4.0, 600.0, 10.0)
    assert max(waits[-1000:]) < GIVEN_UP_S and limit.urls < 60
    crawl(limit, 300.0, 30.0, 610.0)
    assert limit.urls == 640


def test_a_bound_of_few_stays_one_of_few() -> None:
    few = FlightLimit(3)
    assert (few.urls, FlightLimit(640).urls) == (3, FIRST)
    for second in range(100):
        few.note(second, 60.0)
    assert few.urls == 3 < LEAST
