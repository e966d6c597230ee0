"""One node's audit of its peers: which answers are checked, which peers were refuted, and the queue of checks.

Most answers are not signed, so a refutation proves nothing to anybody else: each node finds liars for itself, and
reports them to its operator. A refuted peer is asked only where nobody else can answer.

Penalties: a refuted peer is avoided for a while, twice as long each next time.

Pure: `now` is steady time in seconds. A penalty is one node's own memory: it moves no ownership.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dht.audit.check_queue import CheckQueue
from dht.audit.sampling import AuditSampling, Topic
from dht.clock import Clock
from dht.keys import NodeId
from dht.rate_limit import remember

LIE_S = 3600.0  # the first penalty for an answer that cannot be honest
BEHIND_S = 60.0  # the first penalty where the peer's copy may only be behind
MOST_S = 86_400.0  # the longest; a peer that passes for honest for as long after one starts anew
PENALTIES = 4096  # peers


class _Penalty(NamedTuple):
    until: float
    for_s: float


class Penalties:
    """Remembers which peers are avoided, and until when."""

    def __init__(self) -> None:
        self._known: dict[NodeId, _Penalty] = {}

    def impose(self, peer: NodeId, now: float, first_s: float) -> float:
        """Avoid a peer from now on; return for how many seconds."""
        before = self._known.get(peer)
        is_again = before is not None and now < before.until + MOST_S
        for_s = min(max(2 * before.for_s, first_s), MOST_S) if before is not None and is_again else first_s
        remember(self._known, peer, _Penalty(now + for_s, for_s), PENALTIES)
        return for_s

    def has(self, peer: NodeId, now: float) -> bool:
        """Tell whether a peer is avoided."""
        penalty = self._known.get(peer)
        return penalty is not None and penalty.until > now

    def avoided(self, now: float) -> frozenset[NodeId]:
        """Return the peers that are avoided."""
        return frozenset(peer for peer, penalty in self._known.items() if penalty.until > now)


log = logging.getLogger(__name__)

STRIKES = 8  # answers whose numbers two others contradicted; an honest copy is not behind for as long as that takes:
STRIKE_EVERY_S = 10.0
REMEMBERED = 4096  # peers with strikes, in each topic
KEPT = 16  # refutations that are reported


@dataclass(frozen=True, slots=True)
class Refutation:
    """One peer was refuted.

    `at`: Unix seconds.
    `against`: the peers that contradicted it; none where signed documents or the site itself did.
    `is_behind`: by what the peer said, its copies may only lack something.
    """

    peer: NodeId
    at: float
    topic: Topic
    reason: str
    against: tuple[NodeId, ...] = ()
    is_behind: bool = False


class PeerAudit:
    """Samples answers, counts agreements and strikes, and avoids refuted peers. `checks`: all that waits or repeats."""

    def __init__(self, clock: Clock, draw: Callable[[], float]) -> None:
        """`draw` gives a random number from 0 to 1."""
        self._clock, self._draw = clock, draw
        self.sampling, self._penalties, self.checks = AuditSampling(), Penalties(), CheckQueue(clock)
        self._strikes: dict[tuple[NodeId, Topic], tuple[int, float]] = {}  # how many; when the last
        self._refutations: deque[Refutation] = deque(maxlen=KEPT)

    @property
    def now(self) -> float:
        """The steady time."""
        return self._clock().steady

    @property
    def wall(self) -> float:
        """The time in Unix seconds."""
        return self._clock().wall

    def is_due(self, peer: NodeId, topic: Topic) -> bool:
        """Tell whether an answer of this peer is checked."""
        return self.sampling.is_due(peer, topic, self._draw())

    def agreed(self, peer: NodeId, topic: Topic) -> None:
        """Note that another peer gave the same answer as this one."""
        self.sampling.count(peer, topic)
        if (peer, topic) in self._strikes:
            strikes, last_at = self._strikes[peer, topic]
            self._strikes[peer, topic] = max(strikes - 1, 0), last_at

    def differs(self, peer: NodeId, topic: Topic, reason: str, against: Sequence[NodeId]) -> None:
        """Note that two others contradicted numbers of this peer, which may be honest once or twice."""
        now, (strikes, last_at) = self.now, self._strikes.get((peer, topic), (0, float("-inf")))
        if now < last_at + STRIKE_EVERY_S:
            return
        remember(self._strikes, (peer, topic), (strikes + 1, now), len(Topic) * REMEMBERED)
        if strikes + 1 >= STRIKES:
            self.refute(peer, topic, reason, against)

    def refute(
        self, peer: NodeId, topic: Topic, reason: str, against: Sequence[NodeId] = (), *, is_behind: bool = False
    ) -> None:
        """Avoid this peer: two others contradicted it, or signed documents or its site did."""
        if self.is_avoided(peer):
            return
        for_s = self._penalties.impose(peer, self.now, BEHIND_S if is_behind else LIE_S)
        self.sampling.forget(peer)
        for each in Topic:
            self._strikes.pop((peer, each), None)
        self._refutations.append(Refutation(peer, self.wall, topic, reason, tuple(against), is_behind))
        told = ", ".join(each.hex()[:12] for each in against) or "signed documents or the site"
        log.log(
            logging.INFO if is_behind else logging.WARNING,
            "peer refuted, it is asked where nobody else is for %.0f s peer=%s %s: %s; against it: %s",
            for_s, peer.hex(), topic, reason, told,
        )  # fmt: skip

    def is_avoided(self, peer: NodeId) -> bool:
        """Tell whether a peer is asked only where nobody else is."""
        return self._penalties.has(peer, self.now)

    def refuted(self) -> frozenset[NodeId]:
        """Return the peers that are asked only where nobody else is."""
        return self._penalties.avoided(self.now)

    def refutations(self) -> Sequence[Refutation]:
        """List the latest refutations, the newest last."""
        return tuple(self._refutations)
