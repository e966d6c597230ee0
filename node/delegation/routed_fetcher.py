"""Fetching by others: what this node's own families cannot reach, what a rule prefers another owner for, what this
node's operator refuses (ways.py), and what clients that wait for work may carry.

Robots, politeness and the outcome stay with the holder, who orders one GET; the other node only carries bytes, for
owners of the URL's slot alone, where the strategy lets the URL be crawled, and under its own bounds. Clients
(clients.py) get pages only, when this node's own fetches are as many as it may have open, and now and then otherwise.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Protocol

from crawl import (
    AddressRefused,
    CrawlDecision,
    FamilyMissing,
    FetchDeclined,
    Fetched,
    Fetcher,
    FetchFailed,
    OperatorBlocklist,
    hashes_cover,
    is_canonical,
)
from dht import BadMessage, Key, NodeId, Overlay, RemoteError, placement_key, slot_of, split_url
from node.delegation.fetch_order import ORDER_WITHIN_S, VALIDATORS, ClientAnswer, FetchAnswer, FetchOrder
from node.delegation.fetch_route import FetchRoute, fetch_route

MAX_ORDERS = 16  # served at once, for all peers together
MAX_CARRIERS = 3  # peers tried for one URL
NO_REFUSALS = OperatorBlocklist(())
CLIENTS_SHARE = 8  # one page in so many goes to a client that waits, though this node could fetch it

CarryByClient = Callable[[FetchOrder], Awaitable[ClientAnswer | None]]
"""Has a client carry out an order; None where none waits, or nothing came of it."""


class Checks(Protocol):
    """Pages of clients that this node fetches again; see spotchecks.py."""

    def consider(self, client: NodeId, page: Fetched) -> None: ...

    def is_due(self, url: str) -> bool: ...

    async def compare(self, page: Fetched) -> None: ...


class RoutedFetcher:
    """A `Fetcher` that has a peer carry the bytes where that peer can, should or must, and clients where they are of
    use."""

    def __init__(
        self,
        fetcher: Fetcher,
        overlay: Overlay,
        decide: Callable[[str], CrawlDecision],
        max_bytes: int,
        rng: Random,
        *,
        max_own: int = 1 << 20,
        by_client: CarryByClient | None = None,
        checks: Checks | None = None,
        place: Callable[[str], Key] = placement_key,
        refusals: OperatorBlocklist = NO_REFUSALS,
    ) -> None:
        """`max_bytes`: the most that this node reads of any page, for itself or for others. `max_own`: fetches of its
        own that are open at once. `place`: where the records of a canonical URL live. `refusals`: what its operator
        will not have it fetch."""
        self._place, self._refusals = place, refusals
        self._fetcher, self._overlay, self._rng = fetcher, overlay, rng
        self._decide, self._max_bytes = decide, max_bytes
        self._places, self._own = asyncio.Semaphore(MAX_ORDERS), asyncio.Semaphore(max_own)
        self._by_client, self._checks, self._pages = by_client, checks, 0
        self.resting = ""  # why the owner of this machine lets it fetch nothing just now
        overlay.serve(FetchOrder, self.carry)

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """As `crawl.Fetcher.fetch`; raises FetchFailed when no peer can reach the host either, FetchDeclined where
        this node must not and no other owner did."""
        if got := await self._from_owner(url, headers, max_bytes):
            return got
        checks = self._checks if self._checks is not None and self._checks.is_due(url) else None
        if checks is None and (got := await self._from_client(url, headers, max_bytes)):
            return got
        try:
            async with self._own:
                got = await self._fetcher.fetch(url, {} if checks is not None else headers, max_bytes)
            if checks is not None:
                await checks.compare(got.opened(max_bytes))
            return got
        except FamilyMissing as missing:
            return await self._order(url, headers, max_bytes, missing)

    def declined(self, url: str) -> str:
        """Why nobody can be asked to fetch a URL that this node refuses; "" where somebody can, or it does not."""
        if not self._refusals.reason(url):
            return ""
        way = self._way(url)
        return "" if way.peers else _declined(way)

    async def _from_owner(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched | None:
        """As another owner brought it, who is preferred or must; None where this node shall see to it."""
        way = self._way(url)
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        for peer in way.peers[:MAX_CARRIERS]:
            if got := await self._ordered(peer, order):
                return got
        if way.refused:
            raise FetchDeclined(url, _declined(way))
        return None

    def _way(self, url: str) -> FetchRoute:
        view, refused, preferred = self._overlay.view, self._refusals.reason(url), self._decide(url).preferred
        if not refused and preferred is None:
            return FetchRoute()
        owners = view.live_owners(slot_of(self._place(url), view.strategy.slot_bits))
        return fetch_route(view.node_id, owners, preferred, refused, lambda peer: hashes_cover(view.refuses(peer), url))

    async def _from_client(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched | None:
        """A page as a client brought it; None where this node shall fetch. Rules are read by this node itself:
        robots.txt is told by its path, and where a redirect leads on by its bound."""
        if self._by_client is None or max_bytes != self._max_bytes or split_url(url).path == "/robots.txt":
            return None
        self._pages += 1
        if not self._own.locked() and self._pages % CLIENTS_SHARE:
            return None
        brought = await self._by_client(FetchOrder(url, tuple(headers.items()), max_bytes))
        # A client's failure is not the site's, and who answered there is only its word.
        if brought is None or brought.answer.failure:
            return None
        page = _fetched(url, brought.answer, max_bytes, address="")
        if page is not None and self._checks is not None:
            self._checks.consider(brought.client, page)
        return page

    async def _order(self, url: str, headers: Mapping[str, str], max_bytes: int, missing: FamilyMissing) -> Fetched:
        order = FetchOrder(url, tuple(headers.items()), max_bytes)
        for peer in self._carriers(url, missing.family):
            if got := await self._ordered(peer, order):
                return got
        raise FetchFailed(url, f"its host has IPv{missing.family} alone, and no peer with that family answered")

    async def _ordered(self, peer: NodeId, order: FetchOrder) -> Fetched | None:
        """What one peer brought; None where it refused or was silent. Raises FetchFailed where the site failed."""
        try:
            answer = await self._overlay.ask(peer, order, FetchAnswer, timeout_s=ORDER_WITHIN_S)
        except RemoteError:
            return None
        if answer.failure:
            raise FetchFailed(order.url, answer.failure)
        return _fetched(order.url, answer, order.max_bytes, answer.address)

    def _carriers(self, url: str, family: int) -> list[NodeId]:
        """Live peers that speak the family: the slot's owners first, then others in any order."""
        view = self._overlay.view
        owners = view.owners(slot_of(self._place(url), view.strategy.slot_bits))
        able = [peer for peer in view.members() if peer != view.node_id and view.is_live(peer)]
        able = [peer for peer in able if (contact := view.contact(peer)) and family in contact.families]
        self._rng.shuffle(able)
        able.sort(key=lambda peer: peer not in owners)
        return able[:MAX_CARRIERS]

    async def carry(self, peer: NodeId, order: FetchOrder) -> FetchAnswer:
        """Carry out an order of a peer; raises BadMessage where it must not be."""
        if reason := self._objection(peer, order):
            raise BadMessage(peer.hex(), reason)
        async with self._places:
            try:
                max_bytes = min(order.max_bytes, self._max_bytes)
                got = (await self._fetcher.fetch(order.url, dict(order.headers), max_bytes)).opened(max_bytes)
            except FetchFailed as error:
                return FetchAnswer(failure=error.reason[:300])
            except (FamilyMissing, AddressRefused) as error:
                return FetchAnswer(failure=str(error)[:300])
        return FetchAnswer(got.status, got.headers, got.body, got.cut, got.latency_s, got.address)

    def _objection(self, peer: NodeId, order: FetchOrder) -> str:
        """Why an order is not carried out, "" where it is; robots.txt is read whatever the rules say of pages."""
        if not is_canonical(order.url):
            return "orders a fetch of what is no canonical URL"
        view = self._overlay.view
        if peer not in view.live_owners(slot_of(self._place(order.url), view.strategy.slot_bits)):
            return "orders a fetch in a slot that is not its own"
        if self.resting:
            return f"orders a fetch of a node that rests: {self.resting}"
        if any(name.lower() not in VALIDATORS for name, _ in order.headers):
            return f"orders a fetch with headers other than {', '.join(VALIDATORS)}"
        if refused := self._refusals.reason(order.url):
            return f"orders a fetch that this node's operator refuses: {refused}"
        decision = self._decide(order.url)
        if not decision.allowed and split_url(order.url).path != "/robots.txt":
            return f"orders a fetch that is not allowed: {decision.reason}"
        return ""


def _fetched(url: str, answer: FetchAnswer, max_bytes: int, address: str) -> Fetched | None:
    """What a site would have given, None where it is nothing that a site gives."""
    if answer.status < 100:
        return None
    return Fetched(url, answer.status, answer.headers, answer.body[:max_bytes], answer.cut, answer.latency_s, address)


def _declined(way: FetchRoute) -> str:
    return f"refused here by {way.refused}: no other live owner of its slot fetches it just now"
