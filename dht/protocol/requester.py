"""The requester makes the packets that leave: questions to peers, with repetition, and answers to theirs.

Pure: `now` and `rng` are arguments. Holds what is to be sent until `drain`, and the questions that are open.
"""

from collections import Counter
from collections.abc import Callable

from dht.clock import Now
from dht.errors import BadSignature
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.membership.partner_selection import PartnerSelection
from dht.protocol.network_rules import NetworkRules
from dht.protocol.pending_requests import WAITS, OnAnswer, PendingRequest, PendingRequests
from dht.rate_limit import RateLimiter, remember
from dht.rng import Rng
from dht.routing.routing_table import TIMEOUT_FIRST_S, RoutingTable
from dht.wire.contact import Address, Contact
from dht.wire.packets import PACKET_LIMIT, Body, Put, encode_packet

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
        rng: Rng,
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
