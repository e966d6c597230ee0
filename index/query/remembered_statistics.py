"""Remembers what the network's statistics were, so that a query of known words is asked in one round.

Pure: values only. Nothing is believed because it is remembered, however old it is: the peers' answers bring the sums of
today, and what is shown is scored by these (`index/asking/rescoring.py`). A node also learns words from the questions
of others, which name the sums that they were told. A lie in these costs a second round, once for each word.
"""

from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.query.query_tree import QueryNode
from index.text.forward_index import Counts

MOST = 16_384  # leaves
NEAR = 0.1  # by which a question's number of documents may differ from the one that this node was told

Rules = tuple[int, int]  # how many slots there are, and the number of the analyzer


class RememberedStatistics:
    """Remembers the sums of the whole network: those of the collection, by the rules asked by last, and of leaves."""

    def __init__(self) -> None:
        self._collections: dict[Rules, tuple[int, Counts]] = {}  # documents and lengths
        self._leaves: dict[tuple[Rules, QueryNode], int] = {}

    def note(self, query: Query, slots: int, found: Statistics) -> None:
        """Take the sums of all slots, as peers just told them."""
        rules = slots, query.rules.analyzer.number
        self._collections = {rules: (found.documents, found.lengths)}
        for leaf, df in zip(query.leaves, found.df, strict=True):
            self._leaves.pop((rules, leaf), None)
            self._leaves[rules, leaf] = df
        while len(self._leaves) > MOST:
            del self._leaves[next(iter(self._leaves))]

    def hear(self, query: Query, slots: int, told: Statistics) -> None:
        """Take the counts of words that are new here from another node's question."""
        rules = slots, query.rules.analyzer.number
        documents, _ = self._collections.get(rules, (0, ()))
        if not documents or abs(told.documents - documents) > NEAR * documents:
            return
        for leaf, df in zip(query.leaves, told.df, strict=True):
            if len(self._leaves) < MOST:
                self._leaves.setdefault((rules, leaf), df)

    def guess(self, query: Query, slots: int) -> Statistics | None:
        """Return what the sums of all slots were; None where some are unknown."""
        rules = slots, query.rules.analyzer.number
        if rules not in self._collections or not all((rules, leaf) in self._leaves for leaf in query.leaves):
            return None
        documents, lengths = self._collections[rules]
        df = tuple([min(self._leaves[rules, leaf], documents) for leaf in query.leaves])
        return Statistics(documents, lengths, df)
