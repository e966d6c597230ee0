"""Gives fetch orders to clients: nodes that nobody can connect to, and that ask for work over connections of their own.

A client keeps a long poll open here. The poll ends as soon as there is an order. The client fetches, and brings the
answer in a message of its own. A page that is not brought in time counts as not fetched, and the client that took the
order rests. Everything is bounded: polls, orders, time.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import msgspec
from msgspec import Meta

from dht import BadMessage, Clock, Done, Message, NodeId, Overlay, PeerAudit, Topic
from node.delegation.fetch_order import ORDER_WITHIN_S, ClientAnswer, FetchAnswer, FetchOrder

MAX_POLLS = 64  # kept open at once, one a client
MAX_ROOM = 8  # orders that one client takes at once
POLL_S = 25.0  # a poll without an order ends after this; well below what servers and NATs keep an idle connection for
NO_LEASE_S = 10.0  # for which a client asks others: who holds no lease has nothing to be fetched
REST_S = 600.0  # for a client that took an order and did not bring it, and for one that finds no place here
MAX_RESTING = 1024  # clients
MAX_REASON_CHARS = 400


class PollOrders(Message, frozen=True, array_like=True):
    """Offers to fetch so many pages; answered when there is an order, or after some 25 s."""

    room: Annotated[int, Meta(ge=1, le=MAX_ROOM)]


class Order(msgspec.Struct, frozen=True, array_like=True):
    """Carries one order, and the number under which to bring its answer."""

    number: Annotated[int, Meta(ge=0, lt=1 << 62)]
    order: FetchOrder


class OrderBatch(Message, frozen=True, array_like=True):
    """Says what to fetch now; with `rest_s` > 0, do not ask again before so many seconds."""

    orders: Annotated[tuple[Order, ...], Meta(max_length=MAX_ROOM)] = ()
    rest_s: Annotated[float, Meta(ge=0.0, le=3600.0)] = 0.0


class OrderDone(Message, frozen=True, array_like=True):
    """Brings what came of an order."""

    number: Annotated[int, Meta(ge=0, lt=1 << 62)]
    answer: FetchAnswer


@dataclass(eq=False, slots=True)
class _Poll:
    """An open poll; it ends when `stirred` is set."""

    room: int
    orders: list[Order] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class _OpenOrder:
    """An order in the hands of a client."""

    client: NodeId
    answer: "asyncio.Future[FetchAnswer]"


class ClientDispatch:
    """Keeps the clients that wait at this node, and their orders. `on_room` hears how many requests they carry, or
    would."""

    def __init__(self, overlay: Overlay, clock: Clock, on_room: Callable[[int], None], audit: PeerAudit) -> None:
        self._overlay, self._clock, self._on_room, self._audit = overlay, clock, on_room, audit
        self._polls: OrderedDict[NodeId, _Poll] = OrderedDict()  # the one that waits for longest first
        self._out: dict[int, _OpenOrder] = {}
        self._resting: OrderedDict[NodeId, float] = OrderedDict()  # until steady seconds
        self._number = 0
        self.carried = 0
        overlay.serve(PollOrders, self._wait)
        overlay.serve(OrderDone, self._take)

    @property
    def waiting(self) -> int:
        """Return how many clients have an open poll."""
        return len(self._polls)

    @property
    def room(self) -> int:
        """Return how many orders would be taken now."""
        return sum(poll.room - len(poll.orders) for poll in self._polls.values())

    @property
    def open(self) -> int:
        """Return how many orders are in the hands of clients."""
        return len(self._out)

    def refute(self, client: NodeId, reason: str) -> None:
        """Give a client no orders during its penalty: a page that it brought differs from the site's."""
        self._audit.refute(client, Topic.CLIENT_PAGES, reason[:MAX_REASON_CHARS])
        if poll := self._polls.pop(client, None):
            poll.ended.set()
            self._tell_room()

    async def carry(self, order: FetchOrder) -> ClientAnswer | None:
        """Have a client carry out an order; None where none waits, or the one that took it brought nothing."""
        found = next(((peer, poll) for peer, poll in self._polls.items() if len(poll.orders) < poll.room), None)
        if found is None:
            return None
        client, poll = found
        number = self._number = self._number + 1
        answer: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
        self._out[number] = _OpenOrder(client, answer)
        poll.orders.append(Order(number, order))
        poll.ended.set()
        try:
            async with asyncio.timeout(ORDER_WITHIN_S):
                brought = await answer
        except TimeoutError:
            self._rest(client)
            return None
        finally:
            del self._out[number]
            self._tell_room()
        if self._audit.is_avoided(client):  # refuted meanwhile
            return None
        self.carried += 1
        return ClientAnswer(client, brought)

    async def _wait(self, client: NodeId, poll: PollOrders) -> OrderBatch:
        """Hold a poll until there is an order for it."""
        if self._audit.is_avoided(client) or self._resting.get(client, 0.0) > self._clock().steady:
            return OrderBatch(rest_s=REST_S)
        if before := self._polls.pop(client, None):
            before.ended.set()  # the client asked anew: it does not listen there any more
        if not self._overlay.view.leases():
            return OrderBatch(rest_s=NO_LEASE_S)
        if len(self._polls) >= MAX_POLLS:
            return OrderBatch(rest_s=REST_S)
        self._polls[client] = waiting = _Poll(poll.room)
        self._tell_room()
        try:
            async with asyncio.timeout(POLL_S):
                await waiting.ended.wait()
        except TimeoutError:
            pass  # nothing to fetch: the client learns that this node is there, and asks again
        finally:
            if self._polls.get(client) is waiting:
                del self._polls[client]
            self._tell_room()
        return OrderBatch(tuple(waiting.orders))

    async def _take(self, client: NodeId, done: OrderDone) -> Done:
        out = self._out.get(done.number)
        if out is None or out.client != client or out.answer.done():
            raise BadMessage(client.hex(), "brings what it was not ordered to, or too late")
        out.answer.set_result(done.answer)
        return Done()

    def _rest(self, client: NodeId) -> None:
        self._resting.pop(client, None)
        self._resting[client] = self._clock().steady + REST_S
        if len(self._resting) > MAX_RESTING:
            self._resting.popitem(last=False)

    def _tell_room(self) -> None:
        self._on_room(self.room + len(self._out))
