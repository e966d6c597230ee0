"""The default engine: tantivy, and the only file that knows it.

All text is one field in which a title stands as many times as its weight says (and each heading, and the address), so
tantivy's own BM25 is ours except for its idf, its average length and its rounded lengths. A boost replaces the idf;
lengths are rounded down, which only raises a score; so the score of the last candidate, times the ratio of average
lengths where the network's is the larger, bounds the bm25 of everything left out. tantivy counts deleted documents in
its own N and df until a merge: that changes the boost's divisor only, never a count that leaves this file. Boilerplate
is a field of its own, which matches and scores nothing.
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import tantivy
from tantivy import Occur

from index.engine.protocol import Candidates, IndexEntry, Scale
from index.errors import IndexCorrupt
from index.query.collection_statistics import CELL_BITS
from index.query.parser import LanguageFilter, Leaf, Query, QueryGroup, QueryNode, SiteFilter, Term
from index.query.scoring import K1, WEIGHTS

ROUNDING = 1.0001  # tantivy adds up 32-bit floats: 64 leaves err by less than 1e-5
LEAST_BITS = 4  # no strategy has fewer slots; where fewer are asked for, they are put together
COUNTED = 512  # counts remembered between two commits
_EVERY = "d"  # the term that every document has


def _schema() -> tantivy.Schema:
    build = tantivy.SchemaBuilder()
    build.add_unsigned_field("number", indexed=True, fast=True)
    build.add_unsigned_field("cell", fast=True)
    build.add_unsigned_field("slot", indexed=True)  # of every slot_bits, see `_slot_term`
    for name in ("text", "boilerplate"):
        build.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("site", "language", "every"):
        build.add_text_field(name, tokenizer_name="raw", index_option="basic")
    return build.build()


class TantivyEngine:
    """An engine of tantivy's in a directory of its own, or in memory where `path` is None. Raises IndexCorrupt."""

    def __init__(self, path: Path | None, heap_bytes: int) -> None:
        self._path = path
        self._schema = _schema()
        self._average = 0.0  # tantivy's mean length of the last commit, once somebody needed it
        try:
            if path is not None:
                path.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, None if path is None else str(path))
            self._writer = self._index.writer(heap_bytes, 1)
        except (ValueError, OSError) as error:
            raise self._corrupt(error) from None
        self._see()

    def add(self, entries: Sequence[IndexEntry]) -> None:
        for entry in entries:
            self._writer.add_document(_document(entry))

    def remove(self, numbers: Collection[int]) -> None:
        # By query: `delete_documents_by_term` takes a Python integer for a signed one, which matches no number.
        if numbers:
            gone = tantivy.Query.term_set_query(self._schema, "number", sorted(numbers))
            self._writer.delete_documents_by_query(gone)

    def remove_from(self, number: int) -> None:
        above = tantivy.Query.range_query(self._schema, "number", tantivy.FieldType.Unsigned, lower_bound=number)
        self._writer.delete_documents_by_query(above)

    def commit(self) -> None:
        try:
            self._writer.commit()
        except (ValueError, OSError) as error:
            raise self._corrupt(error) from None
        self._see()

    def clear(self) -> None:
        self._writer.delete_all_documents()
        self.commit()

    def counts(self, node: QueryNode, slot_bits: int) -> Mapping[int, int]:
        searcher, known = self._searcher, self._counted
        if (node, slot_bits) not in known:
            if len(known) >= COUNTED:
                known.clear()
            known[node, slot_bits] = self._by_slot(searcher, self._match(node), slot_bits)
        return known[node, slot_bits]

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        searcher, average, occupied = self._searcher, self._average, self._occupied(slot_bits)
        scored = self._scored(searcher, query, scale)
        if not occupied <= slots:
            terms = _slot_terms(occupied & slots, slot_bits)
            wanted = tantivy.Query.term_set_query(self._schema, "slot", terms)
            scored = tantivy.Query.boolean_query([(Occur.Must, scored), (Occur.Must, _silent(wanted))])
        result: Any = searcher.search(scored, limit, count=True)
        numbers: Any = searcher.fast_field_values("number", [place for _, place in result.hits])
        if result.count <= limit:
            return Candidates(numbers, True, 0.0)
        if average == 0.0 and query.leaves:
            average = self._average = self._mean_length(searcher, result.hits[0][1], query)
        longer = max(1.0, scale.average / average) if average else 1.0
        return Candidates(numbers, False, float(result.hits[-1][0]) * longer * ROUNDING)

    def close(self) -> None:
        self._writer.wait_merging_threads()

    def _see(self) -> None:
        self._index.reload()
        self._searcher = self._index.searcher()
        self._counted: dict[tuple[QueryNode, int], Mapping[int, int]] = {}
        self._average = 0.0
        self._filled: dict[int, frozenset[int]] = {}

    def _occupied(self, slot_bits: int) -> frozenset[int]:
        """Slots that hold any document."""
        filled = self._filled
        if slot_bits not in filled:
            filled[slot_bits] = frozenset(self._by_slot(self._searcher, tantivy.Query.all_query(), slot_bits))
        return filled[slot_bits]

    def _by_slot(self, searcher: tantivy.Searcher, match: tantivy.Query, slot_bits: int) -> Mapping[int, int]:
        width = 1 << (CELL_BITS - slot_bits)
        asked = {"slots": {"histogram": {"field": "cell", "interval": width, "min_doc_count": 1}}}
        found = searcher.aggregate(match, asked)
        return {int(bucket["key"]) // width: int(bucket["doc_count"]) for bucket in found["slots"]["buckets"]}

    def _match(self, node: QueryNode) -> tantivy.Query:
        if isinstance(node, QueryGroup):
            return _boolean(node, [self._match(child) for child in node.children], map(self._match, node.without))
        if isinstance(node, SiteFilter):
            return tantivy.Query.term_query(self._schema, "site", node.host, "basic")
        if isinstance(node, LanguageFilter):
            return tantivy.Query.term_query(self._schema, "language", node.code, "basic")
        return _any_of(self._in(node, "text"), self._in(node, "boilerplate"))

    def _in(self, leaf: Leaf, field: str) -> tantivy.Query:
        if isinstance(leaf, Term):
            return tantivy.Query.term_query(self._schema, field, leaf.term)
        return tantivy.Query.phrase_query(self._schema, field, list(leaf.terms))

    def _scored(self, searcher: tantivy.Searcher, query: Query, scale: Scale) -> tantivy.Query:
        """A query that matches the tree and scores every leaf that a document holds."""
        boosted = {leaf: self._boosted(searcher, leaf, idf) for leaf, idf in zip(query.leaves, scale.idf, strict=True)}
        root = query.root
        if not isinstance(root, QueryGroup):
            return boosted[root] if not isinstance(root, SiteFilter | LanguageFilter) else _silent(self._match(root))
        if any(isinstance(child, QueryGroup) for child in root.children):
            parts = [(Occur.Must, _silent(self._match(root)))]
            return tantivy.Query.boolean_query(parts + [(Occur.Should, leaf) for leaf in boosted.values()])
        children = [
            _silent(self._match(child)) if isinstance(child, SiteFilter | LanguageFilter) else boosted[child]  # type: ignore[index]
            for child in root.children
        ]
        return _boolean(root, children, map(self._match, root.without))

    def _boosted(self, searcher: tantivy.Searcher, leaf: Leaf, idf: float) -> tantivy.Query:
        documents = searcher.doc_freq("every", _EVERY)
        words = (leaf.term,) if isinstance(leaf, Term) else leaf.terms
        theirs = 0.0
        for word in words:
            df = searcher.doc_freq("text", word)
            theirs += math.log(1 + (documents - df + 0.5) / (df + 0.5))
        if idf == 0.0 or theirs == 0.0:
            return _silent(self._match(leaf))
        boosted = tantivy.Query.boost_query(self._in(leaf, "text"), idf / (theirs * (K1 + 1)))
        return _any_of(boosted, _silent(self._in(leaf, "boilerplate")))

    def _mean_length(self, searcher: tantivy.Searcher, place: tantivy.DocAddress, query: Query) -> float:
        scored = self._scored(searcher, query, Scale((1.0,) * len(query.leaves), 1.0))
        return next(_averages(json.loads(scored.explain(searcher, place).to_json())), 0.0)

    def _corrupt(self, error: Exception) -> IndexCorrupt:
        return IndexCorrupt(str(self._path), str(error), "free space on the disk, or delete this directory and restart")


def _slot_term(slot: int, slot_bits: int) -> int:
    """A number that stands for a slot of 2**slot_bits and for no other: a document has one for each slot_bits, 13 small
    terms, so that a change of slot_bits indexes nothing anew."""
    return (1 << slot_bits) + slot


def _slot_terms(slots: Collection[int], slot_bits: int) -> list[int]:
    """The terms of which each document of these slots has one."""
    parts = range(1 << max(0, LEAST_BITS - slot_bits))
    bits = max(slot_bits, LEAST_BITS)
    return [_slot_term((slot << (bits - slot_bits)) + part, bits) for slot in sorted(slots) for part in parts]


def _document(entry: IndexEntry) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("number", entry.number)
    document.add_unsigned("cell", entry.cell)
    for slot_bits in range(LEAST_BITS, CELL_BITS + 1):
        document.add_unsigned("slot", _slot_term(entry.cell >> (CELL_BITS - slot_bits), slot_bits))
    fields = entry.fields
    for lines, weight in zip(([fields.title], fields.headings, [fields.url], [fields.body]), WEIGHTS, strict=True):
        for text in [" ".join(line) for line in lines if line] * weight:
            document.add_text("text", text)
    if entry.fields.boilerplate:
        document.add_text("boilerplate", " ".join(entry.fields.boilerplate))
    for host in entry.hosts:
        document.add_text("site", host)
    document.add_text("language", entry.language)
    document.add_text("every", _EVERY)
    return document


def _boolean(group: QueryGroup, children: Sequence[tantivy.Query], without: Iterator[tantivy.Query]) -> tantivy.Query:
    excluded = [(Occur.MustNot, query) for query in without]
    if group.minimum == len(children):
        return tantivy.Query.boolean_query([(Occur.Must, query) for query in children] + excluded)
    wanted = [(Occur.Should, query) for query in children]
    return tantivy.Query.boolean_query(wanted + excluded, minimum_number_should_match=group.minimum)


def _any_of(*queries: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.boolean_query([(Occur.Should, query) for query in queries])


def _silent(query: tantivy.Query) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, 0.0)


def _averages(explained: dict[str, Any]) -> Iterator[float]:
    if str(explained.get("description", "")).startswith("avgdl"):
        yield float(explained["value"])
    for part in explained.get("details", ()):
        yield from _averages(part)
