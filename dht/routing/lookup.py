"""A lookup finds the k contacts nearest to a point, asked for step by step; this is its state.

Pure: answers in, contacts to ask out. Up to α requests are open at once and each answer frees its place at once; there
are no rounds that wait for their slowest. A request that takes longer than usual stays open but no longer counts, and
the contact after the nearest k is asked in its stead. Should the slow one be dead, its successor has answered by then.
So a dead contact costs its timeout once, not once for each that follows. Contacts of a family that we lack are not
asked but count.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import IntEnum
from itertools import islice
from operator import itemgetter

from dht.keys import NodeId, distance
from dht.routing.routing_table import K
from dht.wire.contact import Contact

ALPHA = 4
CANDIDATES = 256  # of one lookup; a liar can add 16 an answer
SUBNET_LIMIT = 2  # among the nearest, of one /24 or /48: thirty identities in one rack must not be all that is found


class QueryState(IntEnum):
    """How far the question to one candidate is."""

    FRESH = 0
    OPEN = 1
    SLOW = 2
    ANSWERED = 3
    FAILED = 4
    UNREACHABLE = 5


FRESH, OPEN, SLOW, ANSWERED, FAILED, UNREACHABLE = QueryState
USABLE = frozenset((ANSWERED, UNREACHABLE))
PEER: Callable[[tuple[int, NodeId]], NodeId] = itemgetter(1)


class Lookup:
    """Decides whom one lookup asks; it ends (`is_done`) when the nearest k known have answered or cannot be asked."""

    def __init__(
        self,
        own: NodeId,
        target: bytes,
        k: int = K,
        alpha: int = ALPHA,
        *,
        subnet: Callable[[Contact], bytes | None] = lambda contact: None,
    ) -> None:
        """`subnet`: the /24 or /48 in which a contact is, None where that tells nothing; see `AddressPolicy.subnet`."""
        self._own = own
        self._target = target
        self._k = k
        self._alpha = alpha
        self._contacts: dict[NodeId, tuple[bytes, Contact]] = {}
        self._states: dict[NodeId, QueryState] = {}
        self._hops: dict[NodeId, int] = {}
        self._nearest: list[tuple[int, NodeId]] = []  # by distance, without those that failed
        self._open = self._fresh = 0  # how many are in these states
        self._subnet = subnet
        self._subnets: dict[NodeId, bytes | None] = {}
        self._crowd: dict[bytes, int] = {}
        self._is_crowded = False  # whether any subnet has more candidates than may count
        self.asked = 0

    def offer(self, contacts: Iterable[tuple[bytes, Contact, bool]], by: NodeId | None = None) -> None:
        """Take candidates: public key, contact, whether we share a family. `by`: who named them, None for our own
        table."""
        hops = self._hops[by] + 1 if by else 1
        for public_key, contact, reachable in contacts:
            peer = contact.node_id
            if peer != self._own and peer not in self._states and len(self._states) < CANDIDATES:
                self._contacts[peer] = public_key, contact
                self._states[peer] = FRESH if reachable else UNREACHABLE
                self._fresh += reachable
                self._hops[peer] = hops
                insort(self._nearest, (distance(peer, self._target), peer))
                subnet = self._subnets[peer] = self._subnet(contact)
                if subnet is not None:
                    self._crowd[subnet] = self._crowd.get(subnet, 0) + 1
                    self._is_crowded = self._is_crowded or self._crowd[subnet] > SUBNET_LIMIT

    def next_queries(self) -> list[tuple[bytes, Contact]]:
        """Return whom to ask now; each is then open until `answered` or `failed`."""
        chosen, places = list[tuple[bytes, Contact]](), self._k
        if not self._fresh:
            return chosen
        for peer in self._counted():
            if self._open >= self._alpha or not places:
                break
            state = self._states[peer]
            places -= state is not SLOW
            if state is FRESH:
                self._set_state(peer, OPEN)
                chosen.append(self._contacts[peer])
        self.asked += len(chosen)
        return chosen

    def answered(self, peer: NodeId) -> None:
        if self._states[peer] is FAILED:  # an answer that proved sound after all
            insort(self._nearest, (distance(peer, self._target), peer))
        self._set_state(peer, ANSWERED)

    def failed(self, peer: NodeId) -> None:
        if self._states[peer] is not FAILED:
            del self._nearest[bisect_left(self._nearest, (distance(peer, self._target), peer))]
        self._set_state(peer, FAILED)

    def slow(self, peer: NodeId) -> None:
        """Let another be asked in place of a peer that is slow; it may still answer."""
        if self._states.get(peer) is OPEN:
            self._set_state(peer, SLOW)

    @property
    def is_done(self) -> bool:
        states = self._states
        return {states[peer] for peer in islice(self._counted(), self._k)} <= USABLE

    @property
    def hops(self) -> int:
        """Number of questions in a row that led to the nearest contact of the result; 0 without one."""
        nearest = islice(self._counted(), self._k)
        return next((self._hops[peer] for peer in nearest if self._states[peer] in USABLE), 0)

    def result(self) -> list[tuple[bytes, Contact]]:
        """Return the nearest k that answered, or that nobody of our family can ask; nearest first."""
        return [self._contacts[p] for p in islice(self._counted(), self._k) if self._states[p] in USABLE]

    def _counted(self) -> Iterator[NodeId]:
        """Those that have not failed, nearest first; of one subnet no more than SUBNET_LIMIT."""
        return self._thinned() if self._is_crowded else map(PEER, self._nearest)

    def _thinned(self) -> Iterator[NodeId]:
        counts: Counter[bytes] = Counter()
        for _, peer in self._nearest:
            subnet = self._subnets[peer]
            if subnet is not None:
                counts[subnet] += 1
            if subnet is None or counts[subnet] <= SUBNET_LIMIT:
                yield peer

    def _set_state(self, peer: NodeId, state: QueryState) -> None:
        before = self._states[peer]
        self._fresh -= before is FRESH
        self._open += (state is OPEN) - (before is OPEN)
        self._states[peer] = state
