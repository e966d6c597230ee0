"""Ends the run of a node that is told to stop or has a twin, and begins it anew where the store's files are damaged."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from dht import OverlayService, leaves_of
from node.errors import TwinRuns
from node.process.service_manager import ServiceManager
from store import StoreCorrupt

log = logging.getLogger(__name__)

YOUNG_S = 60.0  # since the start; who runs for longer was there before
LOOK_S = 1.0
REOPEN_S = 600.0  # an index that is damaged again so soon after it was rebuilt ends the process


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


async def give_way_to_twin(overlay: OverlayService) -> None:
    """Return when this node is young no longer; raises TwinRuns where another one was there before.

    Such a node is a copy, most likely, that was started beside its original. Of two that run, neither votes nor crawls
    (`dht/membership/reasons_apart.py`); the one that was there before goes on when the other has ended."""
    ends = asyncio.get_running_loop().time() + YOUNG_S
    while asyncio.get_running_loop().time() < ends:
        if warning := overlay.report.twin_warning():
            raise TwinRuns(warning)
        await asyncio.sleep(LOOK_S)


async def reopening(serve: Callable[[], Awaitable[None]]) -> None:
    """Serve, and serve again where nothing but damage of the store ended that: opening its files rebuilds its index.
    Any other error is raised."""
    loop, reopened_at = asyncio.get_running_loop(), float("-inf")
    while True:
        try:
            return await serve()
        except BaseExceptionGroup as group:
            damage, others = group.split(StoreCorrupt)
            if damage is None or others is not None or loop.time() - reopened_at < REOPEN_S:
                raise
            reopened_at = loop.time()
            log.warning("node opens its files anew reason=%s", next(leaves_of(damage)))
