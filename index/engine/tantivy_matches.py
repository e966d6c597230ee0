"""Which of tantivy's documents match a tree, and nothing about their scores.

A document has one stem class. So where enough of several leaves are wanted, each class is asked by itself: terms meet
faster than alternatives of terms do. Where few of few leaves are wanted, all ways to choose them are written out. A
phrase costs most, so it stands there once, beside all ways to choose the remaining leaves.
"""

from itertools import combinations
from math import comb

import tantivy
from tantivy import Occur

from index.engine.tantivy_documents import BOILERPLATE, LANGUAGE, MARK, SITE, TAG, TEXT, WORD, mark_of
from index.engine.tantivy_queries import any_of, boolean
from index.engine.tantivy_terms import Asked, AskedTerms
from index.query.leaf import Leaf
from index.query.query_tree import Condition, LanguageFilter, QueryGroup, QueryNode, SiteFilter, TagFilter

MAX_WAYS = 6  # to choose so many of a group's children, each written out
_Plan = Asked | Condition | tuple[int, tuple["_Plan", ...]]  # or so many of these, of the documents of one class
_IMPOSSIBLE: _Plan = (1, ())


class Matches:
    """Writes the queries of one commit; each matches the same documents as the node does."""

    def __init__(self, schema: tantivy.Schema, asked: AskedTerms) -> None:
        self._schema, self._asked = schema, asked

    def roughly(self, node: QueryNode) -> tantivy.Query:
        """Return the query of what may match a tree of leaves by its text, boilerplate apart: of a phrase that is what
        holds its rarest word."""
        plans = (self._plan(node, stem_class, is_rough=True) for stem_class in self._asked.classes)
        return any_of(*map(self._planned, dict.fromkeys(plan for plan in plans if plan != _IMPOSSIBLE)))

    def of(self, node: QueryNode | str) -> tantivy.Query:
        """Return the query of what matches a node; a string is a word as it is written."""
        if isinstance(node, str):
            return self._marked(WORD, node)
        if isinstance(node, QueryGroup):
            if node.minimum > 1 and _is_positive(node):
                plans = (self._plan(node, stem_class) for stem_class in self._asked.classes)
                return any_of(*map(self._planned, dict.fromkeys(plan for plan in plans if plan != _IMPOSSIBLE)))
            return boolean(node, list(map(self.of, node.children)), map(self.of, node.without))
        if isinstance(node, Leaf):
            return any_of(*self.in_field(node, TEXT), *self.in_field(node, BOILERPLATE))
        return self._filter(node)

    def in_field(self, leaf: Leaf, field: str) -> list[tantivy.Query]:
        """Return queries of which a document that holds a leaf in a field matches one, or several where it holds
        synonyms."""
        return [asked.query(self._schema) for asked in self._asked.of(leaf, field)]

    def _filter(self, node: SiteFilter | LanguageFilter | TagFilter) -> tantivy.Query:
        if isinstance(node, SiteFilter):
            return self._marked(SITE, node.host)
        return self._marked(LANGUAGE, node.code) if isinstance(node, LanguageFilter) else self._marked(TAG, node.tag)

    def _marked(self, kind: str, value: str) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, MARK, mark_of(kind, value), "basic")

    def _plan(self, node: QueryNode, stem_class: int, is_rough: bool = False) -> _Plan:
        """The condition on the documents of one class."""
        if isinstance(node, QueryGroup):
            plans = tuple(
                plan for each in node.children if (plan := self._plan(each, stem_class, is_rough)) != _IMPOSSIBLE
            )
            return (node.minimum, plans) if len(plans) >= node.minimum else _IMPOSSIBLE
        if not isinstance(node, Leaf):
            return node
        if not is_rough:
            return 1, self._asked.by_class(node).get(stem_class, ())
        every = map(self._asked.rarest, self._asked.of(node, TEXT))
        return 1, tuple(asked for asked in every if asked.classes >> stem_class & 1)

    def _planned(self, plan: _Plan) -> tantivy.Query:
        if isinstance(plan, Asked):
            return plan.query(self._schema)
        if not isinstance(plan, tuple):
            return self.of(plan)
        minimum, plans = plan
        ways = comb(len(plans), minimum)
        if 1 < ways <= MAX_WAYS and minimum > 1 and (slow := next(filter(_has_phrase, plans), None)):
            others = tuple(each for each in plans if each is not slow)
            with_it = _all_of((self._planned(slow), self._planned((minimum - 1, others))))
            return any_of(self._planned((minimum, others)), with_it)
        queries = list(map(self._planned, plans))
        if minimum == 1:
            return any_of(*queries)
        if ways <= MAX_WAYS:
            return any_of(*map(_all_of, combinations(queries, minimum)))
        wanted = [(Occur.Should, query) for query in queries]
        return tantivy.Query.boolean_query(wanted, minimum_number_should_match=minimum)


def _all_of(queries: tuple[tantivy.Query, ...]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(Occur.Must, query) for query in queries])


def _has_phrase(plan: _Plan) -> bool:
    """Whether positions have to be compared."""
    if isinstance(plan, Asked):
        return len(plan.terms) > 1
    return isinstance(plan, tuple) and any(map(_has_phrase, plan[1]))


def _is_positive(node: QueryNode) -> bool:
    """Whether nothing is excluded, which a document of another class could hold."""
    return not isinstance(node, QueryGroup) or (not node.without and all(map(_is_positive, node.children)))
