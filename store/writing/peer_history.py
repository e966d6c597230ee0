"""A writer remembers two things of each peer: how long it takes to store a package, and which grants it was sent.

Pure: times and names in, times and names out. The times say when a peer that has not answered is late, and how long to
gather the next package (source of the estimate: RFC 6298, section 2). A holder writes under one grant for minutes, so
each peer is sent it once. A peer that refuses anything is sent all grants again; one that lost them lacks them for one
answer.
"""

from collections import OrderedDict
from collections.abc import Iterable

from dht import NodeId, SignedGrant

# below the 5 s after which a put fails; peers that are always slow are no reason to copy more
LEAST_S, MOST_S = 0.3, 4.0
UNKNOWN_S = 0.5
OUTLIER = 2  # times the patience before, so much of one time counts: a peer that slept amid a put is not slow
MOST_PEERS = 1024  # peers; the one heard of first gives way
LONGEST_GATHERING_S = 1.0  # a crawl's links wait twice on the way to who fetches them: here, and in the feed


class PutTimes:
    """Remembers how long each peer took, as a smoothed time and how far it varies."""

    def __init__(self) -> None:
        self._seen: dict[NodeId, tuple[float, float]] = {}

    def note(self, peer: NodeId, took_s: float) -> None:
        """Take note that a peer answered after so long."""
        took_s = min(took_s, OUTLIER * self.patience_s([peer]) if peer in self._seen else UNKNOWN_S)
        mean, spread = self._seen.pop(peer, (took_s, took_s / 2))
        spread += (abs(took_s - mean) - spread) / 4
        self._seen[peer] = mean + (took_s - mean) / 8, spread
        if len(self._seen) > MOST_PEERS:
            del self._seen[next(iter(self._seen))]

    def patience_s(self, peers: Iterable[NodeId]) -> float:
        """Return after how many seconds without an answer the slowest of some peers is late."""
        usual = [mean + 4 * spread for mean, spread in (self._seen.get(peer, (UNKNOWN_S, 0.0)) for peer in peers)]
        return min(max([LEAST_S, *usual]), MOST_S)


def gathering_s(flush_after_s: float, peers: int) -> float:
    """Return the seconds from one package to the next that is not full, where the last one went to so many peers."""
    return min(flush_after_s * max(1, peers), max(flush_after_s, LONGEST_GATHERING_S))


MOST_SENT = 16_384  # pairs of a peer and a grant


class SentGrants:
    """Remembers which grants this node sent to which peers."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[NodeId, SignedGrant], None] = OrderedDict()

    def lacking(self, peer: NodeId, grants: Iterable[SignedGrant]) -> tuple[SignedGrant, ...]:
        """Return those of some grants that a peer may not have."""
        return tuple(grant for grant in grants if (peer, grant) not in self._known)

    def note(self, peer: NodeId, grants: Iterable[SignedGrant]) -> None:
        """Take note that a peer took all records that came with these grants."""
        for grant in grants:
            self._known[peer, grant] = None
            self._known.move_to_end((peer, grant))
        while len(self._known) > MOST_SENT:
            self._known.popitem(last=False)

    def forget(self, peer: NodeId) -> None:
        """Take note that a peer refused something."""
        for pair in [pair for pair in self._known if pair[0] == peer]:
            del self._known[pair]
