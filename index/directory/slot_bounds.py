"""What the documents of each slot may score at most, told by the rows of a query's terms.

Pure: rows and a query in, numbers out. A slot's bound is the sum over the words of their weight times the slot's impact
of them, and the reward of the front page that they may name; times what the factors of a score are at most for a
document that has those of the words that the slot has. That the words may all stand in different documents of the slot
is what makes it loose. A phrase is bounded by the rarest of its words.
"""

from collections.abc import Collection, Mapping
from functools import reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.impact import STEPS, DirectoryEpoch, looser_by
from index.directory.term_row import IS_NAME, TermRow
from index.query.collection_statistics import Statistics
from index.query.leaf import Leaf, Phrase, Term
from index.query.parser import Query, QueryGroup
from index.query.query_tree import QueryNode
from index.query.rewards import MANY, most_share
from index.query.scoring import ROUNDED_UP, Scorer, max_proximity

Bits = NDArray[np.bool_]
Numbers = NDArray[np.float64]


class _InSlots(NamedTuple):
    """A word in all slots, by number: its greatest impact, whether any document may hold it, whether it may name a
    front page."""

    impact: Numbers
    has: Bits
    is_name: Bits


class SlotBounds:
    """Bounds the scores of one query. `most`: by slot; `may_match`: which slots may hold a match at all."""

    def __init__(
        self,
        query: Query,
        statistics: Statistics,
        epoch: DirectoryEpoch,
        rows: Mapping[str, TermRow],
        unknown: Collection[Slot] = (),
    ) -> None:
        """`statistics`: by which documents are scored; a term without a row, or with one by other rules than the
        query's, may be anywhere, in any title; and in slots that are not known any term may be."""
        self._query, self._count = query, 1 << epoch.slot_bits
        self._rows = rows if query.rules.numbers == (epoch.analyzer, epoch.ranking) else {}
        scorer = Scorer(query, statistics)
        self._rules, self._looser = query.rules.ranking, looser_by(scorer.average, epoch.average)
        self._unknown, self._most = sorted(unknown), 1 + most_share(query.rules.ranking, MANY)
        self._known: dict[str, _InSlots] = {}
        leaves = {leaf: self._leaf(leaf) for leaf in query.leaves}
        self.may_match = self._may_match(query.root, leaves)
        self.most: Numbers = self._bounds(scorer, list(leaves.values()))

    def _bounds(self, scorer: Scorer, leaves: list[_InSlots]) -> Numbers:
        most, named = np.zeros(self._count), np.zeros(self._count)
        for weight, leaf in zip(scorer.weights, leaves, strict=True):
            most += weight * leaf.impact
            named += weight * leaf.is_name
        if every := sum(scorer.weights):
            most += self._rules.front_share * named * (named / every * ROUNDED_UP) ** 8
        return most * self._factors(scorer, [leaf.has for leaf in leaves]) * ROUNDED_UP

    def _factors(self, scorer: Scorer, has: list[Bits]) -> Numbers | float:
        if not 2 <= len(has) < MANY:
            return max_proximity(self._query)
        codes = np.packbits(np.array(has), axis=0, bitorder="little")[0]
        by_code = np.zeros(1 << 8)
        for code in np.unique(codes).tolist():
            coverage, closest = scorer.factors(tuple(bool(code >> number & 1) for number in range(len(has))))
            by_code[code] = coverage * closest
        found: Numbers = by_code[codes]
        return found

    def _may_match(self, node: QueryNode, leaves: Mapping[Leaf, _InSlots]) -> Bits:
        if isinstance(node, QueryGroup):
            may = [self._may_match(child, leaves) for child in node.children]
            return np.sum(may, axis=0) >= node.minimum if may else np.zeros(self._count, np.bool_)
        if isinstance(node, Term | Phrase):
            return leaves[node].has if node in leaves else self._leaf(node).has
        return np.ones(self._count, np.bool_)  # of a site or a language the directory knows nothing

    def _leaf(self, leaf: Leaf) -> _InSlots:
        if isinstance(leaf, Term):  # a document is asked for one of its stems
            return reduce(_either, (self._term(stem.term) for stem in leaf.stems))
        apart = reduce(_both, (self._leaf(word) for word in leaf.words))
        return _beside(apart, self._leaf(leaf.joined)) if leaf.joined else apart

    def _term(self, term: str) -> _InSlots:
        if (known := self._known.get(term)) is None:
            known = self._known[term] = self._read(self._rows.get(term))
        return known

    def _read(self, row: TermRow | None) -> _InSlots:
        size = self._count
        if row is None:
            anywhere = np.ones(size, np.bool_)
            return _InSlots(np.full(size, self._most), anywhere, anywhere)
        said = row.at(np.arange(size))
        impact, is_name = said["level"] / STEPS * self._looser, said["mark"] >= IS_NAME
        has = np.full(size, row.rest is not None)
        has[row.entries["slot"]] = True
        impact[self._unknown], has[self._unknown], is_name[self._unknown] = self._most, True, True
        return _InSlots(impact, has, is_name)


def _either(one: _InSlots, other: _InSlots) -> _InSlots:
    return _InSlots(np.maximum(one.impact, other.impact), one.has | other.has, one.is_name | other.is_name)


def _both(one: _InSlots, other: _InSlots) -> _InSlots:
    return _InSlots(np.minimum(one.impact, other.impact), one.has & other.has, one.is_name & other.is_name)


def _beside(apart: _InSlots, joined: _InSlots) -> _InSlots:
    """A phrase and its joined form, which count together."""
    return _InSlots(apart.impact + joined.impact, apart.has | joined.has, apart.is_name | joined.is_name)
