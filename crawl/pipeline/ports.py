"""Names what the crawler needs from the node around it: access to sites, and a sink for what it brings.

Pure: protocols only.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from crawl.content.page import Page
from crawl.fetch.response import Fetched, Fetcher
from crawl.frontier.admission import CrawlDecision
from crawl.politeness.site_tokens import TokenAnswer
from crawl.schedule.url_state import Visit


class SiteAccess(Fetcher, Protocol):
    """Says what may be asked of sites and when, and has it asked; `node/app/wiring.py` provides it."""

    def decide(self, url: str, /) -> CrawlDecision:
        """Return what the strategy and the operator say of a URL."""

    def late(self) -> float:
        """Return the seconds until the bandwidth limit lets another fetch begin."""

    def locate(self, url: str, /) -> Awaitable[str]:
        """Return the literal address that a fetch of this URL will try first, "" where none is known; never raises."""

    async def elsewhere(self, visit: Visit, /) -> Fetched | None:
        """Return what is at a URL where another than its site says that, be it this node's own disk; None for all
        others; never raises."""

    async def acquire(self, visit: Visit, /) -> TokenAnswer:
        """Ask for the token that one request to the site of a URL needs where several nodes crawl it; never raises."""

    async def release(self, url: str, rest_s: float, /) -> None:
        """Return the token after the request; the site must rest for so many seconds. Never raises."""


class Sink(Protocol):
    """Takes pages, found URLs and outcomes, and makes them safe with their owners; `node/crawling/ingest.py` is one.

    `keep`, `discover` and `record` return when what they were given is safe (min_acks durable copies). Otherwise they
    raise RemoteError, after which the crawler tries again later."""

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = (), outcome: Visit | None = None) -> bool:
        """Store a page as a document, under its slot's lease epoch, and `discover` what it links to, in one write.

        Returns whether that write held the outcome: it does where all found URLs have the page's owners, so that an
        outcome is never safe before the links."""

    async def discover(self, found: Sequence[Visit]) -> None:
        """Hand WAITING visits to the owners of their slots, whoever they are; known URLs change nothing."""

    async def record(self, visit: Visit, epoch: int) -> None:
        """Write a visit's outcome under the lease epoch of its slot."""

    def find(self, urls: Sequence[str], /) -> Awaitable[Mapping[str, Visit]]:
        """Return visits by URL, from their owners; those that nobody knows, or answers for, are missing."""
