"""Ends a process that is told to stop: first what a running node has to do before, then all of its tasks."""

import asyncio
from collections.abc import Awaitable, Callable

from node.process.service_manager import ServiceManager


class CleanEnd:
    """The end of one process, whose main task is given."""

    def __init__(self, task: asyncio.Task[None], manager: ServiceManager) -> None:
        self._task, self._manager = task, manager
        self._told, self._runs = asyncio.Event(), False
        self.is_begun = False

    def begin(self) -> None:
        """Have the process end: at once, or a few seconds later where a node runs."""
        self.is_begun = True
        self._manager.tell("STOPPING=1")
        if self._runs:
            self._told.set()
        else:
            self._task.cancel()

    async def run(self, before: Callable[[], Awaitable[None]]) -> None:
        """Wait until the process is told to stop, do what comes before that, and end it."""
        self._runs = True
        try:
            await self._told.wait()
            await before()
        finally:
            self._runs = False
            if self._told.is_set():  # whatever went wrong before, the process ends
                self._task.cancel()
