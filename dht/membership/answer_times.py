"""How long peers take to answer, and which of them are late with an answer just now.

A time counts all that an asker waits for: the way there and back, the peer's work, and the questions before it. So
near peers are preferred, and of two near ones the one with less to do.

A peer that froze a moment ago is live until the failure detector has its proof, some seconds later. Without a memory
of late peers each question of those seconds would wait for it anew. A late peer is the last choice as a replica, as a
relay and as a keeper of copies. It is never out of the question, since it may only be slow. Pure but for the clock
that it is given.
"""

from collections import deque
from collections.abc import Iterable
from math import log2

from dht.clock import Clock
from dht.keys import NodeId
from dht.rate_limit import remember

KNOWN_FOR_S = 86_400.0  # ways change seldom; whoever was slow an age ago gets another chance
MOST_KNOWN = 4_096  # peers, as many as a node knows members
GAIN = 1 / 4  # weight of a new time: load changes more quickly than ways do
ALL_GAIN = 1 / 32
ALIKE_S = 0.02  # below it peers count alike, so that they share the load
STEPS = 2  # levels for each doubling
RECENT, FEWEST = 256, 20  # answers by which a slow one is told


class AnswerTimes:
    """Remembers how long each peer took of late."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known = dict[NodeId, tuple[float, float]]()  # seconds, and when that was
        self._all_s = 0.0  # of all peers, smoothed
        self._recent = deque[float](maxlen=RECENT)

    def took(self, peer: NodeId, seconds: float) -> None:
        """Take note that a peer has answered after some seconds."""
        self._note(peer, seconds, self._known.get(peer, (seconds, 0.0))[0])
        self._all_s += (seconds - self._all_s) * (ALL_GAIN if self._recent else 1.0)
        self._recent.append(seconds)

    def waited(self, peer: NodeId, seconds: float) -> None:
        """Take note that somebody waited so long for a peer in vain, and asks no more."""
        known_s = self._known.get(peer, (self._all_s, 0.0))[0]
        if seconds > known_s:
            self._note(peer, seconds, known_s)

    def slowness(self, peer: NodeId) -> int:
        """Return how slow a peer is, in levels from 0; of whom nothing is known, as slow as all are on the whole."""
        seconds, at = self._known.get(peer, (0.0, 0.0))
        is_known = peer in self._known and self._clock().steady < at + KNOWN_FOR_S
        return level_of(seconds if is_known else self._all_s)

    @property
    def slow_s(self) -> float | None:
        """Seconds within which 95 of 100 answers came of late; None where there were too few."""
        return sorted(self._recent)[len(self._recent) * 95 // 100] if len(self._recent) >= FEWEST else None

    def _note(self, peer: NodeId, seconds: float, known_s: float) -> None:
        now_known = known_s + (seconds - known_s) * GAIN, self._clock().steady
        remember(self._known, peer, now_known, MOST_KNOWN)


def level_of(seconds: float) -> int:
    """Return the level of a time: 0 below `ALIKE_S`, then so many for each doubling."""
    return 1 + int(STEPS * log2(seconds / ALIKE_S)) if seconds >= ALIKE_S else 0


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
