"""Carries out fetch orders: one GET for a peer, whether this node was asked as an owner or asked for work as a client.

Only owners of the slot may order, only what the strategy lets be crawled, and within this node's own bounds.
"""

import asyncio
from collections.abc import Callable
from itertools import chain

from crawl import AddressRefused, FamilyMissing, Fetcher, FetchFailed, is_canonical
from dht import MAX_SPREAD, BadMessage, Key, NodeId, Overlay, placement_key, slot_of, split_url
from node.crawling.fetch_rules import FetchRules
from node.delegation.fetch_order import MAX_HEADERS, VALIDATORS, FetchAnswer, FetchOrder

MAX_ORDERS = 16  # carried out at once, for all peers together
TURN_WITHIN_S = 3.0  # for one of these; a later request could meet the one that the holder makes in its place


class OrderServer:
    """Makes requests that peers order, with `fetcher`."""

    def __init__(
        self,
        fetcher: Fetcher,
        overlay: Overlay,
        rules: FetchRules,
        max_bytes: int,
        *,
        pause_reason: Callable[[], str] = str,
        place: Callable[[str], Key] = placement_key,
    ) -> None:
        """`max_bytes`: the most that is read of any page. `pause_reason`: why this node fetches nothing just now, ""
        where it does. `place`: where the records of a canonical URL live."""
        self._fetcher, self._overlay, self._rules, self._max_bytes = fetcher, overlay, rules, max_bytes
        self._pause_reason, self._place = pause_reason, place
        self._open = asyncio.Semaphore(MAX_ORDERS)
        overlay.serve(FetchOrder, self.carry)

    async def carry(self, peer: NodeId, order: FetchOrder) -> FetchAnswer:
        """Make the request that a peer ordered; raises BadMessage where the order is not one to carry out."""
        if reason := self._objection(peer, order):
            raise BadMessage(peer.hex(), reason)
        await self._take_turn(peer)
        try:
            return await self._fetch(peer, order)
        finally:
            self._open.release()

    async def _take_turn(self, peer: NodeId) -> None:
        """Wait until one order fewer is carried out; raises BadMessage where that takes long."""
        try:
            async with asyncio.timeout(TURN_WITHIN_S):
                await self._open.acquire()
        except TimeoutError:
            raise BadMessage(peer.hex(), f"orders a fetch of a node that has {MAX_ORDERS} in hand") from None

    async def _fetch(self, peer: NodeId, order: FetchOrder) -> FetchAnswer:
        max_bytes = min(order.max_bytes, self._max_bytes)
        try:
            got = (await self._fetcher.fetch(order.url, dict(order.headers), max_bytes)).opened(max_bytes)
        except FetchFailed as error:
            return FetchAnswer(failure=error.reason[:300])
        except FamilyMissing as error:
            raise BadMessage(peer.hex(), "orders a fetch from a host that this node does not reach") from error
        except AddressRefused as error:
            raise BadMessage(peer.hex(), f"orders a fetch that this node must not make: {error}"[:300]) from error
        return FetchAnswer(got.status, got.headers[:MAX_HEADERS], got.body, got.cut, got.latency_s, got.address)

    def _owns(self, peer: NodeId, url: str) -> bool:
        """Tell whether a peer is a live owner of a URL's slot, however deep its site may be spread. A node that owns
        nothing of a site need not know that."""
        view = self._overlay.view
        keys = chain([self._place(url)], (placement_key(url, depth) for depth in range(MAX_SPREAD + 1)))
        return any(peer in view.live_owners(slot_of(key, view.strategy.slot_bits)) for key in keys)

    def _objection(self, peer: NodeId, order: FetchOrder) -> str:
        """Say why an order is not carried out, "" where it is. Any member may order a robots.txt, whatever the rules
        say of pages: that of a site in its own slot may redirect to it."""
        if not is_canonical(order.url):
            return "orders a fetch of a URL that is not canonical"
        view, is_robots = self._overlay.view, split_url(order.url).path == "/robots.txt"
        if not (self._owns(peer, order.url) or (is_robots and peer in view.members())):
            return "orders a fetch in a slot that is not its own"
        if reason := self._pause_reason():
            return f"orders a fetch of a node that rests: {reason}"
        if any(name.lower() not in VALIDATORS for name, _ in order.headers):
            return f"orders a fetch with headers other than {', '.join(VALIDATORS)}"
        if refused := self._rules.refusals.reason_now(order.url):
            return f"orders a fetch that this node's operator refuses: {refused}"
        decision = self._rules.decide(order.url)
        if not decision.allowed and not is_robots:
            return f"orders a fetch that is not allowed: {decision.reason}"
        return ""
