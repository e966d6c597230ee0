"""Measures what the node's files outside of the store take, so that one quota bounds all of them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from store import RecordStore

EVERY_S = 5.0  # an index that takes in pages as fast as it can grows by some 20 MB meanwhile


class DiskMeter:
    """Tells the store what lies beside it. `measure` blocks for some milliseconds, so a thread runs it."""

    def __init__(self, store: RecordStore, measure: Callable[[], int] | None) -> None:
        self._store, self._measure = store, measure
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="disk-meter")
        if measure is not None:
            store.room.note_beside(measure())

    async def run(self) -> None:
        """Measure now and then, until cancelled."""
        while self._measure is not None:
            await self.step()
            await asyncio.sleep(EVERY_S)

    async def step(self) -> None:
        """Measure once."""
        if self._measure is not None:
            loop = asyncio.get_running_loop()
            self._store.room.note_beside(await loop.run_in_executor(self._thread, self._measure))

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def bytes_below(*folders: Path) -> int:
    """Sum the sizes of all files below some folders; what vanishes meanwhile counts nothing."""
    return sum(_size(path) for folder in folders for path in folder.rglob("*"))


def _size(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_size if (status.st_mode & 0o170000) == 0o100000 else 0
