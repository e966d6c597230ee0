"""A lookup run sends the questions of a `Lookup` and gathers records and tokens from the answers.

Pure: `now` is an argument; questions leave through a callable, the end is told by another.

Several lookups for one point share no node, so who sits on one of them diverts that one alone.

Pure: lookups in, their merged result out. Each path starts from its own share of the known contacts, and asks only
nodes that no other path has asked. Together the paths ask all the nearest nodes. Source: Baumgart & Mies 2007
(S/Kademlia).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from dht.clock import Now
from dht.errors import BadMessage
from dht.identity.node_key import node_id_of
from dht.keys import NodeId, distance
from dht.membership.working_families import WorkingFamilies
from dht.routing.lookup import Lookup
from dht.routing.routing_table import K
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact
from dht.wire.heartbeat import unpack_endpoint
from dht.wire.packets import Body, Find, Found, Get, Got, PackedContact, Packet

CONTACTS_LIMIT = 20  # of one answer; 1232 bytes hold 19


class Ask(Protocol):
    """Sends a question; `done` gets the verified answer, or None, and `slow` is called when it takes long."""

    def __call__(
        self,
        now: Now,
        body: Body,
        public_key: bytes,
        contact: Contact,
        done: Callable[[Now, Packet | None, Body | None], None],
        slow: Callable[[Now], None] | None = None,
    ) -> None: ...


class LookupAsker:
    """Asks peers for all lookups of one node, and reads the contacts in their answers."""

    def __init__(
        self,
        own: NodeId,
        ask: Ask,
        families: WorkingFamilies,
        policy: Callable[[], AddressPolicy],
        signed: Callable[[NodeId], Contact | None] = lambda peer: None,
        notice: Callable[[Now, list[tuple[bytes, Contact]]], None] = lambda _now, _contacts: None,
    ) -> None:
        """`policy` is asked each time. `signed`: how a peer says itself that it is reached, which counts more than what
        others say. `notice` is given the contacts of each answer."""
        self.own, self.ask = own, ask
        self._families, self._policy, self._signed, self.notice = families, policy, signed, notice

    def reaches(self, contact: Contact) -> bool:
        """Tell whether this node shares a family of address with a contact."""
        return contact.shares(self._families.towards_peers)

    def subnet(self, contact: Contact) -> bytes | None:
        """Return the subnet in which this node would meet a contact; None where it says nothing."""
        ours = [e for e in contact.endpoints if e.family in self._families.towards_peers] or contact.endpoints
        return self._policy().subnet(ours[0].host)

    def read(self, packed: Iterable[PackedContact]) -> list[tuple[bytes, Contact]]:
        """Return the contacts of an answer that may be contacted; raises BadMessage where one is malformed."""
        return read_contacts(packed, self._policy())

    def corrected(self, contacts: Iterable[tuple[bytes, Contact]]) -> list[tuple[bytes, Contact]]:
        """Return contacts as the peers themselves say that they are reached, where that is known."""
        return [(key, self._signed(contact.node_id) or contact) for key, contact in contacts]


class LookupRun:
    """Runs one lookup. `records`: what lies at the target, by sender, unverified. `tokens`: for PUT, by who gave
    them."""

    def __init__(
        self,
        asker: LookupAsker,
        target: bytes,
        done: Callable[[Now, "LookupRun"], None],
        *,
        skip: int | None = None,
        claim: Callable[[NodeId], bool] = lambda peer: True,
        k: int = K,
    ) -> None:
        """`skip`: ask for the records at the target, but for so many; None: ask for none. `claim`: whether this lookup
        may ask a node, asked when its turn has come. `k`: how many nearest to end with."""
        self._lookup = Lookup(asker.own, target, k, subnet=asker.subnet)
        self._body: Body = Find(target) if skip is None else Get(target, skip)
        self._asker, self._done, self._claim = asker, done, claim
        self._finished = False
        self.records: dict[NodeId, tuple[bytes, ...]] = {}
        self.tokens: dict[NodeId, bytes] = {}

    def start(self, now: Now, seeds: Iterable[tuple[bytes, Contact]]) -> None:
        """Begin at these contacts; with none of them, it ends at once with an empty result."""
        self._offer(seeds)
        self._pump(now)

    def result(self) -> list[tuple[bytes, Contact]]:
        """Return public keys and contacts of the nearest, nearest first."""
        return self._lookup.result()

    @property
    def hops(self) -> int:
        """Number of questions in a row that led to the nearest; 0 where nobody answered."""
        return self._lookup.hops

    def _offer(self, contacts: Iterable[tuple[bytes, Contact]], by: NodeId | None = None) -> None:
        self._lookup.offer(((key, c, self._asker.reaches(c)) for key, c in contacts), by)

    def _pump(self, now: Now) -> None:
        if self._finished:
            return
        again = True
        while again:  # others come in the place of those that may not be asked
            again = False
            for public_key, contact in self._lookup.next_queries():
                peer = contact.node_id
                if self._asker.reaches(contact) and self._claim(peer):
                    self._asker.ask(now, self._body, public_key, contact, self._hear(peer), self._slow(peer))
                else:
                    self._lookup.failed(peer)
                    again = True
        if self._lookup.is_done:
            self._finished = True
            self._done(now, self)

    def _hear(self, peer: NodeId) -> Callable[[Now, Packet | None, Body | None], None]:
        def done(now: Now, packet: Packet | None, body: Body | None) -> None:
            try:
                self._take(now, peer, body)
            finally:  # a malformed answer is counted by the caller; the lookup goes on without that peer
                self._pump(now)

        return done

    def _take(self, now: Now, peer: NodeId, body: Body | None) -> None:
        """Use an answer, if it is one; raises BadMessage where its contacts are malformed."""
        if not isinstance(body, (Found, Got)):
            self._lookup.failed(peer)
            return
        try:
            contacts = self._asker.read(body.contacts[:CONTACTS_LIMIT])
        except BadMessage:
            self._lookup.failed(peer)
            raise
        self._lookup.answered(peer)
        self.tokens[peer] = body.token
        if isinstance(body, Got):
            self.records[peer] = body.records
        self._offer(self._asker.corrected(contacts), peer)
        self._asker.notice(now, contacts)

    def _slow(self, peer: NodeId) -> Callable[[Now], None]:
        def slow(now: Now) -> None:
            self._lookup.slow(peer)
            self._pump(now)

        return slow


def read_contacts(packed: Iterable[PackedContact], policy: AddressPolicy) -> list[tuple[bytes, Contact]]:
    """Return the contacts of an answer that may be contacted; raises BadMessage where one is malformed."""
    found = []
    for item in packed:
        try:
            endpoints = tuple(unpack_endpoint(e) for e in item.endpoints[:2])
        except ValueError as error:
            raise BadMessage("", f"contact with a bad endpoint: {error}") from error
        if len(item.public_key) == 32 and endpoints and all(policy.allows(e.host) for e in endpoints):
            found.append((item.public_key, Contact(node_id_of(item.public_key), endpoints)))
    return found


PATHS = 3  # with a fifth of the nodes hostile, three paths of three steps reach an honest end in 88 % of lookups
K_EACH = K // 2  # that a path ends with: three of them see the 16 nearest, and some beyond

MakeRun = Callable[[Callable[[NodeId], bool], Callable[[Now, LookupRun], None]], LookupRun]
"""(whether this path may ask a node, what to call at its end) → a lookup."""


class DisjointPaths:
    """The disjoint lookups of one read, their `records`, `tokens` and `result` merged."""

    def __init__(self, target: bytes, make: MakeRun, done: Callable[[Now, "DisjointPaths"], None]) -> None:
        self._target = target
        self._done = done
        self._asked_by: dict[NodeId, int] = {}
        self._runs = [make(self._claim(n), self._ended) for n in range(PATHS)]
        self._open = PATHS

    def start(self, now: Now, seeds: Sequence[tuple[bytes, Contact]]) -> None:
        """Begin every path; `seeds`, nearest first, are dealt out to them in turn."""
        for n, run in enumerate(self._runs):
            run.start(now, seeds[n::PATHS])

    @property
    def records(self) -> dict[NodeId, tuple[bytes, ...]]:
        """The records at the target by who sent them, unverified."""
        return {peer: records for run in self._runs for peer, records in run.records.items()}

    @property
    def tokens(self) -> dict[NodeId, bytes]:
        """The tokens for PUT, by who gave them."""
        return {peer: token for run in self._runs for peer, token in run.tokens.items()}

    def result(self) -> list[tuple[bytes, Contact]]:
        """Return public keys and contacts of the nearest 16, nearest first."""
        found = {contact.node_id: (key, contact) for run in self._runs for key, contact in run.result()}
        return [found[peer] for peer in sorted(found, key=lambda p: distance(p, self._target))[:K]]

    def _claim(self, path: int) -> Callable[[NodeId], bool]:
        return lambda peer: self._asked_by.setdefault(peer, path) == path

    def _ended(self, now: Now, _run: LookupRun) -> None:
        self._open -= 1
        if not self._open:
            self._done(now, self)
