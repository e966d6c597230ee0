"""How long peers take to store a package, and so when one that has not answered is late; how long to gather the next.

Pure: times in, times out. Source of the estimate: RFC 6298, section 2.
"""

from collections.abc import Iterable

from dht import NodeId

LEAST_S, MOST_S = (
    0.3,
    4.0,
)  # below the 5 s after which a put fails; peers that are slow always are no reason to copy more
UNKNOWN_S = 0.5
OUTLIER = 2  # times the patience before, so much of one time counts: who slept amid a put is not slow
REMEMBERED = 1024  # peers; the one heard of first gives way
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
        if len(self._seen) > REMEMBERED:
            del self._seen[next(iter(self._seen))]

    def patience_s(self, peers: Iterable[NodeId]) -> float:
        """Return after how many seconds without an answer the slowest of some peers is late."""
        usual = [mean + 4 * spread for mean, spread in (self._seen.get(peer, (UNKNOWN_S, 0.0)) for peer in peers)]
        return min(max([LEAST_S, *usual]), MOST_S)


def gathering_s(flush_after_s: float, peers: int) -> float:
    """Return the seconds from one package to the next that is not full, where the last one went to so many peers."""
    return min(flush_after_s * max(1, peers), max(flush_after_s, LONGEST_GATHERING_S))
