"""AuditSampling: which answers and pages of a peer are checked. All rates of the audit stand here.

Pure: counts and chances in, choices out. Of each peer the first answers of a topic are checked, later a small share.
"""

from enum import StrEnum

from dht.keys import NodeId
from dht.rate_limit import remember


class Topic(StrEnum):
    """The subject of a check. The words are part of the API."""

    STATISTICS = "statistics"
    HITS = "hits"
    RECORDS = "records"
    POSSESSION = "possession"
    CLIENT_PAGES = "client pages"
    PAGES = "pages"


SHARE = 0.02  # of what a peer says on a topic, after the first
FIRST = {  # so many are all checked
    Topic.STATISTICS: 50,  # answers that agreed with another peer's
    Topic.HITS: 50,
    Topic.RECORDS: 50,
    Topic.CLIENT_PAGES: 1,  # pages that the client brought
    Topic.PAGES: 200,  # pages of one author, as far as the budget of second looks goes
}
CHALLENGE_EVERY_S = 60.0  # between two challenges to show records
CHALLENGED_RECORDS = 16  # in one: they fit into one packet
REMEMBERED = 4096  # peers in each topic; a peer that is forgotten begins anew


class AuditSampling:
    """Counts what peers said, by topic, and chooses what is checked."""

    def __init__(self) -> None:
        self._counts: dict[Topic, dict[NodeId, int]] = {topic: {} for topic in Topic}

    def is_due(self, peer: NodeId, topic: Topic, chance: float) -> bool:
        """Tell whether the next word of a peer is checked. `chance`: a number from 0 to 1 that it cannot foresee."""
        return self.is_new(peer, topic) or chance < SHARE

    def is_new(self, peer: NodeId, topic: Topic) -> bool:
        """Tell whether every word of a peer is still checked."""
        return self._counts[topic].get(peer, 0) < FIRST[topic]

    def count(self, peer: NodeId, topic: Topic) -> None:
        """Count one word of a peer."""
        counts = self._counts[topic]
        remember(counts, peer, counts.get(peer, 0) + 1, REMEMBERED)

    def forget(self, peer: NodeId) -> None:
        """Begin anew with a peer, on all topics."""
        for counts in self._counts.values():
            counts.pop(peer, None)
