"""Fetches for the crawler, and has others make the request where this node cannot, should not or need not.

Another member carries what this node's own families cannot reach, and what a rule names that member for. Another owner
of the URL's slot carries what this node's operator refuses (`node/delegation/fetch_route.py`). Clients that wait for
work get one page in eight, and more while this node is busy itself. Robots, politeness and the outcome stay with the
lease holder, who orders one GET: the other node only carries bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random

from crawl import (
    AddressDenied,
    FamilyMissing,
    FetchDeclined,
    Fetched,
    Fetcher,
    FetchFailed,
    hashes_cover,
    is_canonical,
)
from dht import Key, NodeId, Overlay, PeerTimeout, RemoteError, placement_key, slot_of, split_url
from node.crawling.fetch_rules import FetchRules
from node.delegation.client_audit import ClientAudit
from node.delegation.fetch_order import ORDER_WITHIN_S, ClientAnswer, FetchAnswer, FetchOrder, fetched_by
from node.delegation.fetch_route import FetchRoute, fetch_route
from node.delegation.named_crawler import NamedCrawlers

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
NO_OTHER = "no other live owner of its slot fetches it just now"


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
        self._named = NamedCrawlers(overlay, rules)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """Fetch a URL, here or by another node.

        Raises FamilyMissing where no peer can reach the host either, FetchDeclined where this node must not fetch it
        and no other owner did. Another spelling of a URL, or one with a cookie, is part of a chain of redirects that
        this node follows.
        """
        if not is_canonical(url) or "Cookie" in headers:
            async with self._own:
                return await self._fetcher.fetch(url, headers, max_bytes)
        if got := await self._from_chosen(url, headers, max_bytes):
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
        except AddressDenied as denied:
            if not denied.by_operator:
                raise
            return await self._from_owners(url, headers, max_bytes, denied.reason)

    def declined(self, url: str) -> str:
        """Say why nobody is asked to fetch a URL that this node refuses; "" where somebody is, or it does not."""
        if not self._rules.refusals.reason(url):
            return ""
        route = self._route(url)
        return "" if route.peers else _declined(route)

    def chosen(self, url: str) -> tuple[NodeId | None, str]:
        """Return the node that makes the request for a URL now, None where nobody does, and why it does."""
        route, why = self._route(url), self._named.why_not(url)
        decision, me = self._rules.decide(url), self._overlay.view.node_id
        if not route.peers:
            return (None, _declined(route)) if route.refused else (me, why)
        if route.peers[0] == decision.preferred and not why:
            return route.peers[0], f"rule {decision.rule} of the strategy names it"
        if route.refused:
            return route.peers[0], f"the holder's {route.refused} refuses it"
        return me, why

    def others(self, url: str) -> list[NodeId]:
        """Return the other live owners of a URL's slot that may be asked to fetch it."""
        view = self._overlay.view
        owners = view.live_owners(slot_of(self._place(url), view.strategy.slot_bits))
        willing = [peer for peer in owners if not hashes_cover(view.peers.refuses(peer), url)]
        return [peer for peer in willing if peer != view.node_id]

    async def _from_chosen(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched | None:
        """Have the named member or another owner fetch; None where this node shall see to it."""
        route = self._route(url)
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        if got := await self._from_one_of(route.peers[:MAX_CARRIERS], order):
            return got
        if route.refused:
            raise FetchDeclined(url, _declined(route))
        return None

    def _route(self, url: str) -> FetchRoute:
        view, decision = self._overlay.view, self._rules.decide(url)
        refused = self._rules.refusals.reason(url)
        if not refused and decision.preferred is None:
            return FetchRoute()
        owners = view.live_owners(slot_of(self._place(url), view.strategy.slot_bits)) if refused else ()
        named = self._named.find(url)
        return fetch_route(
            view.node_id, owners, named, refused, lambda peer: hashes_cover(view.peers.refuses(peer), url)
        )

    async def _from_family(
        self, url: str, headers: Mapping[str, str], max_bytes: int, missing: FamilyMissing
    ) -> Fetched:
        """Have a peer fetch a URL whose host has only addresses of a family that this node lacks (`missing`). Raises
        `missing` where no such peer fetches it, and FetchFailed where the site failed."""
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        if got := await self._from_one_of(self._carriers(url, missing.family), order):
            return got
        raise missing

    async def _from_owners(self, url: str, headers: Mapping[str, str], max_bytes: int, why: str) -> Fetched:
        """Have another owner fetch from a host at whose addresses this node's operator fetches nothing. Raises
        FetchDeclined where none does."""
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        if got := await self._from_one_of(self.others(url)[:MAX_CARRIERS], order):
            return got
        raise FetchDeclined(url, f"{why}: {NO_OTHER}")

    async def _from_one_of(self, peers: Sequence[NodeId], order: FetchOrder) -> Fetched | None:
        """Have the first of these peers fetch that does; None where none does. An order that was lost may have been
        carried out, so the site rests before it is asked once more.

        Raises FetchFailed where the site failed, and AddressDenied where a peer of an older release asked where a rule
        forbids it."""
        for peer in peers:
            try:
                answer = await self._overlay.ask(peer, order, FetchAnswer, timeout_s=ORDER_WITHIN_S)
            except RemoteError as error:
                self._named.note_failed(peer, order.url, error)
                if isinstance(error, PeerTimeout):
                    await asyncio.sleep(self._rules.decide(order.url).min_delay_s)
                continue
            self._named.note_carried(peer, order.url)
            if answer.failure:
                raise FetchFailed(order.url, answer.failure)
            if got := fetched_by(answer, order.url, order.max_bytes, answer.address):
                if got.address and (denied := self._rules.judge_carried(order.url, got.address)):
                    raise denied
                return got
        return None

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
    return f"refused here by {route.refused}: {NO_OTHER}"
