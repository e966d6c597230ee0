"""What the crawler needs from the rest of the node; `node/crawling/ingest.py` provides it, the simulator and tests too.

Pure: a protocol only. Each call returns when what it was given is safe with its owners (min_acks durable copies),
or raises RemoteError, after which the crawler tries again later.
"""

from collections.abc import Sequence
from typing import Protocol

from crawl.content.page import Page
from crawl.schedule.url_state import Visit


class Sink(Protocol):
    """Where pages, found URLs and outcomes go."""

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = ()) -> None:
        """Store the page as a document, written under the lease epoch of its slot, and `discover` what it links to:
        one write for both."""

    async def discover(self, found: Sequence[Visit]) -> None:
        """Hand WAITING visits to the owners of their slots, whoever they are; known URLs change nothing."""

    async def record(self, visit: Visit, epoch: int) -> None:
        """Write a visit's outcome under the lease epoch of its slot."""
