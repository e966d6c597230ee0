"""The peer clocks compare this node's wall clock with what peers say of theirs, and find out whose is off.

Pure: `now` is an argument. Each peer counts for itself alone: by the time in its answers over TLS, or by a heartbeat
that it sent itself. Such a heartbeat is up to ten seconds old. A heartbeat counts even if it is refused because of its
time. So a node learns that its clock is off from the very peers that it cannot work with. The median of the last peers
decides, this node's own clock among them: one liar moves it nowhere. With a single peer nobody can say whose is off.
"""

import statistics
from collections.abc import Container
from typing import NamedTuple

from dht.clock import Now
from dht.keys import NodeId
from dht.membership.known_peer import INTERVAL_S
from dht.rate_limit import remember

OFF_S = 10.0  # worth a warning; signed requests and heartbeats are refused beyond 120 s
MOST_CLOCKS = 15  # peers, those heard last, whose clocks ours is compared with
PEER_LIMIT = 4096
FRESH_S = 30.0  # the later of two readings counts from then on, whatever it says: the peer's clock may have been set
VALID_S = 600.0
STOPPED_S = 15.0  # for so long a reading of a member that said farewell counts: longer than a heartbeat's interval
MOST_S = 1e9  # by which a clock can be off: decades


class ClockSides(NamedTuple):
    """How many clocks show a node's own time, its own among them, how many another one, and how many of these agree
    with each other at most."""

    ours: int
    others: int
    largest: int

    @property
    def are_against_us(self) -> bool:
        """Whether another time is shown by as many clocks as ours, of which there may be one each."""
        return self.largest >= self.ours


class ClockReading(NamedTuple):
    """By how much a node's clock is surely behind those of its peers (negative: ahead), and how many told theirs."""

    behind_s: float
    peers: int


class PeerClocks:
    """Holds the last reading of each peer's wall clock. `stopped`: the members that said farewell. The clock of such a
    member counts only while the member is still heard."""

    def __init__(self) -> None:
        self.stopped: Container[NodeId] = ()
        self._read: dict[NodeId, tuple[float, float]] = {}  # peer's wall clock - our steady clock, and when (steady)

    def told(self, peer: NodeId, wall: float, now: Now) -> None:
        """Note what a peer's clock shows now."""
        if not abs(wall - now.wall) <= MOST_S:  # or is no number
            return
        remember(self._read, peer, (wall - now.steady, now.steady), PEER_LIMIT)

    def sent(self, peer: NodeId, sent_at: float, now: Now) -> None:
        """Note that a peer's clock showed this when it signed the heartbeat that it sends now: the freshest of several
        heartbeats counts."""
        wall = sent_at + INTERVAL_S / 2
        read, at = self._read.get(peer, (wall - now.steady, float("-inf")))
        if wall - now.steady > read or now.steady - at > FRESH_S:
            self.told(peer, wall, now)

    def ahead_s(self, peer: NodeId, now: Now) -> float:
        """Return how far a peer's clock is ahead of what most clocks show; 0 where it is not known."""
        found = self._read.get(peer)
        if found is None or now.steady - found[1] > VALID_S:
            return 0.0
        return found[0] + now.steady - now.wall - statistics.median_low(self._ahead(now))

    def off_s(self, now: Now) -> float:
        """Return how far most clocks are ahead of ours where that is sure and worth a word, else 0."""
        last = self._ahead(now)
        low, high = statistics.median_low(last), statistics.median_high(last)
        return statistics.median(last) if min(abs(low), abs(high)) > OFF_S else 0.0

    def reading(self, now: Now) -> ClockReading:
        """Return how far this node's clock is behind most, however little that is; a single peer shows nothing."""
        last = self._ahead(now)
        return ClockReading(min(statistics.median_low(last), statistics.median_high(last), key=abs), len(last) - 1)

    def sides(self, now: Now, by_s: float, live: Container[NodeId] | None = None) -> ClockSides:
        """Count the last peers by whether their clocks show our time, to within `by_s`, or another one. Of those that
        show ours only `live` ones count, where they are given."""
        others, ours = [], 0
        for peer, ahead_s in self._last(now).items():
            if abs(ahead_s) > by_s:
                others.append(ahead_s)
            elif live is None or peer in live:
                ours += 1
        largest = max((sum(abs(each - ahead_s) <= by_s for each in others) for ahead_s in others), default=0)
        return ClockSides(1 + ours, len(others), largest)

    def warnings(self, now: Now) -> tuple[str, ...]:
        """Return a sentence for the operator where this machine's clock differs too much from most of its peers'."""
        if off_s := self.off_s(now):
            how = f"{abs(off_s):.0f} s {'behind' if off_s > 0 else 'ahead of'} those of its peers"
            return (f"this machine's clock is {how}; set it, by NTP for example",)
        last = self._ahead(now)
        off_s, others = max(statistics.median_low(last), statistics.median_high(last), key=abs), len(last) // 2
        if abs(off_s) <= OFF_S:
            return ()
        whose = "that of its only peer" if others == 1 else f"those of {others} of its peers"
        return (f"this machine's clock and {whose} differ by {abs(off_s):.0f} s; set them, by NTP for example",)

    def _last(self, now: Now) -> dict[NodeId, float]:
        """How far the clocks heard last are ahead of ours."""
        last, steady, wall = dict[NodeId, float](), now.steady, now.wall
        for peer, (read, at) in reversed(self._read.items()):
            if steady - at <= (STOPPED_S if peer in self.stopped else VALID_S):
                last[peer] = read + steady - wall
                if len(last) == MOST_CLOCKS:
                    break
        return last

    def _ahead(self, now: Now) -> list[float]:
        """How far these clocks are ahead of ours, which is 0 and one of them."""
        return [0.0, *self._last(now).values()]
