"""Queries, postings, ranking: one answer from many nodes. Imports `dht` only.

Nouns: `Text` (a document to index), `Query`, `Engine`, `Statistics`, `Searcher`. Read source, analysis, golden,
forward, query, matching, ranking, bruteforce: what an answer is. Then engine and its three kinds, table, shelf, answer,
local: one node's part. Then messages, plan, checks, remote, rounds, merge, snippet, cursor,
question, searcher: a whole query.
"""

from index.analysis import ANALYZER
from index.bruteforce import BruteAnswer, BruteForce, BruteHit
from index.config import IndexConfig
from index.errors import IndexCorrupt, QueryError
from index.golden import AnalyzerDiffers
from index.local import LocalIndex
from index.query import Query, parse_query
from index.question import Question
from index.ranking import RANKING
from index.searcher import Read, Searcher
from index.source import Change, Feed, Text

__all__ = [
    "ANALYZER",
    "RANKING",
    "AnalyzerDiffers",
    "BruteAnswer",
    "BruteForce",
    "BruteHit",
    "Change",
    "Feed",
    "IndexConfig",
    "IndexCorrupt",
    "LocalIndex",
    "Query",
    "QueryError",
    "Question",
    "Read",
    "Searcher",
    "Text",
    "parse_query",
]
