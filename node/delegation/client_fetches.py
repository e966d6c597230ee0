"""Has clients that wait for work fetch some of this node's pages: a few, and more while it is busy itself."""

from collections.abc import Awaitable, Callable, Mapping

from crawl import Fetched
from dht import split_url
from node.delegation.client_audit import ClientAudit
from node.delegation.fetch_order import ClientAnswer, FetchOrder, fetched_by

CLIENTS_SHARE = 8  # one page in so many goes to a client that waits, though this node could fetch it

CarryByClient = Callable[[FetchOrder], Awaitable[ClientAnswer | None]]
"""Has a client carry out an order; None where none waits, or nothing came of it."""


class ClientFetches:
    """Chooses the pages that clients fetch, and checks them by its audit."""

    def __init__(self, carry: CarryByClient, max_bytes: int, audit: ClientAudit | None = None) -> None:
        """`max_bytes`: the most that this node reads of any page."""
        self._carry, self._max_bytes, self.audit = carry, max_bytes, audit
        self._pages = 0

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int, *, is_busy: bool) -> Fetched | None:
        """Have a client fetch a page; None where this node shall fetch it. Rules are read by this node itself:
        robots.txt is told by its path, and where a redirect leads on by its bound."""
        if max_bytes != self._max_bytes or split_url(url).path == "/robots.txt":
            return None
        self._pages += 1
        if not is_busy and self._pages % CLIENTS_SHARE:
            return None
        brought = await self._carry(FetchOrder(url, tuple(headers.items()), max_bytes))
        # A client's failure is not the site's, and its word for the address of the site is not taken.
        if brought is None or brought.answer.failure:
            return None
        page = fetched_by(brought.answer, url, max_bytes, address="")
        if page is not None and self.audit is not None:
            self.audit.consider(brought.client, page)
        return page
