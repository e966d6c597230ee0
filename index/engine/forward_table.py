"""Forward records on disk: one SQLite file with the documents, the totals of their cells, and the feed's cursor.

All of it changes in one transaction, after the engine has committed. So after a crash the engine can only be ahead, by
numbers that this table never gave out. They are taken back when it opens. One thread writes; others read, one at a
time.
"""

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from dht import DocumentId, Key
from index.errors import failure_of
from index.query.collection_statistics import SlotTotals
from index.text.forward_index import lengths_in

PAGE_BYTES = 1 << 15  # some 14 rows; half of a page of 4 kB would stay empty
LOG_PAGES = 128  # of the write-ahead log, 4 MB, before it is written back
_CHUNK = 256  # rows of about 2 kB that a reader holds at once
_SCHEMA = """
CREATE TABLE IF NOT EXISTS document (number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, key BLOB NOT NULL,
  cell INTEGER NOT NULL, version BLOB NOT NULL, record BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS cell (cell INTEGER PRIMARY KEY, documents INTEGER NOT NULL, title INTEGER NOT NULL,
  headings INTEGER NOT NULL, url INTEGER NOT NULL, body INTEGER NOT NULL, fingerprint BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS unindexed ON document (cell) WHERE record = x'';
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""


_UNINDEXED = "record = x''"


class ForwardRow(NamedTuple):
    """One document. `record`: its forward record, empty where the document is stored here and not indexed."""

    number: int
    id: DocumentId
    key: Key
    cell: int  # the first 16 bits of its key
    version: bytes
    record: bytes

    def counted(self, totals: SlotTotals, sign: int = 1) -> SlotTotals:
        """Return the totals of the document's cell with it (or, sign -1, without)."""
        return totals.plus(self.id + self.version, lengths_in(self.record) if self.record else (0, 0, 0, 0), sign)


class ForwardTable:
    """The table in the file at `path`, or in memory where that is None. Raises IndexCorrupt where it is damaged, and
    MachineRefuses."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        with self._failures():
            self._writer = self._connect()
            self._writer.executescript(_SCHEMA)
            self._reader = self._writer if path is None else self._connect()
        # In memory both threads share one connection; on disk each has its own and this lock is never contended.
        self._writing = threading.Lock()
        self._reading = self._writing if path is None else threading.Lock()

    def about(self, name: str) -> bytes:
        """Return a remembered value, b"" where there is none."""
        with self._failures(), self._reading:
            row = self._reader.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
        return bytes(row[0]) if row else b""

    def next_number(self) -> int:
        """Return the number after the highest in use."""
        with self._failures(), self._writing:
            return int(self._writer.execute("SELECT coalesce(max(number), 0) + 1 FROM document").fetchone()[0])

    def totals(self) -> dict[int, SlotTotals]:
        """Return the totals of all cells that hold something."""
        with self._failures(), self._reading:
            rows = self._reader.execute("SELECT * FROM cell ORDER BY cell").fetchall()
        return {cell: SlotTotals(n, (t, h, u, b), int.from_bytes(mark, "big")) for cell, n, t, h, u, b, mark in rows}

    def unindexed(self) -> dict[int, int]:
        """Count by cell the documents that are not indexed; cells without any are left out."""
        with self._failures(), self._reading:
            return dict(self._reader.execute(f"SELECT cell, count(*) FROM document WHERE {_UNINDEXED} GROUP BY cell"))

    def unindexed_of(self, cells: Sequence[int], limit: int, first: bytes = b"") -> list[DocumentId]:
        """Return up to `limit` documents of these cells that are not indexed, those from the id `first` on before the
        others."""
        marks = ",".join("?" * len(cells))
        found = f"SELECT id FROM document WHERE {_UNINDEXED} AND cell IN ({marks}) ORDER BY id < ?, id LIMIT ?"
        with self._failures(), self._reading:
            return [DocumentId(id_) for (id_,) in self._reader.execute(found, (*cells, first, limit))]

    def indexed_from(self, number: int) -> list[ForwardRow]:
        """Return the next indexed documents from a number on, by ascending number; for the writing thread."""
        found = f"SELECT * FROM document WHERE number >= ? AND NOT {_UNINDEXED} ORDER BY number LIMIT {_CHUNK}"
        with self._failures(), self._writing:
            return list(map(ForwardRow._make, self._writer.execute(found, (number,))))

    def find(self, ids: Sequence[DocumentId]) -> dict[DocumentId, ForwardRow]:
        """Return the rows of those of these documents that are there; for the writing thread."""
        with self._failures(), self._writing:
            return {row.id: row for row in _select(self._writer, "id", ids)}

    def rows(self, numbers: Sequence[int]) -> Iterator[ForwardRow]:
        """Yield the rows of those of these numbers that are there, read in chunks; for the reading threads."""
        for start in range(0, len(numbers), _CHUNK):
            with self._failures(), self._reading:
                found = list(_select(self._reader, "number", numbers[start : start + _CHUNK]))
            yield from found

    def commit(
        self,
        removed: Sequence[int],
        added: Sequence[ForwardRow],
        totals: Mapping[int, SlotTotals],
        cursor: bytes,
    ) -> None:
        """Change rows, the totals of the named cells and the cursor, all or nothing."""
        with self._failures(), self._writing, self._writer as open_:
            open_.executemany("DELETE FROM document WHERE number = ?", [(number,) for number in removed])
            open_.executemany("INSERT INTO document VALUES (?, ?, ?, ?, ?, ?)", added)
            open_.executemany("INSERT OR REPLACE INTO cell VALUES (?, ?, ?, ?, ?, ?, ?)", map(_sums, totals.items()))
            open_.execute("INSERT OR REPLACE INTO about VALUES ('cursor', ?)", (cursor,))

    def clear(self, **about: bytes) -> None:
        """Forget everything, and remember these values instead."""
        with self._failures(), self._writing, self._writer as open_:
            for name in ("document", "cell", "about"):
                open_.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _SCHEMA.strip().rstrip(";").split(";"):
                open_.execute(statement)
            open_.executemany("INSERT INTO about VALUES (?, ?)", list(about.items()))

    def spare(self) -> None:
        """Forget the pages of the file that are remembered."""
        for turn, connection in ((self._writing, self._writer), (self._reading, self._reader)):
            with self._failures(), turn:
                connection.execute("PRAGMA shrink_memory")

    def close(self) -> None:
        """Close both connections."""
        with self._writing:
            self._writer.close()
        if self._reader is not self._writer:
            self._reader.close()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise failure_of(self._path, error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path or ":memory:", check_same_thread=False)
        connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # where the file is new
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        connection.execute("PRAGMA synchronous = NORMAL")  # a power cut may undo commits: they are followed again
        return connection


def _select(connection: sqlite3.Connection, column: str, values: Sequence[object]) -> Iterator[ForwardRow]:
    marks = ",".join("?" * len(values))
    rows = connection.execute(f"SELECT * FROM document WHERE {column} IN ({marks})", list(values))
    return map(ForwardRow._make, rows)


def _sums(item: tuple[int, SlotTotals]) -> tuple[object, ...]:
    cell, totals = item
    return cell, totals.documents, *totals.lengths, totals.fingerprint_bytes
