"""The engine in pure Python: whoosh, and the only file that knows it. For machines without a tantivy wheel.

It answers words, phrases and Boolean queries exactly, leaves nothing out until `limit`, and then cannot say what it
left out. Field borders are marked by a token that no analyzer produces. Sets are combined by `select`, because whoosh
has no "at least n of these".
"""

import secrets
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from whoosh import fields, index, query
from whoosh.analysis import SpaceSeparatedTokenizer
from whoosh.filedb.filestore import RamStorage

from index.engine.protocol import Candidates, IndexEntry, Scale
from index.errors import IndexCorrupt
from index.query.collection_statistics import CELL_BITS
from index.query.parser import Condition, Phrase, Query, QueryNode, SiteFilter, Term, select

_BORDER = " \u00b6 "


class WhooshEngine:
    """An engine of whoosh's in a directory of its own, or in memory where `path` is None. Raises IndexCorrupt."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._added: list[IndexEntry] = []
        self._removed: set[int] = set()
        self._removed_from: int | None = None
        self._open()

    def add(self, entries: Sequence[IndexEntry]) -> None:
        self._added.extend(entries)

    def remove(self, numbers: Collection[int]) -> None:
        self._removed.update(numbers)

    def remove_from(self, number: int) -> None:
        self._removed_from = number

    def commit(self) -> None:
        writer = self._index.writer()
        if self._removed_from is not None:
            writer.delete_by_query(query.NumericRange("number", self._removed_from, None))
        if self._removed:  # one query: a deletion each would scan the index each
            writer.delete_by_query(query.Or([query.Term("number", number) for number in sorted(self._removed)]))
        for entry in self._added:
            writer.add_document(**_document(entry))
        writer.commit()
        self._added, self._removed, self._removed_from = [], set(), None
        self._generation += 1

    def clear(self) -> None:
        self.close()
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
        self._open()

    def counts(self, node: QueryNode, slot_bits: int) -> Mapping[int, int]:
        self._refresh()
        found = map(self._documents.__getitem__, select(node, self._find))
        return Counter(cell >> (CELL_BITS - slot_bits) for _, cell in found)

    def candidates(self, query: Query, slots: frozenset[int], slot_bits: int, scale: Scale, limit: int) -> Candidates:
        self._refresh()
        shift, matching = CELL_BITS - slot_bits, map(self._documents.__getitem__, select(query.root, self._find))
        found = sorted(number for number, cell in matching if cell >> shift in slots)
        complete = len(found) <= limit
        return Candidates(found[:limit], complete, 0.0 if complete else float("inf"))

    def close(self) -> None:
        if self._searcher is not None:
            self._searcher.close()
        self._index.close()

    def _open(self) -> None:
        schema = fields.Schema(
            number=fields.NUMERIC(int, bits=64, stored=True),
            cell=fields.STORED,
            text=fields.TEXT(analyzer=SpaceSeparatedTokenizer(), phrase=True),
            site=fields.KEYWORD,
            language=fields.ID,
        )
        try:
            if self._path is None:
                self._index = _Memory().create_index(schema)
            else:
                self._path.mkdir(parents=True, exist_ok=True)
                there = index.exists_in(str(self._path))
                self._index = index.open_dir(str(self._path)) if there else index.create_in(str(self._path), schema)
        except (index.IndexError, OSError, EOFError) as error:
            raise IndexCorrupt(str(self._path), str(error), "delete this directory and restart") from None
        self._generation, self._seen = 0, -1
        self._searcher: Any = None
        self._documents = _DocumentTable()

    @property
    def documents_read(self) -> int:
        """How many stored documents the reading thread has read so far, to know their numbers and cells."""
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

    def _find(self, leaf: Condition) -> frozenset[int]:
        return frozenset(self._searcher.docs_for_query(_query(leaf)))


class _DocumentTable:
    """The number and cell of each document, by its place in whoosh's index.

    A segment is written once and only loses documents, so each is read once, and a commit costs what it wrote.
    """

    def __init__(self) -> None:
        self.read_count = 0
        self._starts: list[int] = []  # the first place of each segment
        self._segments: dict[str, list[tuple[int, int]]] = {}
        self._parts: list[list[tuple[int, int]]] = []

    def refresh(self, reader: Any) -> None:
        """Take in the segments of a commit that are new, and forget those that it merged."""
        full = [(leaf, start) for leaf, start in reader.leaf_readers() if leaf.doc_count_all()]
        leaves = {leaf.segment().segment_id(): (leaf, start) for leaf, start in full}
        self._segments = {name: self._segments.get(name) or self._read(leaf) for name, (leaf, _) in leaves.items()}
        self._starts, self._parts = [start for _, start in leaves.values()], list(self._segments.values())

    def __getitem__(self, place: int) -> tuple[int, int]:
        segment = bisect_right(self._starts, place) - 1
        return self._parts[segment][place - self._starts[segment]]

    def _read(self, leaf: Any) -> list[tuple[int, int]]:
        self.read_count += leaf.doc_count_all()
        stored = map(leaf.stored_fields, range(leaf.doc_count_all()))
        return [(kept["number"], kept["cell"]) for kept in stored]


class _Memory(RamStorage):  # type: ignore[misc]
    """whoosh writes columns to a folder below /tmp, by the name of the index: programs would share it, and empty it."""

    def temp_storage(self, name: str | None = None) -> Any:
        return super().temp_storage(f"{name or ''}.{secrets.token_hex(8)}")


def _query(leaf: Condition) -> query.Query:
    if isinstance(leaf, Term):
        return query.Term("text", leaf.term)
    if isinstance(leaf, Phrase):
        return query.Phrase("text", list(leaf.terms))
    return query.Term("site", leaf.host) if isinstance(leaf, SiteFilter) else query.Term("language", leaf.code)


def _document(entry: IndexEntry) -> dict[str, object]:
    found = entry.fields
    lines = [found.title, *found.headings, found.url, found.body, found.boilerplate]
    return {
        "number": entry.number,
        "cell": entry.cell,
        "text": _BORDER.join(" ".join(line) for line in lines),
        "site": " ".join(entry.hosts),
        "language": entry.language,
    }
