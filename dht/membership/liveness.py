"""A peer lives while it was heard of lately, is not leaving and was not suspected since.

Pure: `now` is an argument. "Lately" is 30 s for a near peer, whose heartbeats come every ten seconds, and half an hour
for a far one. A far peer that becomes near is judged as a far one for a while more, until all near ones have been heard
anew. The judgement of one peer and that of many stand side by side: the first runs for every heartbeat.

The grace clock finds the members whose silence has outlasted their grace, and which must be forgotten. It keeps the
earliest end of a grace, so a look costs nothing while no grace is over.
"""

from collections.abc import Iterable

from dht.admission.neighbourhood import WHOLE, IdRange
from dht.clock import Now
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.wire.heartbeat import GRACES, Graces

LIVE_S = 30.0  # of a near peer: three heartbeats, two may be lost
FAR_LIVE_S = 1800.0  # of a far one: three of its refreshes (digest_exchange.py)
SETTLE_S = LIVE_S + 10.0  # a far peer that becomes near is judged as a near one from then on: all have been heard anew
SENT_SLACK_S = 0.2  # by which we may take a heartbeat for younger than it is: the quickest way of a packet


class Liveness:
    """Judges the peers of one member table, which tells it of suspicions and of the neighbourhood."""

    def __init__(self) -> None:
        self._near = self._settled = WHOLE  # `_settled`: the part that was near long enough, until `_settled_at`
        self._settled_at = float("-inf")
        self._suspected: dict[NodeId, float] = {}  # since when (steady) they are silent

    def move(self, near: IdRange, steady: float) -> None:
        """Judge by another neighbourhood from `SETTLE_S` after this steady time on."""
        settled = self._near if steady >= self._settled_at else self._settled
        self._settled = min(settled, near, key=lambda block: block.width)  # one of them is inside the other
        self._settled_at = steady + SETTLE_S
        self._near = near

    def suspect(self, peer: NodeId, since: float) -> None:
        """Take a peer for dead that has not answered since this steady time, until a heartbeat that it sent later."""
        self._suspected[peer] = since

    def heard(self, peer: NodeId, sent_steady: float) -> None:
        """Lift the suspicion of a peer that sent a heartbeat at this steady time, if it was later."""
        if self._suspected.get(peer, sent_steady) < sent_steady - SENT_SLACK_S:
            del self._suspected[peer]

    def forget(self, peer: NodeId) -> None:
        """Drop what is known of a peer that left the table."""
        self._suspected.pop(peer, None)

    def is_live(self, peer: NodeId, known: KnownPeer, now: Now) -> bool:
        """Tell whether one peer is live."""
        age_s = now.steady - known.sent_steady
        if age_s > LIVE_S:
            near = self._near if now.steady >= self._settled_at else self._settled
            if age_s > FAR_LIVE_S or near.first <= known.opened.prefix <= near.last:
                return False
        return peer not in self._suspected and not known.opened.heartbeat.leaving

    def live_of(
        self, peers: Iterable[tuple[NodeId, KnownPeer]], now: Now
    ) -> tuple[list[tuple[NodeId, KnownPeer]], float]:
        """Judge many peers: those that are live, in their order, and until when (steady time) all of them stay so at
        least, whatever is heard."""
        near = self._near if now.steady >= self._settled_at else self._settled
        first, last, steady, suspected = near.first, near.last, now.steady, self._suspected
        found = list[tuple[NodeId, KnownPeer]]()
        until = self._settled_at if self._settled_at > steady else float("inf")
        for each in peers:
            peer, known = each
            ends = known.sent_steady + (LIVE_S if first <= known.opened.prefix <= last else FAR_LIVE_S)
            if ends >= steady and not known.opened.heartbeat.leaving and peer not in suspected:
                found.append(each)
                if ends < until:
                    until = ends
        return found, until


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
        """Return those of all known peers whose grace is over; they must be forgotten now. A node
        that never called `awake` counts as one that has not slept."""
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
