"""The small files of one node's overlay: their folder, and the thread that reads and writes them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import TypeVar

from dht.local_faults import LocalFaults

Result = TypeVar("Result")


class OverlayFiles:
    """Names a node's files and runs what blocks on them. `folder` None keeps nothing; `executor` has one named thread.
    `faults` is told what this machine refuses."""

    def __init__(self, folder: Path | None, executor: Executor, faults: LocalFaults) -> None:
        self.folder, self.executor, self.faults = folder, executor, faults

    def path(self, name: str) -> Path | None:
        """Return where a file lies; None where nothing is kept."""
        return self.folder / name if self.folder is not None else None

    async def run(self, work: Callable[..., Result], *args: object) -> Result:
        """Run blocking work on the thread, and return its result."""
        return await asyncio.get_running_loop().run_in_executor(self.executor, work, *args)
