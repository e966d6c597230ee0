"""Runs one piece of work over many items at once, in tasks that are used again: a new task costs an item 20 µs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class WorkerPool(Generic[Item]):
    """Starts as many workers as there are items at once; an idle worker takes the next item."""

    def __init__(self, work: Callable[[Item], Awaitable[None]]) -> None:
        self._work = work
        self._idle: list[asyncio.Future[Item]] = []  # of each idle worker, for its next item

    def start(self, tasks: asyncio.TaskGroup, item: Item) -> None:
        """Have an item worked on, by an idle worker or by a new one in this group."""
        if self._idle:
            self._idle.pop().set_result(item)
        else:
            tasks.create_task(self._run(item))

    def clear(self) -> None:
        """Forget the idle workers, whose group has ended."""
        self._idle.clear()

    async def _run(self, item: Item) -> None:
        while True:
            await self._work(item)
            next_item: asyncio.Future[Item] = asyncio.get_running_loop().create_future()
            self._idle.append(next_item)
            item = await next_item
