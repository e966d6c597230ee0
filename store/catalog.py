"""The index of the segments: SQLite, rebuilt from them whenever it is lost or damaged.

One row a record: its newest version, where it lies, and the sequence of its last change; a removed record leaves its
row as a tombstone for a while, so the table is the change log too. `cells` keeps, per 1/65,536 of the key space and
expiry day, how many records there are and a 256-bit fingerprint of them, so that a slot's summary costs a handful of
rows whatever slot_bits is. A row never points past durable bytes: segments are synced before it is written.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from dht import DocumentId, Key
from store import cells
from store.cells import Counted, Summary
from store.disk import Disk
from store.errors import DiskFull, StoreCorrupt
from store.record import Kind, Version
from store.segments import Place

FORMAT = 1
_SCHEMA = f"""
CREATE TABLE records (kind INTEGER, id BLOB, key BLOB, epoch INTEGER, at_ms INTEGER, digest BLOB, expires_day INTEGER,
  segment INTEGER, start INTEGER, head_bytes INTEGER, content_bytes INTEGER, sequence INTEGER, removed_day INTEGER,
  PRIMARY KEY (kind, id)) WITHOUT ROWID;
CREATE INDEX by_key ON records (kind, key, id) WHERE removed_day = 0;
CREATE UNIQUE INDEX by_sequence ON records (sequence);
{cells.SCHEMA}
CREATE TABLE owed (peer BLOB, kind INTEGER, id BLOB, key BLOB, at_ms INTEGER, since REAL, size INTEGER, body BLOB,
  PRIMARY KEY (peer, kind, id)) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
_COLUMNS = "kind, id, key, epoch, at_ms, digest, expires_day, segment, start, head_bytes, content_bytes, sequence"
_UPSERT = f"INSERT OR REPLACE INTO records ({_COLUMNS}, removed_day) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"


class Row(NamedTuple):
    """One live record of the index."""

    kind: Kind
    id: DocumentId
    key: Key
    version: Version
    expires_day: int
    place: Place


class Change(NamedTuple):
    """One line of the change log: the record changed last at `sequence`, and whether it went."""

    sequence: int
    kind: Kind
    id: DocumentId
    key: Key
    removed: bool


class Catalog:
    """The index of one disk. `writer` calls come from the store's writer thread, `rows` from the thread that looks
    through ranges for peers, other reads from the event loop."""

    def __init__(self, disk: Disk) -> None:
        """Open or create; raises StoreCorrupt where the file is damaged or of another format."""
        self._disk = disk
        self._path = f"{disk.path}/catalog.sqlite"
        with self._wrapped():
            self.writer = disk.database()
            self.reader = disk.database()
            self._looker = disk.database()
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

    def close(self) -> None:
        self._disk.release(self.reader)
        self._disk.release(self._looker)
        self._disk.release(self.writer)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One atomic change of the index; rolled back on any error."""
        with self._wrapped():
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.write_note("sequence", self._next)
                self.writer.execute("COMMIT")
                self.sequence = self._next
            except BaseException:
                self.writer.execute("ROLLBACK")
                self._next = self.sequence
                raise

    def note(self, name: str) -> bytes | int | None:
        """A remembered value."""
        row = self.writer.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def write_note(self, name: str, value: bytes | int) -> None:
        self.writer.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))

    # writer thread

    def rows_of(self, names: Iterable[tuple[Kind, DocumentId]]) -> list[Row | None]:
        """The live rows of records, in order."""
        with self._wrapped():
            return [_find(self.writer, kind, id) for kind, id in names]

    def put(self, rows: Sequence[Row], replaced: Sequence[Row | None]) -> None:
        """Set rows inside a transaction; `replaced` are the live rows in their place before, and no row comes twice."""
        values = []
        for row in rows:
            self._next += 1
            values.append((row.kind, row.id, row.key, *row.version, row.expires_day, *row.place, self._next, 0))
        self.writer.executemany(_UPSERT, values)
        self._count([r for r in replaced if r is not None], rows)

    def remove(self, rows: Sequence[Row], today: int) -> None:
        """Turn live rows into tombstones inside a transaction."""
        values = []
        for row in rows:
            self._next += 1
            values.append((self._next, today, row.kind, row.id))
        self.writer.executemany(
            "UPDATE records SET sequence = ?, removed_day = ?, segment = 0 WHERE kind = ? AND id = ?", values
        )
        self._count(rows, ())

    def move(self, rows: Sequence[Row], places: Sequence[Place]) -> None:
        """Note inside a transaction that compaction rewrote frames; no change for anybody who follows the log."""
        self.writer.executemany(
            "UPDATE records SET segment=?, start=?, head_bytes=?, content_bytes=? "
            "WHERE kind=? AND id=? AND segment=? AND start=?",
            [(*p, r.kind, r.id, r.place.segment, r.place.offset) for r, p in zip(rows, places, strict=True)],
        )

    def forget_tombstones(self, before_day: int) -> None:
        """Drop tombstones older than a day inside a transaction; cursors before the newest of them start from zero."""
        where = "removed_day > 0 AND removed_day < ?"
        (newest,) = self.writer.execute(f"SELECT max(sequence) FROM records WHERE {where}", (before_day,)).fetchone()
        if newest is not None:
            self.writer.execute(f"DELETE FROM records WHERE {where}", (before_day,))
            self.write_note("horizon", max(newest, int(self.note("horizon") or 0)))

    def expired(self, today: int, limit: int) -> list[Row]:
        """Live rows whose expiry day is past."""
        with self._wrapped():
            found: list[Row] = []
            for cell in cells.occupied(self.writer, expired_before=today):
                first, last = cells.keys_of(cell)
                found += [r for k in Kind for r in _between(self.writer, k, first, b"", last) if r.expires_day < today]
                if len(found) >= limit:
                    break
            return found[:limit]

    def inside(self, first: bytes, last: bytes) -> list[Row]:
        """Live rows of a key range, both kinds."""
        with self._wrapped():
            return [row for kind in Kind for row in _between(self.writer, kind, first, b"", last)]

    def rows_in(self, segment: int) -> list[Row]:
        """Live rows whose frames lie in a segment, in the order of the file."""
        with self._wrapped():
            return list(map(_row, self.writer.execute(f"{_LIVE} segment = ? ORDER BY start", (segment,))))

    def live_bytes(self) -> dict[int, int]:
        """Bytes of live frames by segment."""
        with self._wrapped():
            query = (
                "SELECT segment, sum(head_bytes + content_bytes) FROM records WHERE removed_day = 0 GROUP BY segment"
            )
            return dict(self.writer.execute(query))

    def checkpoint(self) -> None:
        """Make the index itself durable; a segment may be deleted only after the rows that left it are."""
        with self._wrapped():
            self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    # looking thread

    def sites(self, kind: Kind, first: bytes, last: bytes, least: int) -> list[tuple[bytes, int]]:
        """The first 10 bytes of keys, and how many live rows have them: those of which there are at least so many."""
        query = (
            "SELECT substr(key, 1, 10), count(*) FROM records WHERE removed_day = 0 AND kind = ? "
            "AND key BETWEEN ? AND ? GROUP BY 1 HAVING count(*) >= ?"
        )
        with self._wrapped():
            return self._looker.execute(query, (kind, first, last, least)).fetchall()

    def rows(self, first: bytes, last: bytes) -> list[Row]:
        """Live rows of a key range, all kinds, by kind, key and id."""
        return [row for kind in Kind for row in self._steps(self._looker, kind, first, last)]

    # event loop

    def find(self, kind: Kind, id: DocumentId) -> Row | None:
        with self._wrapped():
            return _find(self.reader, kind, id)

    def scan(self, kind: Kind, first: bytes, last: bytes) -> Iterator[Row]:
        """Live rows of a key range, by key and id."""
        return self._steps(self.reader, kind, first, last)

    def _steps(self, connection: sqlite3.Connection, kind: Kind, first: bytes, last: bytes) -> Iterator[Row]:
        """Read in steps, so that no reader holds the index."""
        step, after = 512, (first, b"")
        while True:
            with self._wrapped():
                rows = list(_between(connection, kind, *after, last, limit=step))
            yield from rows
            if len(rows) < step:
                return
            after = (rows[-1].key, rows[-1].id)

    def changes(self, after: int, limit: int) -> list[Change]:
        with self._wrapped():
            query = "SELECT sequence, kind, id, key, removed_day FROM records WHERE sequence > ? ORDER BY 1 LIMIT ?"
            rows = self.reader.execute(query, (after, limit)).fetchall()
            return [Change(s, Kind(kind), DocumentId(id), Key(key), bool(day)) for s, kind, id, key, day in rows]

    def summary(self, first: bytes, last: bytes, today: int) -> Summary:
        with self._wrapped():
            return cells.summary(self.reader, first, last, today)

    def occupied(self) -> list[int]:
        """Numbers of the cells that hold anything."""
        with self._wrapped():
            return cells.occupied(self.reader)

    def _count(self, gone: Sequence[Row], come: Sequence[Row]) -> None:
        changes = [(-1, row) for row in gone] + [(1, row) for row in come]
        cells.count(self.writer, (Counted(sign, r.kind, r.id, r.key, r.version, r.expires_day) for sign, r in changes))

    @contextmanager
    def _wrapped(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
                raise DiskFull(self._path, "no space left") from error
            raise StoreCorrupt(
                self._path, str(error), "stop, delete it, start: it is rebuilt from the segments"
            ) from error


def _row(values: Sequence[object]) -> Row:
    kind, id, key, epoch, at_ms, digest, day, segment, start, head_bytes, content_bytes = values
    place = Place(segment, start, head_bytes, content_bytes)  # type: ignore[arg-type]
    return Row(Kind(kind), DocumentId(id), Key(key), Version(epoch, at_ms, digest), day, place)  # type: ignore[arg-type]


_LIVE = f"SELECT {_COLUMNS.rpartition(',')[0]} FROM records WHERE removed_day = 0 AND"


def _find(connection: sqlite3.Connection, kind: Kind, id: DocumentId) -> Row | None:
    values = connection.execute(f"{_LIVE} kind = ? AND id = ?", (kind, id)).fetchone()
    return _row(values) if values else None


def _between(
    connection: sqlite3.Connection, kind: Kind, first: bytes, after_id: bytes, last: bytes, *, limit: int = -1
) -> Iterator[Row]:
    query = f"{_LIVE} kind = ? AND (key, id) > (?, ?) AND key <= ? ORDER BY key, id LIMIT ?"
    return map(_row, connection.execute(query, (kind, first, after_id, last, limit)))
