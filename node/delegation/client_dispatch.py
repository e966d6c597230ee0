"""Fetch orders for clients: nodes that nobody can connect to, and that ask for work over connections of their own.

A client keeps a long poll open here; it ends as soon as there is an order, the client fetches, and brings the answer
in a message of its own. What is not brought in time counts as not fetched, and the client that took it rests.
Everything is bounded: polls, orders, time.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from dht import BadMessage, Clock, Message, NodeId, Overlay
from node.delegation.fetch_order import ORDER_WITHIN_S, ClientAnswer, FetchAnswer, FetchOrder

log = logging.getLogger(__name__)

MAX_POLLS = 64  # kept open at once, one a client
MAX_ROOM = 8  # orders that one client takes at once
POLL_S = 25.0  # a poll without an order ends after this; well below what servers and NATs keep an idle connection for
REST_S = 600.0  # for a client that took an order and did not bring it, and for one that finds no place here
MAX_RESTING = 1024  # clients; as many that lied are remembered, until this node starts again
MAX_REASON_CHARS = 400


class PollOrders(Message, frozen=True, array_like=True):
    """I can fetch so many pages for you; answered when there is an order, or after some 25 s."""

    room: Annotated[int, Meta(ge=1, le=MAX_ROOM)]


class Order(Message, frozen=True, array_like=True):
    """One of them, by the number under which to bring it."""

    number: Annotated[int, Meta(ge=0, lt=1 << 62)]
    order: FetchOrder


class OrderBatch(Message, frozen=True, array_like=True):
    """What to fetch now; with `rest_s` > 0, do not ask again before."""

    orders: Annotated[tuple[Order, ...], Meta(max_length=MAX_ROOM)] = ()
    rest_s: Annotated[float, Meta(ge=0.0, le=3600.0)] = 0.0


class OrderDone(Message, frozen=True, array_like=True):
    """What came of an order."""

    number: Annotated[int, Meta(ge=0, lt=1 << 62)]
    answer: FetchAnswer


class OrderTaken(Message, frozen=True, array_like=True):
    """The answer to `OrderDone`."""


@dataclass(eq=False, slots=True)
class _Poll:
    """An open poll; it ends when `stirred` is set."""

    room: int
    orders: list[Order] = field(default_factory=list)
    stirred: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class _Out:
    """An order in the hands of a client."""

    client: NodeId
    answer: "asyncio.Future[FetchAnswer]"


class ClientDispatch:
    """The clients that wait at one node. `on_room` hears how many requests they carry or would carry now."""

    def __init__(self, overlay: Overlay, clock: Clock, on_room: Callable[[int], None]) -> None:
        self._clock, self._on_room = clock, on_room
        self._polls: OrderedDict[NodeId, _Poll] = OrderedDict()  # the one that waits for longest first
        self._out: dict[int, _Out] = {}
        self._resting: OrderedDict[NodeId, float] = OrderedDict()  # until steady seconds
        self._liars: OrderedDict[NodeId, str] = OrderedDict()  # and how they lied
        self._number = 0
        self.carried = 0
        overlay.serve(PollOrders, self._wait)
        overlay.serve(OrderDone, self._take)

    @property
    def waiting(self) -> int:
        """Clients with an open poll."""
        return len(self._polls)

    @property
    def room(self) -> int:
        """Orders that would be taken now."""
        return sum(poll.room - len(poll.orders) for poll in self._polls.values())

    @property
    def open(self) -> int:
        """Orders in the hands of clients."""
        return len(self._out)

    def distrust(self, client: NodeId, reason: str) -> None:
        """It lied: it gets no more orders here."""
        log.warning("client gets no more orders id=%s reason=%s", client.hex(), reason)
        self._liars[client] = reason[:MAX_REASON_CHARS]
        if len(self._liars) > MAX_RESTING:
            self._liars.popitem(last=False)
        if poll := self._polls.pop(client, None):
            poll.stirred.set()
            self._tell()

    @property
    def distrusted(self) -> dict[str, str]:
        """Why clients get no more orders, by their ids in hex."""
        return {client.hex(): reason for client, reason in self._liars.items()}

    async def carry(self, order: FetchOrder) -> ClientAnswer | None:
        """Have a client carry out an order; None where none waits, or the one that took it brought nothing."""
        found = next(((peer, poll) for peer, poll in self._polls.items() if len(poll.orders) < poll.room), None)
        if found is None:
            return None
        client, poll = found
        number = self._number = self._number + 1
        answer: asyncio.Future[FetchAnswer] = asyncio.get_running_loop().create_future()
        self._out[number] = _Out(client, answer)
        poll.orders.append(Order(number, order))
        poll.stirred.set()
        try:
            async with asyncio.timeout(ORDER_WITHIN_S):
                brought = await answer
        except TimeoutError:
            self._let_rest(client)
            return None
        finally:
            del self._out[number]
            self._tell()
        if client in self._liars:  # found out meanwhile
            return None
        self.carried += 1
        return ClientAnswer(client, brought)

    async def _wait(self, client: NodeId, poll: PollOrders) -> OrderBatch:
        """Hold a poll until there is an order for it."""
        if client in self._liars or self._resting.get(client, 0.0) > self._clock().steady:
            return OrderBatch(rest_s=REST_S)
        if before := self._polls.pop(client, None):
            before.stirred.set()  # the client asked anew: it does not listen there any more
        if len(self._polls) >= MAX_POLLS:
            return OrderBatch(rest_s=REST_S)
        self._polls[client] = waiting = _Poll(poll.room)
        self._tell()
        try:
            async with asyncio.timeout(POLL_S):
                await waiting.stirred.wait()
        except TimeoutError:
            pass  # nothing to fetch: the client learns that this node is there, and asks again
        finally:
            if self._polls.get(client) is waiting:
                del self._polls[client]
            self._tell()
        return OrderBatch(tuple(waiting.orders))

    async def _take(self, client: NodeId, done: OrderDone) -> OrderTaken:
        out = self._out.get(done.number)
        if out is None or out.client != client or out.answer.done():
            raise BadMessage(client.hex(), "brings what it was not ordered to, or too late")
        out.answer.set_result(done.answer)
        return OrderTaken()

    def _let_rest(self, client: NodeId) -> None:
        self._resting.pop(client, None)
        self._resting[client] = self._clock().steady + REST_S
        if len(self._resting) > MAX_RESTING:
            self._resting.popitem(last=False)

    def _tell(self) -> None:
        self._on_room(self.room + len(self._out))
