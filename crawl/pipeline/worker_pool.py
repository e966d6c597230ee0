"""Runs one piece of work over many items at once, and says how many: URLs from the start of a fetch to their outcome.

Owners that are short of processors take pages late. A crawler that continued at full speed would have all writes time
out and be repeated. So the number halves, once in a while, where an outcome came late, and grows with each that came in
time. It grows four times as fast before the first was late (Jacobson 1988).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")
WANTED_S = 5.0  # from the end of a request to its recorded outcome: a fourth of the time when a write is given up
FIRST, LEAST = 32, 8
GROWTH = 0.25  # for each outcome in time; 1 before any was late: all that are in flight double their number at once


class WorkerPool(Generic[Item]):
    """Starts as many workers as there are items at once; an idle worker takes the next item (a task costs 20 µs)."""

    def __init__(self, work: Callable[[Item], Awaitable[None]]) -> None:
        self._work = work
        self._idle: list[asyncio.Future[Item]] = []  # of each idle worker, for its next item

    def start(self, tasks: asyncio.TaskGroup, item: Item) -> None:
        """Have an item worked on, by an idle worker or by a new one in this group."""
        if self._idle:
            self._idle.pop().set_result(item)
        else:
            tasks.create_task(self._run(item), name="crawl-url")

    def clear(self) -> None:
        """Forget the idle workers, whose group has ended."""
        self._idle.clear()

    async def _run(self, item: Item) -> None:
        while True:
            await self._work(item)
            del item  # an idle worker keeps nothing of its last one
            next_item: asyncio.Future[Item] = asyncio.get_running_loop().create_future()
            self._idle.append(next_item)
            item = await next_item


class FlightLimit:
    """The bound of one crawler, at most `most` URLs. Pure: seconds in, a number out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._urls: float = min(FIRST, most)
        self._growth, self._cut_at = 1.0, float("-inf")

    @property
    def urls(self) -> int:
        """The bound now."""
        return int(self._urls)

    def note(self, now_s: float, took_s: float) -> None:
        """Take note of an outcome that was recorded now, so long after its request (steady seconds)."""
        if took_s <= WANTED_S:
            self._urls = min(self._most, self._urls + self._growth)
        elif now_s - self._cut_at >= WANTED_S:  # what was in flight at the last cut says nothing of it
            self._urls = min(self._most, max(LEAST, self._urls / 2))
            self._growth, self._cut_at = GROWTH, now_s
