"""Queries, postings, ranking: one answer from many nodes. Imports `dht` only.

Nouns: `Text` (a document to index), `Query`, `Engine`, `Searcher`. Rooms, in the order in which to read them: `text`
(how text becomes terms: analyzer, forward_index), `query` (what is asked, and what scores: parser, scoring),
`engine` (which documents hold the terms here: protocol, index_files), `shard` (what one node's index answers:
local_index), `search` (how many nodes give one answer: searcher, then two_phase_search). `search/oracle.py` says what
the answer must be.
"""

from typing import TYPE_CHECKING

from dht import lazily

if TYPE_CHECKING:
    from index.change_feed import DocumentChange, OfferedTerms, Text
    from index.config import IndexConfig
    from index.engine.protocol import FACETS
    from index.engine.terms_trust import FalseTerms, TermsTrust
    from index.errors import QueryError
    from index.query.collection_statistics import SlotTotals
    from index.query.filters import FILTERS
    from index.query.search_request import SearchRequest
    from index.query.search_rules import NEWEST_RULES
    from index.rank.inflow import InflowAck, InflowMessage
    from index.rank.ledger import allowed_flows
    from index.rank.link_graph import LinkGraph, build_graph
    from index.rank.page_number import NUMBER_BITS, page_number, slots_of
    from index.rank.page_rank import CONVERGED
    from index.rank.rank_level import levels_of
    from index.rank.slot_ranks import SlotRanks, SlotStatement, error_of
    from index.rank.told_hosts import rank_told_hosts
    from index.search.agreement import YOUNG_S, Reason, is_remnant, owners_digest
    from index.search.oracle import SearchOracle
    from index.search.query_trace import Tracer, untraced
    from index.search.searcher import CountedDocuments, RunningSearch, Searcher
    from index.shard.local_index import LocalIndex
    from index.shard.messages import Agreement
    from index.shard.planned_rules import planned_rules, reads_anchors, unknown_rules
    from index.shard.question_server import Agree
    from index.text.analyzer_rules import ANALYZERS
    from index.text.page_terms import digest_of_terms, pack_terms
else:
    __getattr__ = lazily(
        __name__,
        {
            "index.change_feed": "DocumentChange OfferedTerms Text",
            "index.config": "IndexConfig",
            "index.engine.protocol": "FACETS",
            "index.engine.terms_trust": "FalseTerms TermsTrust",
            "index.errors": "QueryError",
            "index.query.collection_statistics": "SlotTotals",
            "index.query.filters": "FILTERS",
            "index.query.search_request": "SearchRequest",
            "index.query.search_rules": "NEWEST_RULES",
            "index.rank.inflow": "InflowAck InflowMessage",
            "index.rank.ledger": "allowed_flows",
            "index.rank.link_graph": "LinkGraph build_graph",
            "index.rank.page_number": "NUMBER_BITS page_number slots_of",
            "index.rank.page_rank": "CONVERGED",
            "index.rank.rank_level": "levels_of",
            "index.rank.slot_ranks": "SlotRanks SlotStatement error_of",
            "index.rank.told_hosts": "rank_told_hosts",
            "index.search.agreement": "YOUNG_S Reason is_remnant owners_digest",
            "index.search.oracle": "SearchOracle",
            "index.search.query_trace": "Tracer untraced",
            "index.search.searcher": "CountedDocuments RunningSearch Searcher",
            "index.shard.local_index": "LocalIndex",
            "index.shard.messages": "Agreement",
            "index.shard.planned_rules": "planned_rules reads_anchors unknown_rules",
            "index.shard.question_server": "Agree",
            "index.text.analyzer_rules": "ANALYZERS",
            "index.text.page_terms": "digest_of_terms pack_terms",
        },
    )

__all__ = [
    "ANALYZERS",
    "CONVERGED",
    "FACETS",
    "FILTERS",
    "NEWEST_RULES",
    "NUMBER_BITS",
    "YOUNG_S",
    "Agree",
    "Agreement",
    "CountedDocuments",
    "DocumentChange",
    "FalseTerms",
    "IndexConfig",
    "InflowAck",
    "InflowMessage",
    "LinkGraph",
    "LocalIndex",
    "OfferedTerms",
    "QueryError",
    "Reason",
    "RunningSearch",
    "SearchOracle",
    "SearchRequest",
    "Searcher",
    "SlotRanks",
    "SlotStatement",
    "SlotTotals",
    "TermsTrust",
    "Text",
    "Tracer",
    "allowed_flows",
    "build_graph",
    "digest_of_terms",
    "error_of",
    "is_remnant",
    "levels_of",
    "owners_digest",
    "pack_terms",
    "page_number",
    "planned_rules",
    "rank_told_hosts",
    "reads_anchors",
    "slots_of",
    "unknown_rules",
    "untraced",
]
