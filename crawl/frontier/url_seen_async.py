"""The URL-seen test without blocking the event loop: at once where memory answers, else in a thread of its own.

Files may wait for the disk, and a merge takes a tenth of a second.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from crawl.frontier.url_seen import UrlSeenTest

T = TypeVar("T")


class AsyncUrlSeenTest:
    """Owns a URL-seen test and its thread; while the thread has work, all goes there, one after the other."""

    def __init__(self, seen: UrlSeenTest) -> None:
        self._seen, self._thread, self._sent = seen, ThreadPoolExecutor(1, "crawl-seen"), 0
        self._done = 0  # counted by the thread, as the other by the loop

    async def are_new(self, found: Sequence[tuple[str, int]]) -> list[bool]:
        """Tell for each (URL, depth) whether it is new, as `UrlSeenTest.are_new` does, but off the event loop."""
        if self._sent == self._done and self._seen.is_in_memory:
            return self._seen.are_new(found)
        return await self._in_thread(lambda: self._seen.are_new(found))

    async def add(self, sent: Sequence[tuple[str, int]]) -> None:
        """Remember acknowledged URLs, as `UrlSeenTest.add` does, but off the event loop."""
        if self._sent == self._done and self._seen.has_room(len(sent)):
            self._seen.add(sent)
        else:
            await self._in_thread(lambda: self._seen.add(sent))

    def close(self) -> None:
        """Close the test when the thread has finished what it is at."""
        self._thread.submit(self._seen.close)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, job: Callable[[], T]) -> T:
        def run() -> T:
            try:
                return job()
            finally:
                self._done += 1

        self._sent += 1
        return await asyncio.get_running_loop().run_in_executor(self._thread, run)
