"""The default engine: tantivy; only this file and its neighbours `tantivy_*.py` know it.

All text is one field, in which each field of a document stands as many times as its weight says. So tantivy's own BM25
is ours except for its idf, its average length and its rounded lengths. A boost replaces the idf; lengths are rounded
down, which only raises a score; rewards are constants. So the score of the first document left out, times the ratio of
average lengths where the network's is the larger, bounds the relevance of all that were. tantivy counts deleted
documents in its own N and df until a merge: that changes the boost's divisor only, never a count that leaves this file.
Boilerplate is a field of its own, which matches and scores nothing; it is looked at only where the text gives too
little.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from heapq import nsmallest
from pathlib import Path
from typing import Any

import tantivy
from tantivy import Occur

from dht import BrokenFile, MachineRefuses
from index.engine.protocol import Candidates, Facets, IndexEntry, Scale
from index.engine.slot_counts import ROW, CountMemory, SlotCounts
from index.engine.tantivy_checksums import check_files
from index.engine.tantivy_columns import TantivyColumns
from index.engine.tantivy_counts import FACET_NAMES, HOSTS, MOST_HOSTS, by_slot, facets_in, hosts_in, slots_in
from index.engine.tantivy_documents import (
    BOILERPLATE,
    MARK,
    NUMBER,
    TEXT,
    TITLE_LINE,
    WORD,
    document_of,
    mark_of,
    schema_of_documents,
    slot_marks,
    value_of,
    without_class,
)
from index.engine.tantivy_matches import Matches
from index.engine.tantivy_queries import any_of, silent
from index.engine.tantivy_scores import ScoredQueries
from index.engine.tantivy_terms import AskedTerms
from index.errors import IndexCorrupt, failure_of
from index.query.collection_statistics import CELL_BITS
from index.query.leaf import Leaf
from index.query.parser import Query, QueryGroup, QueryNode, SiteFilter
from index.text.site_host import name_of_host

ROUNDING = 1.0001  # tantivy adds up 32-bit floats: 64 leaves err by less than 1e-5
COUNTED = 4_096 * (256 + ROW)  # numbers of slots remembered between two commits: of 4,096 words that all 256 slots hold
FACETED = 64  # counts by name
WIDEST = 4  # times as many documents as are wanted may be found, that a search is not narrowed to their slots
SPARE = 1.2  # times as many as there should be, for slots have not all the same share of what matches

_Hit = tuple[float, tantivy.DocAddress]
_ByNode = dict[QueryNode, Mapping[int, int]]


class TantivyEngine:
    """An engine of tantivy's in a directory of its own, or in memory where `path` is None. Raises IndexCorrupt."""

    def __init__(self, path: Path | None, heap_bytes: int) -> None:
        self._path, self._failures = path, _Failures(path)
        self._schema = schema_of_documents()
        self._average = 0.0  # tantivy's mean length of the last commit, once somebody needed it
        self._heap_bytes = heap_bytes
        with self._failures:
            if path is not None:
                path.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, None if path is None else str(path))
            self._writer: tantivy.IndexWriter | None = self._index.writer(heap_bytes, 1)
            self._see()

    def add(self, entries: Iterable[IndexEntry]) -> None:
        documents = list(map(document_of, entries))
        try:
            writer = self._open_writer()
            for document in documents:
                writer.add_document(document)
        except ValueError as error:  # a thread of the writer died, and only the commit tells of what
            self.commit()
            raise failure_of(self._path, error) from error

    def remove(self, numbers: Collection[int]) -> None:
        if numbers:
            gone = tantivy.Query.term_set_query(self._schema, MARK, [f"{NUMBER}{number}" for number in numbers])
            with self._failures:
                self._open_writer().delete_documents_by_query(gone)

    def remove_from(self, number: int) -> None:
        above = tantivy.Query.range_query(self._schema, "number", tantivy.FieldType.Unsigned, lower_bound=number)
        with self._failures:
            self._open_writer().delete_documents_by_query(above)

    def commit(self) -> None:
        with self._failures:
            self._open_writer().commit()
            self._see()

    def recover(self) -> None:
        with suppress(BrokenFile, MachineRefuses), self._failures:  # whatever it died of
            self._open_writer().wait_merging_threads()  # errors hold on to it, and a new one waits for its lock
        self._writer = None
        with self._failures:
            self._writer = self._index.writer(self._heap_bytes, 1)

    def check_files(self) -> Iterator[None]:
        return check_files(self._path) if self._path is not None else iter(())

    def clear(self) -> None:
        with self._failures:
            self._open_writer().delete_all_documents()
        self.commit()

    def counts(self, node: QueryNode, slot_bits: int) -> SlotCounts:
        return self._count(node, slot_bits)

    def word_counts(self, word: str, slot_bits: int) -> SlotCounts:
        return self._count(word, slot_bits)

    def word_count(self, word: str) -> int:
        try:  # a query looks a thousand up
            return self._searcher.doc_freq(MARK, mark_of(WORD, word))
        except BaseException:
            with self._failures:
                raise

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        with self._failures:
            found = self._searcher.terms_with_prefix(MARK, mark_of(WORD, prefix), limit=limit)
        return [(value_of(mark), count) for mark, count in found]

    def terms_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        counts = Counter[str]()
        with self._failures:
            for field in (TEXT, BOILERPLATE):
                for term, count in self._searcher.terms_with_prefix(field, prefix):
                    counts[without_class(term)] += count
        return nsmallest(limit, counts.items(), key=lambda each: (-each[1], each[0]))

    def words_together(self, words: Sequence[str]) -> int:
        return self._hits(tantivy.Query.boolean_query([(Occur.Must, silent(self._matches.of(word))) for word in words]))

    def titles_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        with self._failures:
            found = self._searcher.terms_with_prefix(MARK, mark_of(TITLE_LINE, prefix), limit=limit)
        query = partial(tantivy.Query.term_query, self._schema, MARK)
        return [(value_of(mark), count) for mark, count in found if self._hits(query(mark))]  # deleted ones count

    def _hits(self, match: tantivy.Query) -> int:
        with self._failures:
            found: Any = self._searcher.search(match, 1, count=True)
        return int(found.count)

    def _count(self, asked: QueryNode | str, slot_bits: int) -> SlotCounts:
        known, hosts, searcher = self._counted, self._hosts, self._searcher
        if (found := known.find((asked, slot_bits))) is None:
            with self._failures:
                found = self._counted_anew(searcher, asked, slot_bits, hosts)
            known.remember((asked, slot_bits), found)
        return found

    def _counted_anew(
        self, searcher: tantivy.Searcher, asked: QueryNode | str, slot_bits: int, hosts: _ByNode
    ) -> SlotCounts:
        """Count by slot, and what groups match by host, too: to find it again would cost as much once more."""
        if not isinstance(asked, QueryGroup):
            return self._by_slot(searcher, self._matches.of(asked), slot_bits)
        found = searcher.aggregate(self._matches.of(asked), {**by_slot(slot_bits), **HOSTS})
        _remember_hosts(hosts, asked, found)
        return slots_in(found, slot_bits)

    def host_counts(
        self, node: QueryNode, hosts: Sequence[bytes], slots: frozenset[int], slot_bits: int
    ) -> Sequence[int]:
        if (by_host := (known := self._hosts).get(node)) is None:
            with self._failures:
                by_host = _remember_hosts(known, node, self._searcher.aggregate(self._matches.of(node), HOSTS))
        is_whole = self._occupied(slot_bits).keys() <= slots

        def count_of(host: bytes) -> int:
            """A site is in one slot, but for very large ones: so all matches of a host are mostly in these slots."""
            at_host, number = SiteFilter(name_of_host(host)), int.from_bytes(host, "big")
            is_known = number in by_host or len(by_host) < MOST_HOSTS
            if is_known and (is_whole or self.counts(at_host, slot_bits).are_within(slots)):
                return by_host.get(number, 0)
            return int(self.counts(QueryGroup(2, (node, at_host)), slot_bits).of(sorted(slots)).sum())

        return list(map(count_of, hosts))

    def facets(self, node: QueryNode, slots: frozenset[int], slot_bits: int) -> Facets:
        known, asked = self._faceted, (node, slots, slot_bits)
        if (found := known.get(asked)) is None:
            if len(known) >= FACETED:
                known.clear()
            with self._failures:
                match = self._within(self._matches.of(node), slots, slot_bits)
                found = known[asked] = facets_in(self._searcher.aggregate(match, FACET_NAMES))
        return found

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        with self._failures:
            return self._candidates(query, slots, slot_bits, scale, limit)

    def _candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        searcher, average = self._searcher, self._average
        scored, is_part = self._scores.of(query, scale, partial(self._counted_as, slot_bits))
        # One more than asked for tells whether anything is left out, and is its bound; to count all would cost more.
        hits = self._best(searcher, scored, slots, slot_bits, limit + 1)
        if average == 0.0:
            means = map(self._scores.mean_length, query.leaves)
            average = self._average = next(filter(None, means), 0.0)
        if len(hits) <= limit and is_part and scale.least <= 0 and not scale.needed:  # what only the boilerplate holds
            rest = tantivy.Query.boolean_query([(Occur.Must, self._matches.of(query.root)), (Occur.MustNot, scored)])
            room = limit + 1 - len(hits)
            hits += self._best(searcher, silent(rest), slots, slot_bits, room)
        raised = ROUNDING * (max(1.0, scale.average / average) if average else 1.0)
        bounds = [score * raised for score, _ in hits]
        places = [place for _, place in hits[:limit]]
        numbers: Any = searcher.fast_field_values("number", places)
        complete, columns = len(hits) <= limit, TantivyColumns(searcher, places, self._failures)
        return Candidates(numbers, bounds[:limit], complete, 0.0 if complete else bounds[limit], columns)

    def _best(
        self, searcher: tantivy.Searcher, query: tantivy.Query, slots: frozenset[int], slot_bits: int, limit: int
    ) -> list[_Hit]:
        """Return the best documents of these slots.

        A search of all slots takes half the time of one that is narrowed. So all are searched for more documents, and
        those of other slots are left out. Where most would be left out, the search is narrowed."""
        here = self._occupied(slot_bits)
        among, wanted = sum(here.values()), sum(here[slot] for slot in slots & here.keys())
        is_part = wanted < among <= WIDEST * wanted
        match = query if is_part else self._within(query, slots, slot_bits)
        asked = int(limit * SPARE * among / wanted) if is_part else limit
        while True:
            result: Any = searcher.search(match, asked, count=False)
            found: list[_Hit] = result.hits
            if not is_part:
                return found
            places, shift = [place for _, place in found], CELL_BITS - slot_bits
            cells: Any = searcher.fast_field_values("cell", places)
            inside = [hit for hit, cell in zip(found, cells, strict=True) if cell >> shift in slots]
            if len(inside) >= limit or len(found) < asked:
                return inside[:limit]
            asked *= WIDEST

    def _counted_as(self, slot_bits: int, leaf: Leaf) -> int | None:
        """How many documents hold a leaf, where it was counted: the first round of a query does."""
        found = self._counted.find((leaf, slot_bits))
        return None if found is None else found.total

    def _within(self, query: tantivy.Query, slots: frozenset[int], slot_bits: int) -> tantivy.Query:
        """The query narrowed to these slots, where there are others."""
        known, occupied, asked = self._here, self._occupied(slot_bits).keys(), (slots, slot_bits)
        if occupied <= slots:
            return query
        if (here := known.get(asked)) is None:
            if len(known) >= FACETED:
                known.clear()
            marks = slot_marks(occupied & slots, slot_bits)  # to match a set of terms takes twice as long
            wanted = [tantivy.Query.term_query(self._schema, MARK, mark, "basic") for mark in marks]
            here = known[asked] = silent(any_of(*wanted))
        return tantivy.Query.boolean_query([(Occur.Must, query), (Occur.Must, here)])

    def close(self) -> None:
        self._writer = None  # a merge under way is given up, as it may take a minute; a later commit begins it anew

    def _open_writer(self) -> tantivy.IndexWriter:
        """The writer; raises MachineRefuses where the last try to open one failed."""
        if self._writer is None:
            raise MachineRefuses(str(self._path), "not open for writing", "it is opened again soon")
        return self._writer

    def _see(self) -> None:
        self._index.reload()
        self._searcher = self._index.searcher()
        self._asked = AskedTerms(self._searcher)
        self._matches = Matches(self._schema, self._asked)
        self._scores = ScoredQueries(self._searcher, self._schema, self._asked, self._matches)
        self._average = 0.0
        # Memories come last, and whoever reads takes them first: none keeps what was counted before this commit.
        self._filled: dict[int, Mapping[int, int]] = {}
        self._counted = CountMemory(COUNTED)  # by node and slot_bits; a word by itself: as written
        self._hosts: _ByNode = {}  # by digests as numbers, in all slots
        self._faceted: dict[tuple[QueryNode, frozenset[int], int], Facets] = {}
        self._here: dict[tuple[frozenset[int], int], tantivy.Query] = {}  # what is in some slots

    def _occupied(self, slot_bits: int) -> Mapping[int, int]:
        """How many documents each slot holds that holds any."""
        filled = self._filled
        if slot_bits not in filled:
            every = self._by_slot(self._searcher, tantivy.Query.all_query(), slot_bits)
            filled[slot_bits] = dict(zip(every.slots.tolist(), every.numbers.tolist(), strict=True))
        return filled[slot_bits]

    def _by_slot(self, searcher: tantivy.Searcher, match: tantivy.Query, slot_bits: int) -> SlotCounts:
        return slots_in(searcher.aggregate(match, by_slot(slot_bits)), slot_bits)


def _remember_hosts(known: _ByNode, asked: QueryNode, found: dict[str, Any]) -> Mapping[int, int]:
    if len(known) >= FACETED:
        known.clear()
    hosts = known[asked] = hosts_in(found)
    return hosts


class _Failures:
    """Raises the library's errors as ours; where damage makes it panic, that is no ordinary exception. A query
    enters it a thousand times."""

    __slots__ = ("_path",)

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        if isinstance(error, ValueError | OSError):
            raise failure_of(self._path, error) from error
        if type(error).__name__ == "PanicException":
            raise IndexCorrupt(str(self._path), str(error)[:300], "it is built anew from the store") from error
