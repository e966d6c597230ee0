"""Parsing in a thread of the node itself: for simulators, tests and machines that cannot start processes.

A page that stalls its parser stalls the thread; only `parsers.py` protects from that.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from crawl.errors import PageUnreadable
from crawl.extract import extract
from crawl.parsed import Parsed, Task


class InlineParsers:
    """One thread; on a simulated loop, the loop itself."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "crawl-parse")

    async def parse(self, task: Task) -> Parsed:
        """Read one page; raises PageUnreadable."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, parse_once, task)

    def close(self) -> None:
        """Let the thread end after what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def parse_once(task: Task) -> Parsed:
    """Read one page here; raises PageUnreadable."""
    try:
        return extract(task)
    except Exception as error:  # one crawled page: it may break a parser in any way
        raise PageUnreadable(task.url, f"parser: {type(error).__name__}: {str(error)[:100]}") from error
