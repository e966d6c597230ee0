"""Remembers what the network's statistics were, so that a query of known words is asked in one round.

Pure: `now` is steady seconds. Nothing is believed because it is remembered: the peers' answers bring the sums of today,
and a query whose guess was wrong is asked once more by these. That costs a round, so no guess is made where it is
probably wrong. It is where the collection changes from one look to the next. It is, too, where so many documents came
since a word was counted that some of them hold it.
"""

from typing import NamedTuple

from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.query_tree import QueryNode
from index.text.forward_index import Counts

KEPT_S = 60.0
MOST = 4096  # leaves
CHANGED = 0.25  # of a document that holds a leaf, as far as can be expected of so many that came or went


class _Collection(NamedTuple):
    """The documents and lengths as seen first at `since` and last at `at`."""

    documents: int
    lengths: Counts
    since: float
    at: float


class _Leaf(NamedTuple):
    df: int
    documents: int
    at: float


class RememberedStatistics:
    """Remembers the sums of the whole network: those of the collection, by the rules asked by last, and of leaves."""

    def __init__(self) -> None:
        self._collections: dict[tuple[int, int], _Collection] = {}
        self._leaves: dict[tuple[int, int, QueryNode], _Leaf] = {}

    def note(self, query: Query, slots: int, found: Statistics, now: float) -> None:
        """Take the sums of all slots, as peers just told them."""
        rules = slots, query.rules.analyzer.number
        known = self._collections.get(rules)
        is_same = known is not None and (known.documents, known.lengths) == (found.documents, found.lengths)
        since = known.since if known is not None and is_same else now
        self._collections = {rules: _Collection(found.documents, found.lengths, since, now)}
        for leaf, df in zip(query.leaves, found.df, strict=True):
            self._leaves.pop((*rules, leaf), None)
            self._leaves[*rules, leaf] = _Leaf(df, found.documents, now)
        while len(self._leaves) > MOST:
            del self._leaves[next(iter(self._leaves))]

    def guess(self, query: Query, slots: int, now: float) -> Statistics | None:
        """Return what the sums of all slots probably are; None where that is not known well enough."""
        rules = slots, query.rules.analyzer.number
        known = self._collections.get(rules)
        if known is None or now - known.at > min(KEPT_S, known.at - known.since):
            return None
        leaves = [self._leaves.get((*rules, leaf)) for leaf in query.leaves]
        found = [leaf for leaf in leaves if leaf is not None and now - leaf.at <= KEPT_S]
        df = tuple([leaf.df for leaf in found])
        changed = sum(abs(known.documents - leaf.documents) * leaf.df for leaf in found)
        if len(found) < len(leaves) or changed > CHANGED * known.documents or max(df, default=0) > known.documents:
            return None
        return Statistics(known.documents, known.lengths, df)
