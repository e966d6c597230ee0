"""The index of the segments: SQLite, rebuilt from them whenever it is lost or damaged.

One row a record, by the sequence of its last change: its newest version and where it lies; a removed record leaves its
row as a tombstone for a while, so the table is the change log. Both indexes hold the first bytes of what they look up
and lead to a few rows, which are compared in full. `cells` keeps, per 1/65,536 of the key space and expiry day, how
many records there are and a 256-bit fingerprint of them, so that a slot's summary costs a handful of rows whatever
slot_bits is. A row never points past durable bytes: segments are synced before it is written.
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

FORMAT = 2
_AT_ONCE = 64  # records looked up by one statement; such statements are kept, so there must be few
STEP = 512  # rows read at once, so that no reader holds the index
_SCHEMA = f"""
CREATE TABLE records (sequence INTEGER PRIMARY KEY, kind INTEGER, id BLOB, key BLOB, epoch INTEGER, at_ms INTEGER,
  digest BLOB, expires_day INTEGER, segment INTEGER, start INTEGER, head_bytes INTEGER, content_bytes INTEGER,
  part INTEGER, removed_day INTEGER);
CREATE INDEX by_id ON records (substr(id, 1, 5));
CREATE INDEX by_cell ON records (substr(key, 1, 2)) WHERE removed_day = 0;
{cells.SCHEMA}
CREATE TABLE owed (peer BLOB, kind INTEGER, id BLOB, key BLOB, at_ms INTEGER, since REAL, size INTEGER, body BLOB,
  PRIMARY KEY (peer, kind, id)) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
PRAGMA user_version = {FORMAT};
"""
_COLUMNS = "kind, id, key, epoch, at_ms, digest, expires_day, segment, start, head_bytes, content_bytes, part"
_INSERT = f"INSERT INTO records ({_COLUMNS}, sequence, removed_day) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,0)"
_NAMED = "substr(id, 1, 5) = substr(?2, 1, 5) AND kind = ?1 AND id = ?2"


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
            elif found < FORMAT:
                raise StoreCorrupt(self._path, f"format {found} of an older program", "it is rebuilt from the segments")
            elif found > FORMAT:
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
        wanted, found = list(names), dict[tuple[Kind, DocumentId], Row]()
        for start in range(0, len(wanted), _AT_ONCE):
            beginnings = [id[:5] for _, id in wanted[start : start + _AT_ONCE]]
            query = f"{_LIVE} substr(id, 1, 5) IN ({','.join('?' * len(beginnings))})"
            with self._wrapped():
                for row in map(_row, self.writer.execute(query, beginnings)):
                    found[row.kind, row.id] = row
        return [found.get(name) for name in wanted]

    def put(self, rows: Sequence[Row], replaced: Sequence[Row | None]) -> None:
        """Set rows inside a transaction; `replaced` are the live rows in their place before, and no row comes twice."""
        self.writer.executemany(f"DELETE FROM records WHERE {_NAMED}", [(row.kind, row.id) for row in rows])
        values = []
        for row in rows:
            self._next += 1
            values.append((row.kind, row.id, row.key, *row.version, row.expires_day, *row.place, self._next))
        self.writer.executemany(_INSERT, values)
        self._count([r for r in replaced if r is not None], rows)

    def remove(self, rows: Sequence[Row], today: int) -> None:
        """Turn live rows into tombstones inside a transaction."""
        values = []
        for row in rows:
            self._next += 1
            values.append((row.kind, row.id, self._next, today))
        query = f"UPDATE records SET sequence = ?3, removed_day = ?4, segment = 0 WHERE {_NAMED}"
        self.writer.executemany(query, values)
        self._count(rows, ())

    def move(self, rows: Sequence[Row], places: Sequence[Place]) -> None:
        """Note inside a transaction that compaction rewrote frames; no change for anybody who follows the log."""
        self.writer.executemany(
            "UPDATE records SET segment = ?5, start = ?6, head_bytes = ?7, content_bytes = ?8, part = ?9 "
            f"WHERE {_NAMED} AND segment = ?3 AND start = ?4",
            [(r.kind, r.id, r.place.segment, r.place.offset, *p) for r, p in zip(rows, places, strict=True)],
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
            for cell in cells.expired(self.writer, today):
                found += [row for row in self._between(self.writer, *cells.keys_of(cell)) if row.expires_day < today]
                if len(found) >= limit:
                    break
            return found[:limit]

    def inside(self, first: bytes, last: bytes) -> list[Row]:
        """Live rows of a key range, both kinds."""
        return list(self._between(self.writer, first, last))

    def rows_in(self, segment: int) -> list[Row]:
        """Live rows whose frames lie in a segment, in the order of the file."""
        with self._wrapped():
            return list(map(_row, self.writer.execute(f"{_LIVE} segment = ? ORDER BY start", (segment,))))

    def live_bytes(self) -> dict[int, int]:
        """Bytes of live frames by segment."""
        with self._wrapped():
            query = (
                "SELECT segment, sum((head_bytes + content_bytes) / max(1, part % 256)) FROM records "
                "WHERE removed_day = 0 GROUP BY segment"
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
            "SELECT substr(key, 1, 10), count(*) FROM records WHERE removed_day = 0 AND substr(key, 1, 2) = ? "
            "AND kind = ? AND key BETWEEN ? AND ? GROUP BY 1 HAVING count(*) >= ?"
        )
        with self._wrapped():
            full = map(cells.prefix_of, cells.occupied(self._looker, first, last, least))
            return [site for cell in full for site in self._looker.execute(query, (cell, kind, first, last, least))]

    def rows(self, first: bytes, last: bytes) -> list[Row]:
        """Live rows of a key range, all kinds."""
        return list(self._between(self._looker, first, last))

    # event loop

    def find(self, kind: Kind, id: DocumentId) -> Row | None:
        with self._wrapped():
            return _find(self.reader, kind, id)

    def scan(self, kind: Kind, first: bytes, last: bytes) -> Iterator[Row]:
        """Live rows of a key range; by key and id, but for those of a cell that holds very many."""
        return (row for row in self._between(self.reader, first, last) if row.kind == kind)

    def _between(self, connection: sqlite3.Connection, first: bytes, last: bytes) -> Iterator[Row]:
        """Live rows of a key range, cell by cell, a large one in steps."""
        with self._wrapped():
            held = cells.occupied(connection, first, last)
        for cell in held:
            after = -1
            while after:
                with self._wrapped():
                    rows, after = _step(connection, cell, after)
                yield from sorted((r for r in rows if first <= r.key <= last), key=lambda r: (r.key, r.id))

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
    kind, id, key, epoch, at_ms, digest, day, *place = values
    version = Version(epoch, at_ms, digest)  # type: ignore[arg-type]
    return Row(Kind(kind), DocumentId(id), Key(key), version, day, Place(*place))  # type: ignore[arg-type]


_LIVE = f"SELECT {_COLUMNS} FROM records WHERE removed_day = 0 AND"
_STEP = f"SELECT {_COLUMNS}, sequence FROM records WHERE removed_day = 0 AND substr(key, 1, 2) = ? AND sequence > ?"


def _find(connection: sqlite3.Connection, kind: Kind, id: DocumentId) -> Row | None:
    values = connection.execute(f"{_LIVE} {_NAMED}", (kind, id)).fetchone()
    return _row(values) if values else None


def _step(connection: sqlite3.Connection, cell: int, after: int) -> tuple[list[Row], int]:
    """Live rows of a cell after a sequence, and where to go on, 0 at the end."""
    values = (cells.prefix_of(cell), after, STEP)
    found = connection.execute(f"{_STEP} ORDER BY sequence LIMIT ?", values).fetchall()
    return [_row(row[:-1]) for row in found], found[-1][-1] if len(found) == STEP else 0
