"""One lookup: the k contacts nearest to a point, asked for step by step.

Pure: answers in, contacts to ask out. Up to α requests are open at once and each answer frees its place at once; there
are no rounds that wait for their slowest. A request that takes longer than usual stays open but no longer counts,
so a dead contact costs half a timeout, not a whole one. Contacts of a family that we lack are not asked but count.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from enum import IntEnum
from heapq import nsmallest

from dht.contact import Contact
from dht.keys import NodeId, distance
from dht.routing import K

ALPHA = 4
CANDIDATES = 256  # of one lookup; a liar can add 16 an answer
PLACE_LIMIT = 2  # among the nearest, of one /24 or /48: thirty identities in one rack must not be all that is found


class State(IntEnum):
    FRESH = 0
    OPEN = 1
    SLOW = 2
    ANSWERED = 3
    FAILED = 4
    UNREACHABLE = 5


class Lookup:
    """Ends (`is_done`) when the nearest k known have all answered or cannot be asked."""

    def __init__(
        self,
        own: NodeId,
        target: bytes,
        k: int = K,
        alpha: int = ALPHA,
        *,
        place: Callable[[Contact], bytes | None] = lambda contact: None,
    ) -> None:
        """`place`: the prefix in which a contact is, None where that tells nothing; see `Reach.block`."""
        self._own = own
        self._target = target
        self._k = k
        self._alpha = alpha
        self._contacts: dict[NodeId, tuple[bytes, Contact]] = {}
        self._states: dict[NodeId, State] = {}
        self._place = place
        self._places: dict[NodeId, bytes | None] = {}
        self._crowd: Counter[bytes] = Counter()
        self._is_crowded = False  # whether any place has more candidates than may count
        self.asked = 0

    def offer(self, contacts: Iterable[tuple[bytes, Contact, bool]]) -> None:
        """Candidates: public key, contact, whether we share a family."""
        for public_key, contact, reachable in contacts:
            peer = contact.node_id
            if peer != self._own and peer not in self._states and len(self._states) < CANDIDATES:
                self._contacts[peer] = public_key, contact
                self._states[peer] = State.FRESH if reachable else State.UNREACHABLE
                place = self._places[peer] = self._place(contact)
                if place is not None:
                    self._crowd[place] += 1
                    self._is_crowded = self._is_crowded or self._crowd[place] > PLACE_LIMIT

    def next_queries(self) -> list[tuple[bytes, Contact]]:
        """Whom to ask now; each is then open until `answered` or `failed`."""
        room = self._alpha - sum(s is State.OPEN for s in self._states.values())
        fresh = [p for p in self._nearest() if self._states[p] is State.FRESH][: max(0, room)]
        for peer in fresh:
            self._states[peer] = State.OPEN
        self.asked += len(fresh)
        return [self._contacts[p] for p in fresh]

    def answered(self, peer: NodeId) -> None:
        self._states[peer] = State.ANSWERED

    def failed(self, peer: NodeId) -> None:
        self._states[peer] = State.FAILED

    def slow(self, peer: NodeId) -> None:
        """Its place goes to another; it may still answer."""
        if self._states.get(peer) is State.OPEN:
            self._states[peer] = State.SLOW

    @property
    def is_done(self) -> bool:
        return all(self._states[p] in (State.ANSWERED, State.UNREACHABLE) for p in self._nearest())

    def result(self) -> list[tuple[bytes, Contact]]:
        """The nearest k that answered, or that nobody of our family can ask; nearest first."""
        usable = (State.ANSWERED, State.UNREACHABLE)
        return [self._contacts[p] for p in self._nearest() if self._states[p] in usable]

    def _nearest(self) -> list[NodeId]:
        alive = [p for p, s in self._states.items() if s is not State.FAILED]
        if not self._is_crowded:
            return nsmallest(self._k, alive, key=lambda p: distance(p, self._target))
        alive.sort(key=lambda p: distance(p, self._target))
        return self._spread(alive)

    def _spread(self, ordered: list[NodeId]) -> list[NodeId]:
        """The first k of which at most PLACE_LIMIT are in one place."""
        found: list[NodeId] = []
        counts: Counter[bytes] = Counter()
        for peer in ordered:
            place = self._places[peer]
            if place is not None:
                counts[place] += 1
            if place is None or counts[place] <= PLACE_LIMIT:
                found.append(peer)
        return found[: self._k]
