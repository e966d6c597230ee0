"""Queries, postings, ranking: one answer from many nodes. Imports `dht` only.

Nouns: `Text` (a document to index), `Query`, `Engine`, `Statistics`, `Searcher`. Read source, analysis, golden,
forward, query, matching, ranking, bruteforce: what an answer is. Then engine and its three kinds, table, shelf, answer,
local: one node's part. Then messages, plan, checks, remote, rounds, merge, snippet, cursor,
question, searcher: a whole query.
"""

from index.change_feed import ChangeFeed, DocumentChange, Text
from index.config import IndexConfig
from index.errors import IndexCorrupt, QueryError
from index.query.parser import Query, parse_query
from index.query.scoring import RANKING
from index.query.search_request import SearchRequest
from index.search.local_index import LocalIndex
from index.search.oracle import OracleAnswer, OracleHit, SearchOracle
from index.search.searcher import Read, Searcher
from index.text.analyzer import ANALYZER
from index.text.analyzer_check import AnalyzerDiffers

__all__ = [
    "ANALYZER",
    "RANKING",
    "AnalyzerDiffers",
    "ChangeFeed",
    "DocumentChange",
    "IndexConfig",
    "IndexCorrupt",
    "LocalIndex",
    "OracleAnswer",
    "OracleHit",
    "Query",
    "QueryError",
    "Read",
    "SearchOracle",
    "SearchRequest",
    "Searcher",
    "Text",
    "parse_query",
]
