"""How tantivy's queries are put together.

Pure: queries in, a query out.
"""

from collections.abc import Iterator, Sequence

import tantivy
from tantivy import Occur

from index.query.query_tree import QueryGroup


def boolean(group: QueryGroup, children: Sequence[tantivy.Query], without: Iterator[tantivy.Query]) -> tantivy.Query:
    """Ask for what matches enough of a group's children, and none of what it excludes."""
    excluded = [(Occur.MustNot, query) for query in without]
    if group.minimum == len(children):
        return tantivy.Query.boolean_query([(Occur.Must, query) for query in children] + excluded)
    wanted = [(Occur.Should, query) for query in children]
    return tantivy.Query.boolean_query(wanted + excluded, minimum_number_should_match=group.minimum)


def any_of(*queries: tantivy.Query) -> tantivy.Query:
    """Ask for what matches any of these."""
    if len(queries) == 1:
        return queries[0]
    return tantivy.Query.boolean_query([(Occur.Should, query) for query in queries])


def silent(query: tantivy.Query) -> tantivy.Query:
    """Ask for the same, and score it with nothing."""
    return tantivy.Query.const_score_query(query, 0.0)
