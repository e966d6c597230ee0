"""Remembers what the network's statistics were, so that a query of known words is asked in one round.

Pure: values only. Nothing is believed because it is remembered, however old it is: the peers' answers bring the sums of
today, and what is shown is scored by these (`index/asking/rescoring.py`). Only what peers proposed for a word is
believed, for ten minutes. A node also learns words from the questions of others, which name the sums that they were
told. A lie in these costs a second round, once for each word.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from index.query.alternatives import Counted
from index.query.collection_statistics import Statistics
from index.query.parser import Query
from index.text.forward_index import Counts

MOST = 16_384  # leaves, or words
NEAR = 0.1  # by which a question's number of documents may differ from the one that this node was told
PROPOSED_S = 600.0  # for so long what peers proposed for a word counts, or that they proposed nothing

Rules = tuple[int, int]  # how many slots there are, and the number of the analyzer


class RememberedStatistics:
    """Remembers the sums of the whole network: those of the collection, by the rules asked by last, and of leaves."""

    def __init__(self) -> None:
        self._collections: dict[Rules, tuple[int, Counts]] = {}  # documents and lengths
        self._leaves: dict[tuple[Rules, Counted], int] = {}
        self._likely: dict[tuple[Rules, str], tuple[float, Collection[str]]] = {}  # since a steady instant

    def note(self, nodes: Sequence[Counted], rules: Rules, found: Statistics) -> None:
        """Take the sums of all slots, as peers just told them."""
        self._collections = {rules: (found.documents, found.lengths)}
        for node, df in zip(nodes, found.df, strict=True):
            self._leaves.pop((rules, node), None)
            self._leaves[rules, node] = df
        while len(self._leaves) > MOST:
            del self._leaves[next(iter(self._leaves))]

    def note_likely(self, likely: Mapping[str, Collection[str]], rules: Rules, now: float) -> None:
        """Take what peers just proposed for some words, at a steady instant."""
        for word, others in likely.items():
            self._likely.pop((rules, word), None)
            self._likely[rules, word] = now, others
        while len(self._likely) > MOST:
            del self._likely[next(iter(self._likely))]

    def hear(self, query: Query, rules: Rules, told: Statistics) -> None:
        """Take the counts of words that are new here from another node's question."""
        documents, _ = self._collections.get(rules, (0, ()))
        if not documents or abs(told.documents - documents) > NEAR * documents:
            return
        for leaf, df in zip(query.leaves, told.df, strict=True):
            if len(self._leaves) < MOST:
                self._leaves.setdefault((rules, leaf), df)

    def guess(self, nodes: Sequence[Counted], rules: Rules) -> Statistics | None:
        """Return what the sums of all slots were; None where some are unknown."""
        if rules not in self._collections or not all((rules, node) in self._leaves for node in nodes):
            return None
        documents, lengths = self._collections[rules]
        df = tuple([min(self._leaves[rules, node], documents) for node in nodes])
        return Statistics(documents, lengths, df)

    def likely(self, words: Iterable[str], rules: Rules, now: float) -> dict[str, Collection[str]] | None:
        """Return what was proposed for some words lately; None where that is not known of all."""
        found: dict[str, Collection[str]] = {}
        for word in words:
            at, found[word] = self._likely.get((rules, word), (now - PROPOSED_S, ()))
            if at + PROPOSED_S <= now:
                return None
        return found
