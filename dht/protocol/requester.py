"""The requester makes the packets that leave: questions to peers, with repetition, and answers to theirs.

Pure: `now` and `rng` are arguments. Holds what is to be sent until `drain`, and the questions that are open.

Pending requests wait for their answers; this file repeats them and gives them up in time.

Pure: `now` is an argument; outcomes are told by callback, never from inside `add`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from dht.clock import Now
from dht.errors import BadSignature
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.membership.partner_selection import PartnerSelection
from dht.protocol.network_rules import NetworkRules
from dht.rate_limit import RateLimiter, remember
from dht.routing.routing_table import TIMEOUT_FIRST_S, RoutingTable
from dht.wire.contact import Address, Contact
from dht.wire.packets import PACKET_LIMIT, Body, Packet, Put, encode_packet

WAITS = (0.75, 0.75, 1.0)  # of the timeout, until each repetition and the end: the last can be answered, too
LEFT = tuple(sum(WAITS[n:]) for n in range(len(WAITS)))  # from each of these packets to the end
SLOW = 0.5  # of the timeout: three answers in four have come by then
REQUESTS_LIMIT = 1024  # a node at work has a few dozen
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

    It also remembers the last requests that it gave up, or repeated before their answer came. A late answer shows that
    the peer is there, and how long to wait for it from now on.
    """

    def __init__(self) -> None:
        self._open: dict[bytes, PendingRequest] = {}
        self._late: dict[bytes, PendingRequest] = {}
        self._due: list[tuple[float, int, bytes, bool]] = []  # steady time, order, transaction, is it the timeout
        self._order = 0

    def add(self, transaction: bytes, request: PendingRequest, now: Now) -> bool:
        """Wait for the answer; False where too many are open, and the request then times out at once."""
        fits = len(self._open) < REQUESTS_LIMIT
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


Datagram = tuple[bytes, Address]
STRANGE_BURST, STRANGE_S = 3.0, 60.0  # packets at once, then seconds between two, to a host that never answered
PROVED_LIMIT = 8192  # hosts that did; as many as members are remembered, in both families
NOW = float("-inf")
TRIES = len(WAITS)  # at 2 % loss, one question in 16,000 gets no answer


class Requester:
    """Sends the questions and answers of one node; `refused` counts what did not leave."""

    def __init__(
        self,
        identity: Identity,
        rules: NetworkRules,
        routing: RoutingTable,
        partners: PartnerSelection,
        refused: Counter[str],
        rng: Random,
    ) -> None:
        self._identity = identity
        self._rules = rules
        self._routing = routing
        self._partners = partners
        self.refused = refused
        self._rng = rng
        self._out: list[Datagram] = []
        self._strange = RateLimiter(1 / STRANGE_S, STRANGE_BURST)
        self._proved: dict[str, None] = {}
        self._to_introduce: dict[NodeId, Contact] = {}
        self.requests = PendingRequests()
        self.sent: Counter[str] = Counter()

    def ask(
        self,
        now: Now,
        body: Body,
        public_key: bytes,
        contact: Contact,
        done: OnAnswer,
        slow: Callable[[Now], None] | None = None,
        *,
        tries: int = TRIES,
        least_s: float = 0.0,
    ) -> None:
        """Ask a peer; nothing happens, and `done` is never called, where we share no family with it. `slow` is called
        after half of the usual time, `least_s` is the least timeout."""
        endpoint = self._partners.endpoint(contact)
        timeout_s = max(least_s, self._routing.timeout_s(contact.node_id))
        if endpoint:
            request = PendingRequest(body, endpoint.udp, contact, public_key, timeout_s, done, slow, tries)
            request.is_strange = self._is_strange(endpoint.host)
            self._open(now, request)

    def ask_address(self, now: Now, body: Body, address: Address, done: OnAnswer, *, tries: int = 1) -> None:
        """Ask whoever is at an address, without MAC, since that one's key is not known."""
        self._open(now, PendingRequest(body, address, None, None, TIMEOUT_FIRST_S, done, tries=tries))

    def ask_unlisted(self, now: Now, body: Body, public_key: bytes, address: Address) -> None:
        """Ask a node at an address that only another node or its own packet named: an answer makes it no contact."""
        request = PendingRequest(body, address, None, public_key, TIMEOUT_FIRST_S, lambda *_: None)
        request.is_strange = self._is_strange(address.host)
        self._open(now, request)

    def is_welcome(self, contact: Contact) -> bool:
        """Tell whether somebody at a contact's address has answered us, or it is declared to be of our network."""
        endpoint = self._partners.endpoint(contact)
        return endpoint is not None and not self._is_strange(endpoint.host)

    def proved(self, host: str) -> None:
        """Note that somebody answered what was sent to this host: we are welcome there."""
        remember(self._proved, host, None, PROVED_LIMIT)

    def answer(self, transaction: bytes, body: Body, key: bytes, to: Address, *, limit: int) -> bool:
        """Answer a question under the key shared with its asker; False, and nothing sent, beyond `limit` bytes."""
        data = encode_packet(self._rules.header, transaction, body, key)
        if len(data) > limit:
            return False
        self.sent[type(body).__name__] += 1
        self._out.append((data, to))
        return True

    def send(self, transaction: bytes, body: Body, key: bytes | None, to: Address, size: int) -> None:
        """Send one packet, padded to `size`."""
        self.sent[type(body).__name__] += 1
        self._out.append((encode_packet(self._rules.header, transaction, body, key, size=size), to))

    def overdue(self, now: Now) -> None:
        """Repeat or give up what has waited for too long."""
        for request, is_timeout in self.requests.due(now):
            if not is_timeout:
                if request.slow:
                    request.slow(now)
            elif request.tries > 0:
                self._open(now, request)
            else:
                if request.contact and request.timeout_s:  # else nothing was sent: no fault of the peer
                    self._routing.failed(request.contact.node_id)
                    self._partners.failed(request.contact.node_id, now)
                self.requests.end(request)(now, None, None)

    def drain(self) -> list[Datagram]:
        """Return what is to be sent now, and forget it."""
        out, self._out = self._out, []
        return out

    def take_nat_peers(self) -> list[Contact]:
        """Return the peers behind NATs that were asked since the last call, each once."""
        if not self._to_introduce:
            return []
        found, self._to_introduce = list(self._to_introduce.values()), {}
        return found

    @property
    def next_due(self) -> float:
        return NOW if self._out else self.requests.next_due

    def _is_strange(self, host: str) -> bool:
        """Whether nobody there has answered us yet, and it is not of our own network by declaration."""
        return host not in self._proved and self._rules.policy.subnet(host) is not None

    def _open(self, now: Now, request: PendingRequest) -> None:
        transaction = self._rng.randbytes(8)
        if request.is_strange and not self._strange.take(request.address.host, now.steady):
            # Contacts and heartbeats name any address they like; a host must not drown in what they make us send.
            request.tries = 1
            request.timeout_s *= bool(request.sent)  # what was sent before may still be answered
            self.requests.add(transaction, request, now)
            self.refused["too much for a strange host"] += 1
            return
        if not self.requests.add(transaction, request, now):
            self.refused["too many open requests"] += 1
            return
        try:
            key = self._identity.shared_key(request.public_key) if request.public_key else None
        except BadSignature:  # the contact was made up; the request runs into its timeout
            self.refused["public key"] += 1
            return
        if request.contact is not None and request.contact.introducers:
            self._to_introduce[request.contact.node_id] = request.contact
        size = 0 if isinstance(request.body, Put) else PACKET_LIMIT
        self.send(transaction, request.body, key, request.address, size)
