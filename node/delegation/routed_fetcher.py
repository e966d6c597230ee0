"""Fetches for the crawler, and has others make the request where this node cannot, should not or need not.

Another owner of the URL's slot carries what this node's own families cannot reach, what a rule prefers that owner for
and what this node's operator refuses (`node/delegation/fetch_route.py`). Clients that wait for work get one page in
eight, and more while this node is busy itself. Robots, politeness and the outcome stay with the lease holder, who
orders one GET: the other node only carries bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import Random

from crawl import (
    FamilyMissing,
    FetchDeclined,
    Fetched,
    Fetcher,
    FetchFailed,
    hashes_cover,
    is_canonical,
)
from dht import Key, NodeId, Overlay, RemoteError, placement_key, slot_of, split_url
from node.crawling.fetch_rules import FetchRules
from node.delegation.client_audit import ClientAudit
from node.delegation.fetch_order import ORDER_WITHIN_S, ClientAnswer, FetchAnswer, FetchOrder, fetched_by
from node.delegation.fetch_route import FetchRoute, fetch_route

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


MAX_CARRIERS = 3  # peers tried for one URL


class RoutedFetcher:
    """A `Fetcher` that has a peer or a client make a request where that is better than making it here."""

    def __init__(
        self,
        fetcher: Fetcher,
        overlay: Overlay,
        rules: FetchRules,
        rng: Random,
        *,
        max_own: int = 1 << 20,
        clients: ClientFetches | None = None,
        place: Callable[[str], Key] = placement_key,
    ) -> None:
        """`max_own`: fetches of its own that are open at once. `place`: where the records of a canonical URL live."""
        self._fetcher, self._overlay, self._rules, self._rng = fetcher, overlay, rules, rng
        self._own = asyncio.Semaphore(max_own)
        self._clients, self._place = clients, place

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """Fetch a URL, here or by another node.

        Raises FamilyMissing where no peer can reach the host either, FetchDeclined where this node must not fetch it
        and no other owner did. Another spelling of a URL, or one with a cookie, is part of a chain of redirects that
        this node follows.
        """
        if not is_canonical(url) or "Cookie" in headers:
            async with self._own:
                return await self._fetcher.fetch(url, headers, max_bytes)
        if got := await self._from_owner(url, headers, max_bytes):
            return got
        clients = self._clients
        audit = clients.audit if clients and clients.audit and clients.audit.is_due(url) else None
        is_busy = self._own.locked()
        if clients and not audit and (got := await clients.fetch(url, headers, max_bytes, is_busy=is_busy)):
            return got
        try:
            async with self._own:
                got = await self._fetcher.fetch(url, {} if audit is not None else headers, max_bytes)
            if audit is not None:
                await audit.compare(got.opened(max_bytes))
            return got
        except FamilyMissing as missing:
            return await self._from_family(url, headers, max_bytes, missing)

    def declined(self, url: str) -> str:
        """Say why nobody is asked to fetch a URL that this node refuses; "" where somebody is, or it does not."""
        if not self._rules.refusals.reason(url):
            return ""
        route = self._route(url)
        return "" if route.peers else _declined(route)

    async def _from_owner(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched | None:
        """Have another owner fetch that is preferred, or must; None where this node shall see to it."""
        route = self._route(url)
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        for peer in route.peers[:MAX_CARRIERS]:
            if got := await self._ordered(peer, order):
                return got
        if route.refused:
            raise FetchDeclined(url, _declined(route))
        return None

    def _route(self, url: str) -> FetchRoute:
        view, preferred = self._overlay.view, self._rules.decide(url).preferred
        refused = self._rules.refusals.reason(url)
        if not refused and preferred is None:
            return FetchRoute()
        owners = view.live_owners(slot_of(self._place(url), view.strategy.slot_bits))
        return fetch_route(
            view.node_id, owners, preferred, refused, lambda peer: hashes_cover(view.peers.refuses(peer), url)
        )

    async def _from_family(
        self, url: str, headers: Mapping[str, str], max_bytes: int, missing: FamilyMissing
    ) -> Fetched:
        """Have a peer fetch a URL whose host has only addresses of a family that this node lacks (`missing`). Raises
        `missing` where no such peer fetches it, and FetchFailed where the site failed."""
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        for peer in self._carriers(url, missing.family):
            if got := await self._ordered(peer, order):
                return got
        raise missing

    async def _ordered(self, peer: NodeId, order: FetchOrder) -> Fetched | None:
        """Have one peer fetch; None where it refused or was silent. Raises FetchFailed where the site failed."""
        try:
            answer = await self._overlay.ask(peer, order, FetchAnswer, timeout_s=ORDER_WITHIN_S)
        except RemoteError:
            return None
        if answer.failure:
            raise FetchFailed(order.url, answer.failure)
        return fetched_by(answer, order.url, order.max_bytes, answer.address)

    def _carriers(self, url: str, family: int) -> list[NodeId]:
        """Return live peers that speak the family: the slot's owners first, then others in any order."""
        view = self._overlay.view
        owners = view.owners(slot_of(self._place(url), view.strategy.slot_bits))
        able = [peer for peer in view.members() if peer != view.node_id and view.is_live(peer)]
        able = [peer for peer in able if (contact := view.contact(peer)) and family in contact.families]
        self._rng.shuffle(able)
        able.sort(key=lambda peer: peer not in owners)
        return able[:MAX_CARRIERS]


def _declined(route: FetchRoute) -> str:
    return f"refused here by {route.refused}: no other live owner of its slot fetches it just now"
