"""Fetches pages that clients brought again now and then, and compares what both say.

A client needs no more than an identity, so its word is worth little: its first page, and a small share of all others,
is due again at once, and then fetched by this node itself, in the host's turn like any page. A client whose page had
little in common with the site's own gets no more orders here, and what it brought lately is fetched again too.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable
from random import Random

from crawl import Fetched, PageUnreadable, Parsers, ParseTask, different_bits
from dht import NodeId

log = logging.getLogger(__name__)

CHECK_SHARE = 0.02  # of a client's pages after the first
LIE_BITS = 52  # of 128: texts with nothing in common differ in 64 ± 6, those with half of it in 32 ± 5
MAX_PENDING = 32  # pages waiting for their second fetch
MAX_KEPT_BYTES = 1 << 20  # of such a page; longer ones are not checked
MAX_CLIENTS = 4096  # remembered to have been checked once
MAX_LATELY = 64  # pages of a client that are fetched again where it lied
MAX_DOUBTED = 1024  # of all liars together
MAX_LINKS, MAX_TEXT_CHARS = 1, 100_000


class ClientAudit:
    """Compares pages: `again` makes a URL due; `distrust(client, reason)` is told of lies."""

    def __init__(
        self,
        parsers: Parsers,
        rng: Random,
        again: Callable[[str], None],
        distrust: Callable[[NodeId, str], None],
        share: float = CHECK_SHARE,
    ) -> None:
        self._parsers, self._rng, self._again, self._distrust, self._share = parsers, rng, again, distrust, share
        self._pending: OrderedDict[str, tuple[NodeId, Fetched]] = OrderedDict()
        self._known: OrderedDict[NodeId, deque[str]] = OrderedDict()  # what each brought lately
        self._doubted: OrderedDict[str, None] = OrderedDict()
        self.made = 0

    def consider(self, client: NodeId, page: Fetched) -> None:
        """Choose whether a page that a client brought, and that is being recorded, is fetched again."""
        is_first = client not in self._known
        self._known.setdefault(client, deque(maxlen=MAX_LATELY)).append(page.url)
        if len(self._known) > MAX_CLIENTS:
            self._known.popitem(last=False)
        if (is_first or self._rng.random() < self._share) and not page.cut and len(page.body) <= MAX_KEPT_BYTES:
            self._pending[page.url] = (client, page)
            if len(self._pending) > MAX_PENDING:
                self._pending.popitem(last=False)
            self._again(page.url)

    def is_due(self, url: str) -> bool:
        """Tell whether this node shall fetch a URL itself, all of it, to compare."""
        return url in self._pending or url in self._doubted

    async def compare(self, page: Fetched) -> None:
        """Compare a page that this node has fetched itself with what a client brought before."""
        self._doubted.pop(page.url, None)
        client, brought = self._pending.pop(page.url, (None, page))
        if client is None:
            return
        self.made += 1
        if reason := await self._difference(brought, page):
            self._distrust(client, f"brought {page.url[:200]} with {reason}")
            self._doubt(client, page.url)

    def _doubt(self, client: NodeId, seen: str) -> None:
        """Have fetched again what a liar brought before, but for what this node has just seen itself."""
        for url in sorted({*self._known.pop(client, ())} - {seen}):
            self._doubted[url] = None
            if len(self._doubted) > MAX_DOUBTED:
                self._doubted.popitem(last=False)
            self._again(url)

    async def _difference(self, brought: Fetched, own: Fetched) -> str:
        """Say what of a client's page is not the site's, "" where nothing is, or nothing can be said."""
        if own.status >= 500 or own.status == 429:
            return ""
        if brought.status // 100 != own.status // 100:
            return f"status {brought.status} where the site says {own.status}"
        if own.status != 200 or (brought.body, brought.media_type) == (own.body, own.media_type):
            return ""
        one, other = await self._signature(brought), await self._signature(own)
        if one and other:
            return "another text than the site's" if different_bits(one, other) > LIE_BITS else ""
        return "no text where the site has one" if other else "a text where the site has none" if one else ""

    async def _signature(self, page: Fetched) -> bytes:
        try:
            task = ParseTask(
                page.url, page.body, page.media_type or "text/html", page.header_charset, MAX_LINKS, MAX_TEXT_CHARS
            )
            return (await self._parsers.parse(task)).signature
        except PageUnreadable:
            return b""
