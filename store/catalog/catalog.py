"""The index of the segments: SQLite, rebuilt from them whenever it is lost or damaged.

`records` has the newest version of every record and its place on disk, numbered by its last change. `gone` has the
removed records, for a while. Both together are the change log. `cells` keeps the number of records and their 256-bit
fingerprint, per 1/65,536 of the key space and expiry day. So a slot's summary costs a handful of rows whatever
slot_bits is. A row never points past durable bytes: segments are synced before it is written.

One follower reads the change log for all that keep up with the store; the shard mover reads it, too. It remembers the
`sequence` of the last change it saw, and the `incarnation` that the number belongs to.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from dht import Key
from store.catalog import author_table, cell_sums, grant_table, row_table
from store.catalog.catalog_reader import CatalogReader, RecordChange
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
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
{author_table.SCHEMA}
PRAGMA user_version = {FORMAT};
"""


class Catalog(CatalogReader):
    """The index of one disk. It reads and writes in the store's writer thread; `reader` belongs to the event loop,
    `range_reader` to the thread that looks through key ranges."""

    def __init__(self, disk: Disk) -> None:
        """Open or create; raises StoreCorrupt where the file is damaged or of another format."""
        self._disk = disk
        self._path = f"{disk.path}/catalog.sqlite"
        errors = SqliteErrors(self._path)
        with errors:
            super().__init__(disk.database(), errors)
            self.reader = CatalogReader(disk.database(), errors)
            self.range_reader = CatalogReader(disk.database(), errors)
            (found,) = self.database.execute("PRAGMA user_version").fetchone()
            if found == 0:
                self.database.executescript(_SCHEMA)
            elif found != FORMAT:
                raise StoreCorrupt(self._path, f"format {found}, this program reads {FORMAT}", "use the newer program")
            elif not self.note("clean"):
                (verdict,) = self.database.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise StoreCorrupt(self._path, str(verdict), "it is rebuilt from the segments")
            self.database.execute(row_table.BY_HOST)
            author_table.upgrade(self.database)
            self.sequence: int = int(self.note("sequence") or 0)  # of the last committed change
            self._next = self.sequence
        self.left, self.authors = LeftKeys(), author_table.Authors(self.database)

    @property
    def is_damaged(self) -> bool:
        """Whether SQLite met damage in the file since it was opened."""
        return self._errors.met_damage

    def close(self) -> None:
        """Close all three connections."""
        for connection in (self.reader.database, self.range_reader.database, self.database):
            self._disk.release(connection)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Change the index atomically inside a `with` block; any error rolls everything back."""
        with self._errors:
            self.database.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.write_note("sequence", self._next)
                self.database.execute("COMMIT")
                self.sequence = self._next
            except BaseException:
                self._next = self.sequence
                if self.database.in_transaction:  # where the disk is full SQLite may have rolled back by itself
                    with suppress(sqlite3.Error):  # the first error is the one to tell
                        self.database.execute("ROLLBACK")
                raise

    def write_note(self, name: str, value: bytes | int) -> None:
        """Remember a value inside a transaction."""
        self.database.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    def put(self, come: Sequence[CatalogRow], replaced: Sequence[CatalogRow | None]) -> None:
        """Set rows inside a transaction; `replaced` are the live rows in their place before, in the same order, and no
        row comes twice."""
        went = [row for row in replaced if row is not None]
        if self.database.execute("SELECT 1 FROM gone LIMIT 1").fetchone():
            self.database.executemany("DELETE FROM gone WHERE id = ? AND kind = ?", [(r.id, r.kind) for r in come])
        row_table.strike(self.database, went)
        row_table.add(self.database, come, self._next + 1)
        for sequence, (row, before) in enumerate(zip(come, replaced, strict=True), start=self._next + 1):
            if before is not None and before.key != row.key:
                self.left.note(sequence, before.key)
        self._next += len(come)
        author_table.count(self.database, went, come)
        self.authors.note_replaced(went)
        row_table.leave_sites(self.database, {r.key for r in went} - {r.key for r in come})
        cell_sums.count(self.database, went, come)

    def remove(self, went: Sequence[CatalogRow], today: int, *, is_told: bool = True) -> None:
        """Turn live rows into tombstones inside a transaction; where nobody `is_told`, into nothing."""
        row_table.strike(self.database, went)
        told = went if is_told else ()
        values = [(n, r.kind, r.id, r.key, today) for n, r in enumerate(told, start=self._next + 1)]
        self.database.executemany("INSERT INTO gone VALUES (?,?,?,?,?)", values)
        self._next += len(told)
        author_table.count(self.database, went, ())
        row_table.leave_sites(self.database, [row.key for row in went])
        cell_sums.count(self.database, went, ())

    def move(self, moved: Sequence[CatalogRow], places: Sequence[SegmentPlace]) -> None:
        """Note inside a transaction that compaction rewrote frames; no change for anybody who follows the log."""
        row_table.move(self.database, moved, places)

    def forget_tombstones(self, before_day: int) -> None:
        """Drop tombstones older than a day inside a transaction; cursors before the newest of them start from zero."""
        (newest,) = self.database.execute("SELECT max(sequence) FROM gone WHERE day < ?", (before_day,)).fetchone()
        if newest is not None:
            self.database.execute("DELETE FROM gone WHERE day < ?", (before_day,))
            self.write_note("horizon", max(newest, int(self.note("horizon") or 0)))

    def expired(self, today: int, limit: int) -> list[CatalogRow]:
        """Return up to `limit` live rows whose expiry day is past."""
        with self._errors:
            found: list[CatalogRow] = []
            for cell in cell_sums.expired(self.database, today):
                found += [r for r in self.walk(*cell_sums.keys_of(cell)) if r.expires_day < today]
                if len(found) >= limit:
                    break
            return found[:limit]

    def checkpoint(self) -> None:
        """Make the index itself durable; a segment may be deleted only after the rows that left it are."""
        with self._errors:
            self.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


MOST_LEFT = 8192  # moves remembered: whoever looks every two seconds sees some 4,000 a second


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


class ChangeLog:
    """The change log of one store, coalesced by record, removals included."""

    def __init__(self, catalog: Catalog, incarnation: bytes) -> None:
        """`incarnation`: 16 bytes, new whenever the log starts anew because the index was rebuilt."""
        self._catalog, self.incarnation = catalog, incarnation
        self._changed = asyncio.Event()

    @property
    def sequence(self) -> int:
        """The number of the last change."""
        return self._catalog.sequence

    @property
    def horizon(self) -> int:
        """The change up to which removals are forgotten: a follower with a cursor below it (but 0) starts from zero."""
        return int(self._catalog.reader.note("horizon") or 0)

    def changes(self, after: int, limit: int) -> list[RecordChange]:
        """Return the records changed since `after`, each once, by their last change; at most `limit`."""
        return self._catalog.reader.changes(after, limit) if after < self.sequence else []

    def left(self, after: int) -> frozenset[Key] | None:
        """Return the keys at which records lay until a change after `after` that lie at others now; None where some
        are forgotten."""
        return self._catalog.left.since(after)

    async def wait(self, after: int) -> None:
        """Return once there is a change after `after`."""
        while self.sequence <= after:
            await self._changed.wait()

    def notify(self) -> None:
        """Wake everybody who waits, because something may have been committed."""
        self._changed.set()
        self._changed = asyncio.Event()
