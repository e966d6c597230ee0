"""Requests that wait for their answers, with repetition and timeouts.

Pure: `now` is an argument; outcomes are told by callback, never from inside `add`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dht.clock import Now
from dht.contact import Address
from dht.keys import NodeId
from dht.packets import Body, Packet

OPEN_LIMIT = 1024  # a node at work has a few dozen


@dataclass(slots=True)
class Request:
    """One question. `peer` and `public_key` are None at a first contact by address.

    `done(now, packet, body)` is called once, with None twice if there was no answer; `slow(now)` after half the
    timeout.
    """

    body: Body
    address: Address
    peer: NodeId | None
    public_key: bytes | None
    timeout_s: float
    done: Callable[[Now, Packet | None, Body | None], None]
    slow: Callable[[Now], None] | None = None
    tries: int = 1
    is_strange: bool = False  # nobody there has answered us yet
    sent_at: float = 0.0
    transactions: list[bytes] = field(default_factory=list)


class Requests:
    """The open ones, by transaction; repetitions share a request, so a late first answer still counts."""

    def __init__(self) -> None:
        self._open: dict[bytes, Request] = {}
        self._due: list[tuple[float, int, bytes, bool]] = []  # steady time, order, transaction, is it the timeout
        self._order = 0

    def add(self, transaction: bytes, request: Request, now: Now) -> bool:
        """Wait for the answer; False where too many are open, and the request then times out at once."""
        fits = len(self._open) < OPEN_LIMIT
        if not fits:
            request.tries, request.timeout_s = 1, 0.0
        request.sent_at = now.steady
        request.transactions.append(transaction)
        self._open[transaction] = request
        if request.slow and len(request.transactions) == 1:
            self._push(now.steady + request.timeout_s / 2, transaction, False)
        self._push(now.steady + request.timeout_s, transaction, True)
        return fits

    def close(self, transaction: bytes) -> Request | None:
        """The request that this transaction belongs to, now answered; None where nobody asked."""
        request = self._open.get(transaction)
        if request:
            for known in request.transactions:
                self._open.pop(known, None)
        return request

    def find(self, transaction: bytes) -> Request | None:
        return self._open.get(transaction)

    def due(self, now: Now) -> list[tuple[Request, bool]]:
        """Requests whose half (False) or whole (True) timeout has passed; the latter with tries left stay open."""
        found: list[tuple[Request, bool]] = []
        while self._due and self._due[0][0] <= now.steady:
            _, _, transaction, is_timeout = heappop(self._due)
            request = self._open.get(transaction)
            if request is None:
                continue
            if is_timeout:
                request.tries -= 1
                if request.tries <= 0:
                    self.close(transaction)
            found.append((request, is_timeout))
        return found

    @property
    def next_due(self) -> float:
        while self._due and self._due[0][2] not in self._open:
            heappop(self._due)
        return self._due[0][0] if self._due else float("inf")

    def _push(self, at: float, transaction: bytes, is_timeout: bool) -> None:
        self._order += 1
        heappush(self._due, (at, self._order, transaction, is_timeout))
