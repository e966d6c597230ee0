"""Queries, postings, ranking: one answer from many nodes. Imports `dht` only.

Nouns: `Text` (a document to index), `Query`, `Engine`, `Searcher`. Rooms, in the order in which to read them:
- `text`: how text becomes terms (analyzer, forward_index)
- `query`: what is asked, and what scores (parser, scoring)
- `engine`: which documents hold the terms here (protocol, index_files)
- `shard`: what one node's index answers (local_index)
- `asking`: how the nodes are asked (searcher, then two_phase_search)
- `results`: how their results become a page

`results/oracle.py` computes what the answer must be.
"""

from typing import TYPE_CHECKING

from dht import lazily

if TYPE_CHECKING:
    from index.asking.agreement import YOUNG_S, Reason, is_remnant, owners_digest
    from index.asking.query_trace import Tracer, untraced
    from index.asking.searcher import CountedDocuments, RunningSearch, Searcher
    from index.change_feed import DocumentChange, Image, Text
    from index.config import IndexConfig
    from index.errors import QueryError
    from index.query.collection_statistics import SlotTotals
    from index.query.filters import FILTERS
    from index.query.image_query import image_query
    from index.query.search_request import SearchRequest
    from index.query.search_rules import NEWEST_RULES, unknown_rules
    from index.results.oracle import SearchOracle
    from index.results.snippet import shown_text
    from index.shard.local_index import LocalIndex
    from index.shard.messages import Agreement
    from index.shard.question_server import Agree
    from index.text.text_leaf import LEAF_STATE
else:
    __getattr__ = lazily(
        __name__,
        {
            "index.asking.agreement": "YOUNG_S Reason is_remnant owners_digest",
            "index.asking.query_trace": "Tracer untraced",
            "index.asking.searcher": "CountedDocuments RunningSearch Searcher",
            "index.change_feed": "DocumentChange Image Text",
            "index.config": "IndexConfig",
            "index.errors": "QueryError",
            "index.query.collection_statistics": "SlotTotals",
            "index.query.filters": "FILTERS",
            "index.query.image_query": "image_query",
            "index.query.search_request": "SearchRequest",
            "index.query.search_rules": "NEWEST_RULES unknown_rules",
            "index.results.oracle": "SearchOracle",
            "index.results.snippet": "shown_text",
            "index.shard.local_index": "LocalIndex",
            "index.shard.messages": "Agreement",
            "index.shard.question_server": "Agree",
            "index.text.text_leaf": "LEAF_STATE",
        },
    )

__all__ = [
    "FILTERS", "LEAF_STATE", "NEWEST_RULES", "YOUNG_S", "Agree", "Agreement", "CountedDocuments", "DocumentChange",
    "Image", "IndexConfig", "LocalIndex", "QueryError", "Reason", "RunningSearch", "SearchOracle", "SearchRequest",
    "Searcher", "SlotTotals", "Text", "Tracer", "image_query", "is_remnant", "owners_digest", "shown_text",
    "unknown_rules", "untraced",
]  # fmt: skip
