"""Parses pages in a thread of the node itself: for simulators, tests and machines that cannot start processes.

A page that stalls its parser stalls the thread; only the processes of `pool.py` protect from that.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

from msgspec.structs import replace

from crawl.content.extract import extract
from crawl.content.page import ParseResult, ParseTask, too_large
from crawl.errors import BodyUnfit, PageUnreadable
from crawl.fetch.content_codings import BadCoding, decode_body
from crawl.fetch.response import broken_coding, type_flaw


class InlineParsers:
    """Parses in one thread; on a simulated event loop, in the loop itself."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "crawl-parse")

    async def parse(self, task: ParseTask) -> ParseResult:
        """Parse one page; raises PageUnreadable."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, parse_once, task)

    def expect(self) -> None:
        """Do nothing: there is no process to start."""

    def close(self) -> None:
        """Let the thread end after what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def parse_once(task: ParseTask) -> ParseResult:
    """Parse one page at once; raises BodyUnfit, or PageUnreadable where the engine failed."""
    body = _opened(task) if task.coding else task.body
    if flaw := type_flaw(task.media_type, task.header_charset, body):
        raise BodyUnfit(task.url, flaw)
    try:
        parsed = extract(replace(task, body=body) if task.coding else task)
    except Exception as error:  # one crawled page: it may break a parser in any way
        raise PageUnreadable(task.url, f"parser: {type(error).__name__}: {str(error)[:100]}") from error
    content = body if task.coding else b""
    return replace(parsed, content=content, content_digest=sha256(body).digest())


def _opened(task: ParseTask) -> bytes:
    try:
        body, is_cut = decode_body(task.body, task.coding, task.max_bytes)
    except BadCoding as error:
        raise BodyUnfit(task.url, broken_coding(error)) from error
    if is_cut:
        raise BodyUnfit(task.url, too_large(task.max_bytes))
    return body
