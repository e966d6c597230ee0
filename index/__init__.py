"""Queries, postings, ranking: one answer from many nodes. Imports `dht` only.

Nouns: `Text` (a document to index), `Query`, `Engine`, `Statistics`, `Searcher`. Read source, analysis, golden,
forward, query, matching, ranking, bruteforce: what an answer is. Then engine and its three kinds, table, shelf, answer,
local: one node's part. Then messages, plan, checks, remote, rounds, merge, snippet, cursor,
question, searcher: a whole query.
"""

from index.change_feed import DocumentChange, Text
from index.config import IndexConfig
from index.query.search_request import SearchRequest
from index.search.local_index import LocalIndex
from index.search.oracle import SearchOracle
from index.search.searcher import Searcher

__all__ = [
    "DocumentChange",
    "IndexConfig",
    "LocalIndex",
    "SearchOracle",
    "SearchRequest",
    "Searcher",
    "Text",
]
