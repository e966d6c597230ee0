"""Works for the network as a client: asks a few nodes that crawl for orders, fetches, and brings what came.

Every connection is its own, so it works behind any NAT or firewall that lets a browser work. A node that is a member
has slots of its own and polls nobody.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import Random

from dht import Done, NodeId, Overlay, RemoteError
from node.delegation.client_dispatch import MAX_ROOM, POLL_S, OrderBatch, OrderDone, PollOrders
from node.delegation.fetch_order import FetchAnswer, FetchOrder

log = logging.getLogger(__name__)

AT_ONCE = 3  # nodes polled
POLL_WITHIN_S = POLL_S + 15.0
BRING_WITHIN_S = 60.0  # a page of 8 MiB over a slow line
ADMITTED_S = 60.0  # who takes part has become a member by then, or works as a client
IDLE_S = 5.0  # before looking again, where there is nobody to ask or somebody failed

Carry = Callable[[NodeId, FetchOrder], Awaitable[FetchAnswer]]


class ClientWorker:
    """Polls for orders, and carries them out, while this node is a client."""

    def __init__(self, overlay: Overlay, carry: Carry, rng: Random, pause_reason: Callable[[], str] = str) -> None:
        """`carry` fetches, or raises BadMessage for an order that it does not carry out. `pause_reason`: why this node
        fetches nothing just now, "" where it does."""
        self._overlay, self._carry, self._rng, self._pause_reason = overlay, carry, rng, pause_reason
        self._asked: set[NodeId] = set()
        self._rest_until: dict[NodeId, float] = {}
        self._member_at = 0.0  # when this node was, or expected to be, a member last
        self.carried = 0

    @property
    def is_client(self) -> bool:
        """Tell whether this node takes no part but by asking; who waits to be admitted is none for a minute."""
        view, now = self._overlay.view, asyncio.get_running_loop().time()
        if view.node_id in view.members():
            self._member_at = now
        return not self._overlay.takes_part or now - self._member_at >= ADMITTED_S

    @property
    def polled(self) -> int:
        """Return at how many nodes a poll of this one is open."""
        return len(self._asked)

    async def run(self) -> None:
        """Poll until cancelled, while this node is a client."""
        self._member_at = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as tasks:
            for number in range(AT_ONCE):
                tasks.create_task(self._follow(), name=f"polls-{number}")

    async def _follow(self) -> None:
        peer: NodeId | None = None
        while True:
            if not self.is_client or self._pause_reason():
                peer = None
            elif peer is None or not self._overlay.view.is_live(peer):
                peer = self._choose()
            if peer is None:
                await asyncio.sleep(IDLE_S)
                continue
            self._asked.add(peer)
            try:
                has_more = await self._serve(peer)
            except RemoteError as error:
                log.debug("poll failed peer=%s reason=%s", peer.hex(), error)
                self._rest(peer, IDLE_S)
                has_more = False
            finally:
                self._asked.discard(peer)
            peer = peer if has_more else None

    async def _serve(self, peer: NodeId) -> bool:
        """Poll once, and carry out the orders that this brings; return whether there were any."""
        batch = await self._overlay.ask(peer, PollOrders(MAX_ROOM), OrderBatch, timeout_s=POLL_WITHIN_S)
        if batch.rest_s:
            self._rest(peer, batch.rest_s)
        async with asyncio.TaskGroup() as tasks:
            for given in batch.orders:
                tasks.create_task(self._carry_out(peer, given.number, given.order), name="order")
        return bool(batch.orders)

    async def _carry_out(self, peer: NodeId, number: int, order: FetchOrder) -> None:
        try:
            answer = await self._carry(peer, order)
        except RemoteError as error:  # not an order that this node carries out; its giver should not wait for it
            log.info("order refused from=%s reason=%s", peer.hex(), error)
            answer = FetchAnswer(failure=str(error)[:300])
        try:
            await self._overlay.ask(peer, OrderDone(number, answer), Done, timeout_s=BRING_WITHIN_S)
            self.carried += not answer.failure
        except RemoteError as error:
            log.debug("order not brought peer=%s reason=%s", peer.hex(), error)

    def _choose(self) -> NodeId | None:
        """Return any live member: one with work is found soon enough. None where all rest or are asked already."""
        view, now = self._overlay.view, asyncio.get_running_loop().time()
        live = [peer for peer in view.members() if view.is_live(peer) and peer not in self._asked]
        free = [peer for peer in live if self._rest_until.get(peer, 0.0) <= now]
        self._rest_until = {peer: until for peer, until in self._rest_until.items() if until > now}
        return self._rng.choice(free) if free else None

    def _rest(self, peer: NodeId, seconds: float) -> None:
        self._rest_until[peer] = asyncio.get_running_loop().time() + seconds
