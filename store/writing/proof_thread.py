"""Opens and proves what peers send, off the event loop where that is much."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

LARGE_BYTES = 64 << 10  # on the wire; proving more holds the event loop for longer than a millisecond or two
T = TypeVar("T")


class ProofThread:
    """One thread for long proofs. It is idle otherwise, and ends with the object."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-prove")

    async def run(self, job: Callable[[], T], size_bytes: int) -> T:
        """Run a job on so many bytes of a peer's: here where they are few, else in the thread."""
        if size_bytes < LARGE_BYTES:
            return job()
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)
