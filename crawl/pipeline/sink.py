"""Defines where the crawler hands over what it brought; `node/crawling/ingest.py` provides it.

Pure: a protocol only. Each call returns when what it was given is safe with its owners (min_acks durable copies),
or raises RemoteError, after which the crawler tries again later.
"""

from collections.abc import Sequence
from typing import Protocol

from crawl.content.page import Page
from crawl.schedule.url_state import Visit


class Sink(Protocol):
    """Takes pages, found URLs and outcomes, and makes them safe with their owners."""

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = ()) -> None:
        """Store a page as a document, under its slot's lease epoch, and `discover` what it links to, in one write."""

    async def discover(self, found: Sequence[Visit]) -> None:
        """Hand WAITING visits to the owners of their slots, whoever they are; known URLs change nothing."""

    async def record(self, visit: Visit, epoch: int) -> None:
        """Write a visit's outcome under the lease epoch of its slot."""
