"""The default engine: tantivy; only this file and its neighbours `tantivy_*.py` know it.

All text is one field in which each field of a document stands as many times as its weight says, so tantivy's own BM25
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
from index.engine.tantivy_checksums import check_files
from index.engine.tantivy_columns import TantivyColumns
from index.engine.tantivy_counts import FACET_NAMES, SITES, by_slot, facets_in, sites_in, slots_in
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
from index.engine.tantivy_queries import silent
from index.engine.tantivy_scores import ScoredQueries
from index.engine.tantivy_terms import AskedTerms
from index.errors import IndexCorrupt, failure_of
from index.query.leaf import Leaf
from index.query.parser import Query, QueryGroup, QueryNode

ROUNDING = 1.0001  # tantivy adds up 32-bit floats: 64 leaves err by less than 1e-5
COUNTED = 1 << 16  # numbers of slots remembered between two commits: those of 4,096 words where slots are 16
FACETED = 64  # counts by name


class TantivyEngine:
    """An engine of tantivy's in a directory of its own, or in memory where `path` is None. Raises IndexCorrupt."""

    def __init__(self, path: Path | None, heap_bytes: int) -> None:
        self._path, self._failures = path, _Failures(path)
        self._schema = schema_of_documents()
        self._average = 0.0  # tantivy's mean length of the last commit, once somebody needed it
        self._counted_size = 0  # of `_counted`: its entries, and their numbers of slots
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

    def counts(self, node: QueryNode, slot_bits: int) -> Mapping[int, int]:
        return self._count(node, slot_bits)

    def word_counts(self, word: str, slot_bits: int) -> Mapping[int, int]:
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

    def _count(self, asked: QueryNode | str, slot_bits: int) -> Mapping[int, int]:
        searcher, known = self._searcher, self._counted
        if (found := known.get((asked, slot_bits))) is None:
            with self._failures:
                found = self._counted_anew(searcher, asked, slot_bits)
            self._counted_size += 1 + len(found)
            if self._counted_size > COUNTED:
                known.clear()
                self._counted_size = 1 + len(found)
            known[asked, slot_bits] = found
        return found

    def _counted_anew(self, searcher: tantivy.Searcher, asked: QueryNode | str, slot_bits: int) -> Mapping[int, int]:
        """Count by slot, and what groups match by site, too: to find it again would cost as much once more."""
        if not isinstance(asked, QueryGroup):
            return self._by_slot(searcher, self._matches.of(asked), slot_bits)
        found = searcher.aggregate(self._matches.of(asked), {**by_slot(slot_bits), **SITES})
        self._remember_sites((asked, self._occupied(slot_bits), slot_bits), found)
        return slots_in(found, slot_bits)

    def site_counts(self, node: QueryNode, slots: frozenset[int], slot_bits: int) -> Mapping[str, int]:
        asked = (node, slots & self._occupied(slot_bits), slot_bits)
        if (known := self._sited.get(asked)) is not None:
            return known
        with self._failures:
            match = self._within(self._matches.of(node), slots, slot_bits)
            return self._remember_sites(asked, self._searcher.aggregate(match, SITES))

    def _remember_sites(self, asked: tuple[QueryNode, frozenset[int], int], found: dict[str, Any]) -> Mapping[str, int]:
        if len(self._sited) >= FACETED:
            self._sited.clear()
        sites = self._sited[asked] = sites_in(found)
        return sites

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
        result: Any = searcher.search(self._within(scored, slots, slot_bits), limit + 1, count=False)
        hits: list[tuple[float, tantivy.DocAddress]] = result.hits
        if average == 0.0:
            means = map(self._scores.mean_length, query.leaves)
            average = self._average = next(filter(None, means), 0.0)
        if len(hits) <= limit and is_part and scale.least <= 0 and not scale.needed:  # what only the boilerplate holds
            rest = tantivy.Query.boolean_query([(Occur.Must, self._matches.of(query.root)), (Occur.MustNot, scored)])
            room = limit + 1 - len(hits)
            more: Any = searcher.search(self._within(silent(rest), slots, slot_bits), room, count=False)
            hits = [*hits, *more.hits]
        raised = ROUNDING * (max(1.0, scale.average / average) if average else 1.0)
        bounds = [score * raised for score, _ in hits]
        places = [place for _, place in hits[:limit]]
        numbers: Any = searcher.fast_field_values("number", places)
        complete, columns = len(hits) <= limit, TantivyColumns(searcher, places, self._failures)
        return Candidates(numbers, bounds[:limit], complete, 0.0 if complete else bounds[limit], columns)

    def _counted_as(self, slot_bits: int, leaf: Leaf) -> int | None:
        """How many documents hold a leaf, where it was counted: the first round of a query does."""
        found = self._counted.get((leaf, slot_bits))
        return None if found is None else sum(found.values())

    def _within(self, query: tantivy.Query, slots: frozenset[int], slot_bits: int) -> tantivy.Query:
        """The query narrowed to these slots, where there are others."""
        occupied = self._occupied(slot_bits)
        if occupied <= slots:
            return query
        wanted = tantivy.Query.term_set_query(self._schema, MARK, slot_marks(occupied & slots, slot_bits))
        return tantivy.Query.boolean_query([(Occur.Must, query), (Occur.Must, silent(wanted))])

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
        self._counted: dict[tuple[QueryNode | str, int], Mapping[int, int]] = {}  # a word by itself: as written
        self._counted_size = 0
        self._sited: dict[tuple[QueryNode, frozenset[int], int], Mapping[str, int]] = {}
        self._asked = AskedTerms(self._searcher)
        self._matches = Matches(self._schema, self._asked)
        self._scores = ScoredQueries(self._searcher, self._schema, self._asked, self._matches)
        self._faceted: dict[tuple[QueryNode, frozenset[int], int], Facets] = {}
        self._average = 0.0
        self._filled: dict[int, frozenset[int]] = {}

    def _occupied(self, slot_bits: int) -> frozenset[int]:
        """Slots that hold any document."""
        filled = self._filled
        if slot_bits not in filled:
            filled[slot_bits] = frozenset(self._by_slot(self._searcher, tantivy.Query.all_query(), slot_bits))
        return filled[slot_bits]

    def _by_slot(self, searcher: tantivy.Searcher, match: tantivy.Query, slot_bits: int) -> Mapping[int, int]:
        return slots_in(searcher.aggregate(match, by_slot(slot_bits)), slot_bits)


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
