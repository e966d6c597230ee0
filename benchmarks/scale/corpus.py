"""Holds documents as the directory and a scorer need them, and the exact answer of each query.

All that a query's words need is kept of each document, so that 60,000 pages fit in a few gigabytes and are searched in
milliseconds: a document is a slot of its own, bounded as slots are, and scored only where its bound asks for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.spread_work import spread
from index import Text
from index.directory.impact import DirectoryEpoch, impacts_in
from index.directory.slot_bounds import Bits, SlotBounds
from index.directory.term_row import ENTRY, IS_NAME, NOWHERE, TermRow, hash_of, terms_of
from index.engine.matcher import matches
from index.query.collection_statistics import Statistics, add
from index.query.leaf import Leaf, Term
from index.query.parser import Query
from index.query.scoring import occurrences, score
from index.query.search_rules import NEWEST_RULES
from index.text.field_terms import analyse
from index.text.forward_index import ForwardRecord, decode_forward, encode_forward, lengths_in
from index.text.stem_classes import class_of

BEST = 10
ALL_HASHES = 1 << 64


@dataclass(frozen=True, slots=True)
class Found:
    """A document that matches."""

    score: float
    id: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Postings:
    """The documents that hold a term, ascending, with its level in each and whether it names a front page there."""

    numbers: NDArray[np.int64]
    levels: NDArray[np.int64]
    is_name: Bits


class Corpus:
    """Documents, and of some terms where they stand."""

    def __init__(self, texts: Sequence[Text], queries: Collection[Query], most_hash: int = ALL_HASHES) -> None:
        """Kept are the terms of these queries, and those whose hash is below `most_hash`."""
        self.records = list(spread(_record, texts))
        self.texts = [replace(text, body="", boilerplate="", headings=()) for text in texts]
        self.lengths = (0, 0, 0, 0)
        for record in self.records:
            self.lengths = add(self.lengths, lengths_in(record))
        self.classes = np.array([class_of(text.language) for text in texts], np.int64)
        asked = frozenset(term for query in queries for term in terms_of(query))
        self.postings = self._posted(asked, most_hash)
        self.sample = [term for term in self.postings if is_below(term, most_hash)]
        self._rows: dict[str, TermRow] = {}
        self._ranked: dict[Query, RankedDocuments] = {}

    def _posted(self, asked: frozenset[str], most_hash: int) -> dict[str, Postings]:
        found: dict[str, tuple[list[int], list[int], list[bool]]] = {}
        work = partial(_levels, asked, most_hash, self.epoch(0).average)
        for number, levels in enumerate(spread(work, self.records)):
            for term, level, is_name in levels:
                numbers, all_levels, names = found.setdefault(term, ([], [], []))
                numbers.append(number)
                all_levels.append(level)
                names.append(is_name)
        return {term: Postings(np.array(a), np.array(b), np.array(c)) for term, (a, b, c) in found.items()}

    def epoch(self, bits: int) -> DirectoryEpoch:
        """Return the epoch of a directory of all documents."""
        return DirectoryEpoch(1, *NEWEST_RULES.numbers, bits, len(self.texts), self.lengths)

    def forward(self, number: int) -> ForwardRecord:
        """Return a document's forward record."""
        return decode_forward(self.records[number])

    def ranked(self, query: Query) -> "RankedDocuments":
        """Return the documents that match one of the queries; remembered, as several layouts ask."""
        if (known := self._ranked.get(query)) is None:
            rows = {term: self._row(term) for term in terms_of(query)}
            df = tuple(self._df(leaf, rows) for leaf in query.leaves)
            statistics = Statistics(len(self.texts), self.lengths, df)
            epoch = self.epoch((len(self.texts) - 1).bit_length())
            bounds = SlotBounds(query, statistics, epoch, rows)
            known = self._ranked[query] = RankedDocuments(self, query, statistics, bounds)
        return known

    def _df(self, leaf: Leaf, rows: Mapping[str, TermRow]) -> int:
        if isinstance(leaf, Term):
            return sum(rows[stem.term].df(stem.classes) for stem in leaf.stems)
        numbers = reduce(np.intersect1d, map(self._holders, leaf.words))
        if leaf.joined:
            numbers = np.union1d(numbers, self._holders(leaf.joined))
        return sum(bool(occurrences(self.forward(number), leaf)) for number in numbers.tolist())

    def _holders(self, word: Term) -> NDArray[np.int64]:
        """The documents that hold any stem of a word."""
        held = [self.postings[stem.term].numbers for stem in word.stems if stem.term in self.postings]
        return np.unique(np.concatenate(held)) if held else np.zeros(0, np.int64)

    def _row(self, term: str) -> TermRow:
        """The row of a term where each document is a slot."""
        if (known := self._rows.get(term)) is None:
            known = self._rows[term] = self._as_row(self.postings[term]) if term in self.postings else NOWHERE
        return known

    def _as_row(self, at: Postings) -> TermRow:
        entries = np.zeros(len(at.numbers), ENTRY)
        entries["slot"], entries["level"], entries["mark"] = at.numbers, at.levels, 1 | IS_NAME * at.is_name
        classes, counts = np.unique(self.classes[at.numbers], return_counts=True)
        return TermRow(entries, None, tuple(zip(classes.tolist(), counts.tolist(), strict=True)))


class RankedDocuments:
    """The documents that match one query, scored where their bound asks for it."""

    def __init__(self, corpus: Corpus, query: Query, statistics: Statistics, bounds: SlotBounds) -> None:
        self.statistics = statistics
        self._corpus, self._query, self._most = corpus, query, bounds.most
        order = np.argsort(-bounds.most, kind="stable")
        self._order = order[bounds.may_match[order] & (order < len(corpus.texts))]
        self._known: dict[int, Found | None] = {}

    def best(self, among: Bits, count: int = BEST) -> list[Found]:
        """Return the best of some documents, all of whom are told by number."""
        found = list[Found]()
        last = -1.0
        for number in self._order[among[self._order]].tolist():
            if self._most[number] < last:
                break
            if (each := self._scored(number)) is not None and each.score >= last:
                found.append(each)
                if len(found) >= count:
                    found = nsmallest(count, found, key=_by_score)
                    last = found[-1].score
        return sorted(found, key=_by_score)

    def _scored(self, number: int) -> Found | None:
        if number not in self._known:
            forward, text = self._corpus.forward(number), self._corpus.texts[number]
            is_match = matches(self._query.root, text, forward)
            value = score(forward, self._query, self.statistics).score if is_match else 0.0
            self._known[number] = Found(value, text.id, number) if is_match else None
        return self._known[number]


def _by_score(found: Found) -> tuple[float, bytes]:
    return -found.score, found.id


def _record(text: Text) -> bytes:
    return encode_forward(text, analyse(text))


def _levels(asked: frozenset[str], most_hash: int, average: float, record: bytes) -> list[tuple[str, int, bool]]:
    """What a document says of the terms that are kept."""
    terms, impacts = impacts_in(decode_forward(record), NEWEST_RULES.ranking, average)
    each = zip(terms, impacts.levels.tolist(), impacts.is_name.tolist(), strict=True)
    return [(term, level, is_name) for term, level, is_name in each if term in asked or is_below(term, most_hash)]


def is_below(term: str, most_hash: int) -> bool:
    """Tell whether a term's hash is below a number of 64 bits."""
    return most_hash >= ALL_HASHES or int.from_bytes(hash_of(term), "big") < most_hash
