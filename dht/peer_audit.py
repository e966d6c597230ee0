"""Whose answers agreed with others', and who was refuted: what all know who ask peers the same thing twice.

Most answers are not signed, so nothing here can be proved to anybody else: each node finds liars for itself, and tells
its operator. A peer's first answers of each kind are all asked of another peer, too, later few of them. Who was refuted
is asked only where nobody else is, each time for longer.

Pure but for the clock and the numbers that it is given.
"""

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dht.clock import Clock
from dht.keys import NodeId

log = logging.getLogger(__name__)

NEW = 50  # answers of a peer that agreed with another's, before it is asked twice seldom
SHARE = 0.02  # of the others
AVOIDED_S, BEHIND_S = 3600.0, 60.0  # at first, twice as long each time after that
MOST_AVOIDED_S = 86_400.0  # so long, too, a peer must pass for honest until its earlier refutations are forgotten
STRIKES = 8  # answers whose numbers two others spoke against; an honest copy is not behind for as long as that takes:
STRIKE_EVERY_S = 10.0
REMEMBERED = 4096  # peers
KEPT = 16  # refutations to tell of


class Topic(StrEnum):
    """What an answer is about. The words are part of the API."""

    STATISTICS = "statistics"
    HITS = "hits"
    RECORDS = "records"
    POSSESSION = "possession"


@dataclass(frozen=True, slots=True)
class Refutation:
    """Tells of a peer that was found out. `at`: Unix seconds; `witnesses`: peers that said otherwise, none where signed
    documents did; `is_behind`: its copies may only lack something, by what it said."""

    peer: NodeId
    at: float
    topic: Topic
    reason: str
    witnesses: tuple[NodeId, ...] = ()
    is_behind: bool = False


@dataclass(slots=True)
class _Avoided:
    """How long a peer is avoided, since its newest refutation; instants are steady."""

    until: float
    for_s: float


class PeerAudit:
    """Remembers whose answers agreed with others', and who was refuted."""

    def __init__(self, clock: Clock, draw: Callable[[], float]) -> None:
        """`draw` gives a random number from 0 to 1."""
        self._clock, self._draw = clock, draw
        self._agreed: OrderedDict[tuple[NodeId, Topic], int] = OrderedDict()
        self._strikes: OrderedDict[tuple[NodeId, Topic], tuple[int, float]] = OrderedDict()  # how many; when the last
        self._avoided: OrderedDict[NodeId, _Avoided] = OrderedDict()
        self._told: deque[Refutation] = deque(maxlen=KEPT)

    @property
    def now(self) -> float:
        """The steady time."""
        return self._clock().steady

    @property
    def wall(self) -> float:
        """The time in Unix seconds."""
        return self._clock().wall

    def is_due(self, peer: NodeId, topic: Topic) -> bool:
        """Tell whether another is asked the same as this peer."""
        return self._agreed.get((peer, topic), 0) < NEW or self._draw() < SHARE

    def agreed(self, peer: NodeId, topic: Topic) -> None:
        """Note that another said the same as this peer."""
        about = peer, topic
        self._agreed[about] = self._agreed.pop(about, 0) + 1
        _bound(self._agreed, len(Topic) * REMEMBERED)
        if about in self._strikes:
            strikes, last_at = self._strikes[about]
            self._strikes[about] = max(strikes - 1, 0), last_at

    def differs(self, peer: NodeId, topic: Topic, reason: str, witnesses: Sequence[NodeId]) -> None:
        """Note that two others spoke against numbers of this peer, which may be honest once or twice."""
        now, (strikes, last_at) = self.now, self._strikes.get((peer, topic), (0, float("-inf")))
        if now < last_at + STRIKE_EVERY_S:
            return
        self._strikes[peer, topic] = strikes + 1, now
        _bound(self._strikes, len(Topic) * REMEMBERED)
        if strikes + 1 >= STRIKES:
            self.refute(peer, topic, reason, witnesses)

    def refute(
        self, peer: NodeId, topic: Topic, reason: str, witnesses: Sequence[NodeId] = (), *, is_behind: bool = False
    ) -> None:
        """Note that two others spoke against this peer, or signed documents did."""
        if peer in self.refuted():
            return
        now, before = self.now, self._avoided.pop(peer, None)
        first_s = BEHIND_S if is_behind else AVOIDED_S
        again = before is not None and now < before.until + MOST_AVOIDED_S
        for_s = min(max(2 * before.for_s, first_s), MOST_AVOIDED_S) if before is not None and again else first_s
        self._avoided[peer] = _Avoided(now + for_s, for_s)
        _bound(self._avoided, REMEMBERED)
        for each in Topic:
            self._agreed.pop((peer, each), None)
            self._strikes.pop((peer, each), None)
        self._told.append(Refutation(peer, self.wall, topic, reason, tuple(witnesses), is_behind))
        said = ", ".join(each.hex()[:12] for each in witnesses) or "signed documents"
        log.log(
            logging.INFO if is_behind else logging.WARNING,
            "peer refuted, it is asked where nobody else is for %.0f s peer=%s %s: %s; against it: %s",
            for_s, peer.hex(), topic, reason, said,
        )  # fmt: skip

    def refuted(self) -> frozenset[NodeId]:
        """Return who is asked only where nobody else is."""
        now = self.now
        return frozenset(peer for peer, avoided in self._avoided.items() if avoided.until > now)

    def refutations(self) -> Sequence[Refutation]:
        """List the latest refutations, the newest last."""
        return tuple(self._told)


def _bound(remembered: OrderedDict, most: int) -> None:  # type: ignore[type-arg]
    if len(remembered) > most:
        remembered.popitem(last=False)
