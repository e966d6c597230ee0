"""The index of the segments: SQLite, rebuilt from them whenever it is lost or damaged.

`records` has the newest version of every record and where it lies, numbered by its last change; `gone` what was
removed, for a while: both together are the change log. `cells` keeps, per 1/65,536 of the key space and expiry day, how
many records there are and a 256-bit fingerprint of them, so that a slot's summary costs a handful of rows whatever
slot_bits is. A row never points past durable bytes: segments are synced before it is written.
"""

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress

from dht import DocumentId, Key
from store.catalog import cell_sums, grant_table, row_table, shared_columns
from store.catalog.catalog_reader import CatalogReader
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
from store.record.record import Kind
from store.segments.file_system import Disk, SqliteErrors
from store.segments.frame import SegmentPlace

FORMAT = 1  # of the index and of what segments hold; a store of another one is refused
_SCHEMA = f"""
{row_table.SCHEMA}
CREATE TABLE gone (sequence INTEGER PRIMARY KEY, kind INTEGER, id BLOB, key BLOB, day INTEGER);
CREATE INDEX gone_by_id ON gone (id);
{cell_sums.SCHEMA}
CREATE TABLE owed (peer BLOB, kind INTEGER, id BLOB, key BLOB, at_ms INTEGER, since REAL, size INTEGER, body BLOB,
  PRIMARY KEY (peer, kind, id)) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
{grant_table.SCHEMA}
{row_table.BY_FORMER};
PRAGMA user_version = {FORMAT};
"""


class Catalog:
    """The index of one disk. All methods belong to the store's writer thread, `reader` to the event loop and
    `range_reader` to the thread that looks through key ranges."""

    def __init__(self, disk: Disk) -> None:
        """Open or create; raises StoreCorrupt where the file is damaged or of another format."""
        self._disk = disk
        self._path = f"{disk.path}/catalog.sqlite"
        self._errors = SqliteErrors(self._path)
        with self._errors:
            self.writer = disk.database()
            self.reader = CatalogReader(disk.database(), self._errors)
            self.range_reader = CatalogReader(disk.database(), self._errors)
            (found,) = self.writer.execute("PRAGMA user_version").fetchone()
            if found == 0:
                self.writer.executescript(_SCHEMA)
            elif found != FORMAT:
                raise StoreCorrupt(self._path, f"format {found}, this program reads {FORMAT}", "use the newer program")
            elif not self.note("clean"):
                (verdict,) = self.writer.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise StoreCorrupt(self._path, str(verdict), "it is rebuilt from the segments")
            self.sequence: int = int(self.note("sequence") or 0)  # of the last committed change
            self._next = self.sequence
        self.left = LeftKeys()

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite met damage in the file since it was opened."""
        return self._errors.met_damage

    def close(self) -> None:
        """Close all three connections."""
        for connection in (self.reader.database, self.range_reader.database, self.writer):
            self._disk.release(connection)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Change the index atomically inside a `with` block; any error rolls everything back."""
        with self._errors:
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.write_note("sequence", self._next)
                self.writer.execute("COMMIT")
                self.sequence = self._next
            except BaseException:
                self._next = self.sequence
                if self.writer.in_transaction:  # where the disk is full SQLite may have rolled back by itself
                    with suppress(sqlite3.Error):  # the first error is the one to tell
                        self.writer.execute("ROLLBACK")
                raise

    def note(self, name: str) -> bytes | int | None:
        """Return a remembered value, None where there is none."""
        row = self.writer.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def write_note(self, name: str, value: bytes | int) -> None:
        """Remember a value inside a transaction."""
        self.writer.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def rows_of(self, names: Iterable[tuple[Kind, DocumentId]]) -> list[CatalogRow | None]:
        """Return the live row of each record, in order, None where there is none."""
        with self._errors:
            return row_table.named(self.writer, list(names))

    def formers(self, name: bytes) -> list[CatalogRow]:
        """Return the rows of a page's former versions; `name` is what their ids begin with."""
        with self._errors:
            return row_table.formers(self.writer, name, name.ljust(20, b"\xff"), -1)

    def formers_after(self, after: bytes, limit: int) -> list[CatalogRow]:
        """Return up to `limit` rows of former versions of pages in order of their ids, after one."""
        with self._errors:
            return row_table.formers(self.writer, after, b"\xff" * 20, limit)

    def put(self, come: Sequence[CatalogRow], replaced: Sequence[CatalogRow | None]) -> None:
        """Set rows inside a transaction; `replaced` are the live rows in their place before, in the same order, and no
        row comes twice."""
        went = [row for row in replaced if row is not None]
        if self.writer.execute("SELECT 1 FROM gone LIMIT 1").fetchone():
            self.writer.executemany("DELETE FROM gone WHERE id = ? AND kind = ?", [(r.id, r.kind) for r in come])
        row_table.strike(self.writer, went)
        row_table.add(self.writer, come, self._next + 1)
        for sequence, (row, before) in enumerate(zip(come, replaced, strict=True), start=self._next + 1):
            if before is not None and before.key != row.key:
                self.left.note(sequence, before.key)
        self._next += len(come)
        shared_columns.leave_sites(self.writer, {r.key for r in went} - {r.key for r in come})
        cell_sums.count(self.writer, went, come)

    def remove(self, went: Sequence[CatalogRow], today: int) -> None:
        """Turn live rows into tombstones inside a transaction."""
        row_table.strike(self.writer, went)
        values = [(n, r.kind, r.id, r.key, today) for n, r in enumerate(went, start=self._next + 1)]
        self.writer.executemany("INSERT INTO gone VALUES (?,?,?,?,?)", values)
        self._next += len(went)
        shared_columns.leave_sites(self.writer, [row.key for row in went])
        cell_sums.count(self.writer, went, ())

    def move(self, moved: Sequence[CatalogRow], places: Sequence[SegmentPlace]) -> None:
        """Note inside a transaction that compaction rewrote frames; no change for anybody who follows the log."""
        row_table.move(self.writer, moved, places)

    def forget_tombstones(self, before_day: int) -> None:
        """Drop tombstones older than a day inside a transaction; cursors before the newest of them start from zero."""
        (newest,) = self.writer.execute("SELECT max(sequence) FROM gone WHERE day < ?", (before_day,)).fetchone()
        if newest is not None:
            self.writer.execute("DELETE FROM gone WHERE day < ?", (before_day,))
            self.write_note("horizon", max(newest, int(self.note("horizon") or 0)))

    def expired(self, today: int, limit: int) -> list[CatalogRow]:
        """Return up to `limit` live rows whose expiry day is past."""
        with self._errors:
            found: list[CatalogRow] = []
            for cell in cell_sums.expired(self.writer, today):
                found += [r for r in row_table.between(self.writer, *cell_sums.keys_of(cell)) if r.expires_day < today]
                if len(found) >= limit:
                    break
            return found[:limit]

    def inside(self, first: bytes, last: bytes) -> list[CatalogRow]:
        """Return the live rows of a key range, whatever their kind."""
        with self._errors:
            return list(row_table.between(self.writer, first, last))

    def rows_in(self, segment: int) -> list[CatalogRow]:
        """Return the live rows whose frames lie in a segment, in the order of the file."""
        with self._errors:
            return row_table.in_segment(self.writer, segment)

    def live_bytes(self) -> dict[int, int]:
        """Sum the bytes of live records by segment."""
        with self._errors:
            return shared_columns.live_bytes(self.writer)

    def grant_bytes(self) -> dict[int, int]:
        """Sum about how many bytes grants take, by segment."""
        with self._errors:
            return grant_table.bytes_of(self.writer)

    def spare(self) -> None:
        """Forget the pages of the file that the writer's connection remembers."""
        with self._errors:
            self.writer.execute("PRAGMA shrink_memory")

    def checkpoint(self) -> None:
        """Make the index itself durable; a segment may be deleted only after the rows that left it are."""
        with self._errors:
            self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


MOST_LEFT = 8192  # moves remembered: a follower that looks every two seconds sees some 4,000 a second


class LeftKeys:
    """Remembers the keys that records left, by the number of the change that moved them, since the store was opened."""

    def __init__(self) -> None:
        self._left: deque[tuple[int, Key]] = deque(maxlen=MOST_LEFT)
        self._known_after = 0  # what was left by later changes is all here

    def note(self, sequence: int, key: Key) -> None:
        """Take note that a change moved a record away from a key."""
        if len(self._left) == MOST_LEFT:
            self._known_after = self._left[0][0]
        self._left.append((sequence, key))

    def since(self, after: int) -> frozenset[Key] | None:
        """Return the keys left by changes after one; None where some of them may be forgotten."""
        left = tuple(self._left)  # at once: the writer thread goes on
        return frozenset(key for sequence, key in left if sequence > after) if after >= self._known_after else None
