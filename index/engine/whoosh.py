"""The engine in pure Python: whoosh, and the only file that knows it. For machines without a tantivy wheel.

It answers words, phrases and Boolean queries exactly, leaves nothing out until `limit`, and then cannot say what it
left out. Field borders are marked by a token that no analyzer produces. Sets are combined by `select`, because whoosh
has no "at least n of these".
"""

import secrets
import shutil
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from errno import EBUSY
from heapq import nsmallest
from itertools import chain
from pathlib import Path
from sys import intern
from traceback import clear_frames
from typing import Any

from whoosh import fields, index, query
from whoosh.analysis import SpaceSeparatedTokenizer
from whoosh.filedb.filestore import RamStorage

from index.engine.protocol import Candidates, Facets, IndexEntry, Scale, commonest
from index.engine.slot_counts import SlotCounts, counted
from index.errors import failure_of
from index.query.collection_statistics import CELL_BITS
from index.query.leaf import Form, forms_of
from index.query.parser import Condition, LanguageFilter, Query, QueryNode, SiteFilter, TagFilter, select
from index.query.query_tree import all_of
from index.text.site_host import name_of_host
from index.text.stem_classes import CLASSES, class_of

_BORDER = " \u00b6 "
_Kept = tuple[int, int, tuple[str, ...]]


class WhooshEngine:
    """An engine of whoosh's in a directory of its own, or in memory where `path` is None. Raises IndexCorrupt."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._added: list[IndexEntry] = []
        self._removed: set[int] = set()
        self._removed_from: int | None = None
        self._open()

    def add(self, entries: Iterable[IndexEntry]) -> None:
        self._added.extend(entries)

    def remove(self, numbers: Collection[int]) -> None:
        self._removed.update(numbers)

    def remove_from(self, number: int) -> None:
        self._removed_from = number

    def commit(self) -> None:
        try:
            self._commit()
        except (index.IndexError, OSError, EOFError) as error:
            clear_frames(error.__traceback__)  # a writer that was never finished keeps its files open
            raise failure_of(self._path, error) from None

    def recover(self) -> None:
        self._added, self._removed, self._removed_from = [], set(), None

    def check_files(self) -> Iterator[None]:
        return iter(())  # its files have no checksums

    def _commit(self) -> None:
        lock = self._index.lock("WRITELOCK")  # ours to release: a writer that cannot even begin never would
        if not lock.acquire():
            raise OSError(EBUSY, "another program writes this index")
        try:
            writer = self._index.writer(_lk=False)
            try:
                self._write(writer)
            except BaseException:
                with suppress(OSError):  # the first error is the one to tell
                    writer.cancel()
                raise
        finally:
            lock.release()
        self._added, self._removed, self._removed_from = [], set(), None
        self._generation += 1

    def _write(self, writer: Any) -> None:
        if self._removed_from is not None:
            writer.delete_by_query(query.NumericRange("number", self._removed_from, None))
        if self._removed:  # one query: a deletion each would scan the index each
            writer.delete_by_query(query.Or([query.Term("number", number) for number in sorted(self._removed)]))
        for entry in self._added:
            writer.add_document(**_document(entry))
        writer.commit()

    def clear(self) -> None:
        self.close()
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
        self._open()

    def counts(self, node: QueryNode, slot_bits: int) -> SlotCounts:
        self._refresh()
        found = map(self._documents.__getitem__, select(node, self._find))
        return counted(cell >> (CELL_BITS - slot_bits) for _, cell, _ in found)

    def facets(self, node: QueryNode, slots: frozenset[int], slot_bits: int) -> Facets:
        self._refresh()
        shift, found = CELL_BITS - slot_bits, map(self._documents.__getitem__, select(node, self._find))
        return commonest(names for _, cell, names in found if cell >> shift in slots)

    def host_counts(
        self, node: QueryNode, hosts: Sequence[bytes], slots: frozenset[int], slot_bits: int
    ) -> Sequence[int]:
        self._refresh()
        shift, found = CELL_BITS - slot_bits, select(node, self._find)
        inside = {place for place in found if self._documents[place][1] >> shift in slots}
        return [len(inside & self._find(SiteFilter(name_of_host(host)))) for host in hosts]

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        self._refresh()
        shift, root = CELL_BITS - slot_bits, all_of([query.root, *scale.needed])
        matching = map(self._documents.__getitem__, select(root, self._find))
        found = sorted(number for number, cell, _ in matching if cell >> shift in slots)
        complete = len(found) <= limit
        bounds = (float("inf"),) * len(found[:limit])
        return Candidates(found[:limit], bounds, complete, 0.0 if complete else float("inf"))

    def word_counts(self, word: str, slot_bits: int) -> SlotCounts:
        self._refresh()
        found = map(self._documents.__getitem__, self._searcher.docs_for_query(query.Term("word", word)))
        return counted(cell >> (CELL_BITS - slot_bits) for _, cell, _ in found)

    def word_count(self, word: str) -> int:
        self._refresh()
        return int(self._searcher.reader().doc_frequency("word", word))

    def words_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        return self._commonest("word", prefix, limit)

    def terms_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        return self._commonest("text", prefix, limit)

    def words_together(self, words: Sequence[str]) -> int:
        self._refresh()
        every = query.And([query.Term("word", word) for word in words])
        return sum(1 for _ in self._searcher.docs_for_query(every))

    def titles_from(self, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        found = self._commonest("title", prefix, limit)
        return [
            (title, n) for title, n in found if any(True for _ in self._holders("title", title))
        ]  # deleted ones count

    def _holders(self, field: str, text: str) -> Iterator[int]:
        return iter(self._searcher.docs_for_query(query.Term(field, text)))

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
        self._index.close()

    def _open(self) -> None:
        schema = fields.Schema(
            number=fields.NUMERIC(int, bits=64, stored=True),
            cell=fields.STORED,
            facets=fields.STORED,
            text=fields.TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=True),
            site=fields.KEYWORD,
            language=fields.ID,
            stem_class=fields.ID,
            tag=fields.KEYWORD(scorable=False),
            word=fields.KEYWORD(scorable=False),
            title=fields.ID,
        )
        try:
            if self._path is None:
                self._index = _Memory().create_index(schema)
            else:
                self._path.mkdir(parents=True, exist_ok=True)
                there = index.exists_in(str(self._path))
                self._index = index.open_dir(str(self._path)) if there else index.create_in(str(self._path), schema)
        except (index.IndexError, OSError, EOFError) as error:
            raise failure_of(self._path, error) from None
        self._generation, self._seen = 0, -1
        self._searcher: Any = None
        self._documents = _DocumentTable()

    @property
    def documents_read(self) -> int:
        """How many stored documents the reading thread has read so far, to know their numbers, cells and facets."""
        return self._documents.read_count

    def _refresh(self) -> None:
        """Open the last commit, where there is a new one; called by the thread that reads."""
        if self._seen == self._generation:
            return
        generation = self._generation
        if self._searcher is not None:
            self._searcher.close()
        self._searcher = self._index.searcher()
        self._documents.refresh(self._searcher.reader())
        self._seen = generation

    def _commonest(self, field: str, prefix: str, limit: int) -> Sequence[tuple[str, int]]:
        self._refresh()
        reader = self._searcher.reader()
        found = (term.decode() for term in reader.expand_prefix(field, prefix))
        counted = [(term, int(reader.doc_frequency(field, term))) for term in found]
        return nsmallest(limit, counted, key=lambda each: (-each[1], each[0]))

    def _find(self, leaf: Condition) -> frozenset[int]:
        """Return the places of the documents that hold any form of a leaf: sets join faster than whoosh's matchers."""
        return frozenset(chain.from_iterable(map(self._searcher.docs_for_query, _queries(leaf))))


class _DocumentTable:
    """The number, cell and facets of each document, by its place in whoosh's index.

    A segment is written once and only loses documents, so each is read once, and a commit costs what it wrote.
    """

    def __init__(self) -> None:
        self.read_count = 0
        self._starts: list[int] = []  # the first place of each segment
        self._segments: dict[str, list[_Kept]] = {}
        self._parts: list[list[_Kept]] = []

    def refresh(self, reader: Any) -> None:
        """Take in the segments of a commit that are new, and forget those that it merged."""
        full = [(leaf, start) for leaf, start in reader.leaf_readers() if leaf.doc_count_all()]
        leaves = {leaf.segment().segment_id(): (leaf, start) for leaf, start in full}
        self._segments = {name: self._segments.get(name) or self._read(leaf) for name, (leaf, _) in leaves.items()}
        self._starts, self._parts = [start for _, start in leaves.values()], list(self._segments.values())

    def __getitem__(self, place: int) -> _Kept:
        segment = bisect_right(self._starts, place) - 1
        return self._parts[segment][place - self._starts[segment]]

    def _read(self, leaf: Any) -> list[_Kept]:
        self.read_count += leaf.doc_count_all()
        stored = map(leaf.stored_fields, range(leaf.doc_count_all()))
        return [(kept["number"], kept["cell"], tuple(map(intern, kept["facets"]))) for kept in stored]


class _Memory(RamStorage):  # type: ignore[misc]
    """whoosh writes columns to a folder below /tmp, by the name of the index: programs would share it, and empty it."""

    def temp_storage(self, name: str | None = None) -> Any:
        return super().temp_storage(f"{name or ''}.{secrets.token_hex(8)}")


def _queries(leaf: Condition) -> list[query.Query]:
    if isinstance(leaf, SiteFilter):
        return [query.Term("site", leaf.host)]
    if isinstance(leaf, LanguageFilter):
        return [query.Term("language", leaf.code)]
    if isinstance(leaf, TagFilter):
        return [query.Term("tag", leaf.tag)]
    return list(map(_form, forms_of(leaf)))


def _form(form: Form) -> query.Query:
    found = query.Phrase("text", list(form.terms)) if len(form.terms) > 1 else query.Term("text", form.terms[0])
    if form.is_common:
        return found
    numbers = [number for number in range(len(CLASSES)) if form.classes >> number & 1]
    return query.And([found, query.Or([query.Term("stem_class", str(number)) for number in numbers])])


def _document(entry: IndexEntry) -> dict[str, object]:
    found = entry.fields
    lines = [found.title, *found.headings, found.url, found.body, found.boilerplate]
    return {
        "number": entry.number,
        "cell": entry.cell,
        "facets": entry.facets,
        "text": _BORDER.join(" ".join(line) for line in lines),
        "site": " ".join(entry.hosts),
        "language": entry.language,
        "stem_class": str(class_of(entry.language)),
        "tag": " ".join(entry.tags),
        "word": " ".join(entry.words),
        "title": entry.title,
    }
