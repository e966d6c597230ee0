"""Checks pages that clients brought: some are fetched again, and the two texts are compared.

A client needs no more than an identity, so little is known of it. Its first page and a small share of all others are
due again at once. This node then fetches them itself, in the host's turn like any page. A client whose page has little
in common with the site's own is refuted: it gets no orders during its penalty, and its latest pages are fetched again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable

from crawl import Fetched, PageUnreadable, Parsers, ParseTask, different_bits
from dht import UNLIKE_BITS, NodeId, PeerAudit, Topic

MAX_PENDING = 32  # pages waiting for their second fetch
MAX_KEPT_BYTES = 1 << 20  # of such a page; longer ones are not checked
MAX_CLIENTS = 4096  # whose latest pages are known
MAX_LATEST = 64  # pages of a client that are fetched again once it is refuted
MAX_DOUBTED = 1024  # of all refuted clients together
MAX_LINKS, MAX_TEXT_CHARS = 1, 100_000


class ClientAudit:
    """Compares pages. `again` makes a URL due; `refute(client, reason)` is called for a page that differs."""

    def __init__(
        self,
        parsers: Parsers,
        audit: PeerAudit,
        again: Callable[[str], None],
        refute: Callable[[NodeId, str], None],
    ) -> None:
        self._parsers, self._audit, self._again, self._refute = parsers, audit, again, refute
        self._pending: OrderedDict[str, tuple[NodeId, Fetched]] = OrderedDict()
        self._latest: OrderedDict[NodeId, deque[str]] = OrderedDict()  # URLs that each brought
        self._doubted: OrderedDict[str, None] = OrderedDict()
        self.made = 0

    def consider(self, client: NodeId, page: Fetched) -> None:
        """Choose whether a page that a client brought, and that is being recorded, is fetched again."""
        is_due = self._audit.is_due(client, Topic.CLIENT_PAGES)
        self._audit.sampling.count(client, Topic.CLIENT_PAGES)
        self._latest.setdefault(client, deque(maxlen=MAX_LATEST)).append(page.url)
        if len(self._latest) > MAX_CLIENTS:
            self._latest.popitem(last=False)
        if is_due and not page.cut and len(page.body) <= MAX_KEPT_BYTES:
            self._pending[page.url] = (client, page)
            if len(self._pending) > MAX_PENDING:
                self._pending.popitem(last=False)
            self._again(page.url)

    def is_due(self, url: str) -> bool:
        """Tell whether this node must fetch a URL itself, all of it, to compare."""
        return url in self._pending or url in self._doubted

    async def compare(self, page: Fetched) -> None:
        """Compare a page that this node has fetched itself with the one that a client brought before."""
        self._doubted.pop(page.url, None)
        client, brought = self._pending.pop(page.url, (None, page))
        if client is None:
            return
        self.made += 1
        if reason := await self._difference(brought, page):
            self._refute(client, f"brought {page.url[:200]} with {reason}")
            self._doubt(client, page.url)

    def _doubt(self, client: NodeId, seen: str) -> None:
        """Have the latest pages of a refuted client fetched again, but for the one that was just compared."""
        for url in sorted({*self._latest.pop(client, ())} - {seen}):
            self._doubted[url] = None
            if len(self._doubted) > MAX_DOUBTED:
                self._doubted.popitem(last=False)
            self._again(url)

    async def _difference(self, brought: Fetched, own: Fetched) -> str:
        """Return how a client's page differs from the site's, "" where it does not or nothing can be told."""
        if own.status >= 500 or own.status == 429:
            return ""
        if brought.status // 100 != own.status // 100:
            return f"status {brought.status} where the site says {own.status}"
        if own.status != 200 or (brought.body, brought.media_type) == (own.body, own.media_type):
            return ""
        one, other = await self._signature(brought), await self._signature(own)
        if one and other:
            return "another text than the site's" if different_bits(one, other) > UNLIKE_BITS else ""
        return "no text where the site has one" if other else "a text where the site has none" if one else ""

    async def _signature(self, page: Fetched) -> bytes:
        try:
            task = ParseTask(
                page.url, page.body, page.media_type or "text/html", page.header_charset, MAX_LINKS, MAX_TEXT_CHARS
            )
            return (await self._parsers.parse(task)).signature
        except PageUnreadable:
            return b""
