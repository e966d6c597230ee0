"""Which peers are late with an answer just now, as every question of this node learns it from every other.

Whoever froze a moment ago is live until the failure detector has its proof, some seconds later. Without this memory
each question of those seconds would wait for such a peer anew. Who is late is the last choice for everything, as a
replica, as a relay and as a keeper of copies, and never out of the question: it may only be slow. Pure but for the
clock that it is given.
"""

from collections.abc import Iterable

from dht.clock import Clock
from dht.keys import NodeId

LATE_FOR_S = 10.0  # the failure detector has decided by then


class LatePeers:
    """Remembers for a while who let somebody wait too long, until it answers."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: dict[NodeId, float] = {}  # steady time; as many as have been asked in that time

    def note_late(self, peers: Iterable[NodeId]) -> None:
        """Take note that these peers have not answered in the time that they usually take."""
        now = self._clock().steady
        self._until = {peer: until for peer, until in self._until.items() if until > now}
        self._until |= dict.fromkeys(peers, now + LATE_FOR_S)

    def note_answer(self, peer: NodeId) -> None:
        """Take note that a peer has answered."""
        self._until.pop(peer, None)

    def is_late(self, peer: NodeId) -> bool:
        """Tell whether a peer let somebody wait lately and has not answered since."""
        return self._until.get(peer, 0.0) > self._clock().steady
