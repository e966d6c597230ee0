"""The grace clock says whose silence has lasted longer than the grace for which it stays a member.

Pure: `now` is an argument. It keeps the earliest end of a grace, so that a look while nobody's is over costs nothing.
"""

from collections.abc import Iterable

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.membership.liveness import LIVE_S
from dht.wire.heartbeat import GRACES, Graces

ASLEEP_S = 60.0  # a running node does something every few seconds: after so long without anything it has slept
PAUSED_S = 20.0  # a pause after which this node has yet to hear of others; a shorter one makes nobody look silent


class GraceClock:
    """Knows the graces of one member table's peers, and when this node itself slept."""

    def __init__(self) -> None:
        self._graces = GRACES
        self._next_end = float("inf")  # no grace ends before
        self._awake_at: float | None = None  # None: nobody said so yet
        self.awake_since = float("inf")  # steady: when this node started, or woke after its last pause

    def set_graces(self, graces: Graces) -> None:
        """Go by these graces from now on."""
        if graces != self._graces:
            self._graces, self._next_end = graces, float("-inf")

    def heard(self, known: KnownPeer) -> None:
        """Note what a peer said last."""
        self._next_end = min(self._next_end, self._end(known))

    def awake(self, now: Now) -> None:
        """Note that this node runs. After a sleep no grace ends for a while: that this node heard nobody says nothing
        about the others."""
        if self._awake_at is None or now.steady - self._awake_at > PAUSED_S:
            self.awake_since = now.steady
        if self._awake_at is not None and now.steady - self._awake_at > ASLEEP_S:
            self._next_end = now.steady + LIVE_S
        self._awake_at = now.steady

    def take_overdue(self, peers: Iterable[tuple[NodeId, KnownPeer]], now: Now) -> list[tuple[NodeId, KnownPeer]]:
        """Return those of all known peers whose grace is over; they must be forgotten now. Whoever never said that this
        node is awake is not taken to have slept."""
        if self._awake_at is not None:
            self.awake(now)
        if now.steady < self._next_end:
            return []
        ends = [(self._end(known), peer, known) for peer, known in peers]
        self._next_end = min((end for end, _, _ in ends if end >= now.steady), default=float("inf"))
        return [(peer, known) for end, peer, known in ends if end < now.steady]

    def _end(self, known: KnownPeer) -> float:
        """When a silent peer is a member no longer, steady time."""
        return known.sent_steady + self._graces.of(known.opened.heartbeat.stable)
