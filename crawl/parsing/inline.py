"""Parses pages in a thread of the node itself: for simulators, tests and machines that cannot start processes.

A page that stalls its parser stalls the thread; only the processes of `pool.py` protect from that.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from crawl.content.page import ParseResult, ParseTask
from crawl.parsing.worker import parse_once


class InlineParsers:
    """Parses in one thread; on a simulated event loop, in the loop itself."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "crawl-parse")
        self._waiting = 0

    async def parse(self, task: ParseTask) -> ParseResult:
        """Parse one page; raises PageUnreadable."""
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, parse_once, task)
        finally:
            self._waiting -= 1

    def expect(self) -> None:
        """Do nothing: there is no process to start."""

    def waiting(self) -> int:
        """Return how many pages wait for the thread, or are being read by it."""
        return self._waiting

    def close(self) -> None:
        """Let the thread end after what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)
