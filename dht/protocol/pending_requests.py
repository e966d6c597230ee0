"""Pending requests wait for their answers; this file repeats them and gives them up in time.

Pure: `now` is an argument; outcomes are told by callback, never from inside `add`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dht.clock import Now
from dht.wire.contact import Address, Contact
from dht.wire.packets import Body, Packet

WAITS = (0.75, 0.75, 1.0)  # of the timeout, until each repetition and the end: the last can be answered, too
LEFT = tuple(sum(WAITS[n:]) for n in range(len(WAITS)))  # from each of these packets to the end
SLOW = 0.5  # of the timeout: three answers in four have come by then
OPEN_LIMIT = 1024  # a node at work has a few dozen
LATE_S = 0.5  # a timeout noticed so late says that we were busy or asleep; the answer may wait in the socket
LATE_LIMIT = 256  # packets
NEVER = float("inf")


OnAnswer = Callable[[Now, Packet | None, Body | None], None]


@dataclass(slots=True)
class PendingRequest:
    """Holds one question to a peer. `contact` and `public_key` are None at a first contact by address.

    `done(now, packet, body)` is called once, with None twice if there was no answer; `slow(now)` after half the
    timeout. `timeout_s`: what nearly all answers take; the question is repeated at WAITS of it, `tries` times in all.
    One that is asked once waits for as long: its end is in no hurry. One that is asked more often is repeated evenly
    within that time. `sent`: when each of its packets left.
    """

    body: Body
    address: Address
    contact: Contact | None
    public_key: bytes | None
    timeout_s: float
    done: OnAnswer
    slow: Callable[[Now], None] | None = None
    tries: int = 1
    is_strange: bool = False  # nobody there has answered us yet
    sent: dict[bytes, float] = field(default_factory=dict)
    excused: bool = False

    @property
    def wait_s(self) -> float:
        """Seconds from the newest packet of the request to the next one, or to the end."""
        packets = len(self.sent) - 1
        wanted = packets + self.tries
        if wanted > len(WAITS):
            return self.timeout_s * LEFT[0] / wanted
        return self.timeout_s * (WAITS if self.tries > 1 else LEFT)[packets]

    def proven(self, known: Contact | None) -> Contact | None:
        """Return where its answerer is proven to be: as `known`, or at the one endpoint that was asked."""
        for contact in (known, self.contact):
            asked = tuple(e for e in contact.endpoints if e.udp == self.address) if contact else ()
            if contact and asked:
                return contact if contact is known else Contact(contact.node_id, asked, contact.introducers)
        return known


def _nothing(now: Now, packet: Packet | None, body: Body | None) -> None:
    """Ignore an answer that nobody waits for any more."""


class PendingRequests:
    """Holds the open requests by transaction; repetitions share one, so a late first answer still counts.

    The last that were given up, or repeated before their answer came, are remembered too: another answer after all
    shows that the peer is there, and how long to wait for it from now on.
    """

    def __init__(self) -> None:
        self._open: dict[bytes, PendingRequest] = {}
        self._late: dict[bytes, PendingRequest] = {}
        self._due: list[tuple[float, int, bytes, bool]] = []  # steady time, order, transaction, is it the timeout
        self._order = 0

    def add(self, transaction: bytes, request: PendingRequest, now: Now) -> bool:
        """Wait for the answer; False where too many are open, and the request then times out at once."""
        fits = len(self._open) < OPEN_LIMIT
        if not fits:
            request.tries, request.timeout_s = 1, 0.0
        request.sent[transaction] = now.steady
        self._open[transaction] = request
        if request.slow and len(request.sent) == 1:
            self._push(now.steady + request.timeout_s * SLOW, transaction, False)
        self._push(now.steady + request.wait_s, transaction, True)
        return fits

    def find(self, transaction: bytes) -> PendingRequest | None:
        """Return the request to which a packet belongs, open or ended lately."""
        return self._open.get(transaction) or self._late.get(transaction)

    def answered(self, transaction: bytes) -> OnAnswer:
        """Close the request of a packet that was answered; return whom to tell, nobody where it has ended before."""
        request = self.find(transaction)
        done = self.end(request) if request is not None else _nothing
        self._late.pop(transaction, None)
        return done

    def end(self, request: PendingRequest) -> OnAnswer:
        """Close a request that is answered or given up; return whom to tell, which is done once."""
        for transaction in request.sent:
            if self._open.pop(transaction, None) is not None:
                self._late[transaction] = request
        while len(self._late) > LATE_LIMIT:
            del self._late[next(iter(self._late))]
        done, request.done = request.done, _nothing
        return done

    def due(self, now: Now) -> list[tuple[PendingRequest, bool]]:
        """Return the requests that are slow (False) or have waited long enough (True), open still if tries are left."""
        found: list[tuple[PendingRequest, bool]] = []
        while self._due and self._due[0][0] <= now.steady:
            at, _, transaction, is_timeout = heappop(self._due)
            request = self._open.get(transaction)
            if request is None:
                continue
            if is_timeout and now.steady - at > LATE_S and not request.excused:
                request.excused = True
                self._push(now.steady + LATE_S, transaction, is_timeout)
                continue
            if is_timeout:
                request.tries -= 1
            found.append((request, is_timeout))
        return found

    @property
    def next_due(self) -> float:
        due, still_open = self._due, self._open
        while due and due[0][2] not in still_open:
            heappop(due)
        return due[0][0] if due else NEVER

    def _push(self, at: float, transaction: bytes, is_timeout: bool) -> None:
        self._order += 1
        heappush(self._due, (at, self._order, transaction, is_timeout))
