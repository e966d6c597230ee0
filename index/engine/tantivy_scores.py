"""Queries by which tantivy scores: every leaf in the text, and what it earns beside.

Where any leaf is enough the query is flat and holds only terms. tantivy adds these up fastest. It could even skip
documents that cannot be among the best, if its binding for Python allowed that. A reward is a constant, and is asked
for as a term, too. Its field has the same number of terms in all documents, so one occurrence scores the same
everywhere, and more occurrences score more. And a phrase is asked for by its rarest word, where most documents with
that word hold the phrase: it stands there as often as the phrase at least. For the same reason, where pairs of numbers
match, the rarest number scores.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import tantivy
from tantivy import Occur

from index.engine.protocol import Scale
from index.engine.tantivy_documents import EVERY, MARK, TEXT
from index.engine.tantivy_matches import Matches
from index.engine.tantivy_queries import any_of, silent
from index.engine.tantivy_terms import REMEMBERED, Asked, AskedTerms
from index.query.leaf import Leaf, Term
from index.query.parser import Query, QueryGroup
from index.query.query_tree import demanded, is_any_of
from index.query.ranking_rules import FRONT_FIELD
from index.query.rewards import shares, words_in
from index.query.scoring import K1, B

_Rewards = Sequence[tuple[str, float]]
_Weighed = tuple[tantivy.Query, float]  # and what makes its score 1 at most; 0.0 where it is to score a constant
Counted = Callable[[Leaf], int | None]  # how many documents hold a leaf, where that is known
OFTEN = 4  # times as many documents as hold a phrase may hold its rarest word, that it is asked for instead


class ScoredQueries:
    """Writes the queries that score, of one commit."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema, asked: AskedTerms, matches: Matches) -> None:
        self._searcher, self._schema, self._asked, self._matches = searcher, schema, asked, matches
        self._documents = searcher.doc_freq(MARK, EVERY)  # those deleted lately too, as tantivy counts them
        self._known: dict[Leaf, dict[tuple[str, bool], Sequence[_Weighed]]] = {}
        self._lengths: dict[str, tuple[float, float]] = {}  # of a field: of one document with the last term, and mean

    def of(self, query: Query, scale: Scale, counted: Counted) -> tuple[tantivy.Query, bool]:
        """Return a query that scores every leaf that a document's text holds, and whether it leaves out what matches
        the tree by boilerplate alone. `counted` tells how many documents hold a leaf, where that is known."""
        wanted = demanded(query.root)
        must = [node for node in wanted if not is_any_of(node, query.leaves)]
        clauses = [(Occur.Must, silent(self._matches.of(node))) for node in must]
        clauses += [(Occur.Must, silent(self._matches.roughly(node))) for node in scale.needed]
        if isinstance(query.root, QueryGroup):
            clauses += [(Occur.MustNot, self._matches.of(node)) for node in query.root.without]
        is_part = len(must) < len(wanted)
        leaves, rewards = list[tuple[Occur, tantivy.Query]](), _rewards(query)
        loosely = counted if is_part and scale.is_loose else None
        for leaf, weight in zip(query.leaves, scale.weights, strict=True):
            scoring = self._leaf(leaf, weight, rewards, loosely) if weight else ()
            leaves += [(Occur.Should, clause) for clause in scoring]
        if not clauses:
            return tantivy.Query.boolean_query(leaves), is_part
        if is_part:
            leaves = [(Occur.Must, tantivy.Query.boolean_query(leaves))]
        return tantivy.Query.boolean_query(clauses + leaves), is_part

    def mean_length(self, leaf: Leaf) -> float:
        """Return the mean length of the text by which tantivy reckons, 0.0 where no document holds a leaf."""
        lengths = (self._length(each) for asked in self._asked.of(leaf, TEXT) for each in self._asked.in_text(asked))
        return next((mean for _, mean in lengths if mean), 0.0)

    def _leaf(self, leaf: Leaf, weight: float, rewards: _Rewards, loosely: Counted | None) -> Iterator[tantivy.Query]:
        """A leaf in the text, with our weight in place of tantivy's idf, and what it earns in titles and addresses; in
        front pages the most."""
        is_rough = loosely is not None
        for query, boost in self._weighed(leaf, TEXT, loosely is not None and self._may_be_rough(leaf, loosely)):
            yield tantivy.Query.boost_query(query, weight * boost)
        for field, share in rewards:
            for query, boost in self._weighed(leaf, field, is_rough):
                worth = weight * share
                scored = tantivy.Query.boost_query if boost else tantivy.Query.const_score_query
                yield scored(query, worth * boost or worth)

    def _may_be_rough(self, leaf: Leaf, counted: Counted) -> bool:
        """Whether the text may be asked for a phrase's rarest words: where enough of what holds them holds it."""
        if isinstance(leaf, Term) or (found := counted(leaf)) is None:
            return False
        many = sum(self._asked.df(each.field, *self._asked.rarest(each).terms) for each in self._asked.of(leaf, TEXT))
        return found * OFTEN >= many

    def _weighed(self, leaf: Leaf, field: str, is_rough: bool) -> Sequence[_Weighed]:
        """The query for a leaf in a field, or for the rarest of its words there."""
        known = self._known
        if (of_leaf := known.get(leaf)) is None:
            if len(known) >= REMEMBERED:
                known.clear()
            of_leaf = known[leaf] = {}
        if (found := of_leaf.get((field, is_rough))) is None:
            every = self._asked.of(leaf, field)
            found = [self._weigh(self._asked.rarest(asked) if is_rough else asked, field) for asked in every]
            of_leaf[field, is_rough] = found
        return found

    def _weigh(self, asked: Asked, field: str) -> _Weighed:
        """In the text the boost takes out tantivy's idf. Elsewhere it makes a constant of what tantivy scores, or a
        little more where a term stands there twice."""
        query = asked.query(self._schema)
        if field == TEXT and asked.field != TEXT:
            numbers = [tantivy.Query.boost_query(*self._weigh(each, TEXT)) for each in self._asked.in_text(asked)]
            return tantivy.Query.boolean_query([(Occur.Must, silent(query)), (Occur.Must, any_of(*numbers))]), 1.0
        if field == TEXT:
            return query, 1 / self._idf(asked) / (K1 + 1)
        length, mean = self._length(asked) if len(asked.terms) == 1 else (0.0, 0.0)
        if not mean:  # a phrase, or those that hold it are deleted
            return query, 0.0
        return query, (1 + K1 * (1 - B + B * length / mean)) / self._idf(asked) / (K1 + 1)

    def _idf(self, asked: Asked) -> float:
        """The idf by which tantivy weighs this."""
        counts = (self._asked.df(asked.field, term) for term in asked.terms)
        return sum(math.log(1 + (self._documents - count + 0.5) / (count + 0.5)) for count in counts)

    def _length(self, asked: Asked) -> tuple[float, float]:
        """The length of a field of one document with a term, and the mean of all; 0.0 where there is none."""
        if asked.field not in self._lengths:
            query = asked.query(self._schema)
            found: Any = self._searcher.search(query, 1, count=False)
            if not found.hits:
                return 0.0, 0.0
            told = dict(_values(json.loads(query.explain(self._searcher, found.hits[0][1]).to_json())))
            self._lengths[asked.field] = told["dl"], told["avgdl"]
        return self._lengths[asked.field]


def _rewards(query: Query) -> _Rewards:
    """The fields in which words earn something, each with the share of its weight that a word earns there."""
    rules = query.rules.ranking
    by_class = zip(rules.classes, shares(rules, words_in(query.leaves)), strict=True)
    found = [(each.name, share) for each, share in by_class] + [(FRONT_FIELD, rules.front_share)]
    return [(field, share) for field, share in found if share]


def _values(explained: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """The numbers of an explanation, by the first word of what they are."""
    yield str(explained.get("description", "")).partition(",")[0], float(explained["value"])
    for part in explained.get("details", ()):
        yield from _values(part)
