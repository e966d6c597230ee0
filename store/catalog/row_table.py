"""The catalog's table of live records: one row each, by the sequence of its last change, and the ways to find it.

Two tables beside it hold parts that many rows share: where they lie (`frames`) and how their keys begin (`sites`). The
index by id
holds the first bytes alone and leads to a few rows, which are compared in full. Of a version's digest the first bytes
are kept, which is what peers compare (`ShortVersion`).
"""

from collections.abc import Iterator, Sequence
from itertools import count
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, NamedTuple, TypeVar

from dht import DocumentId, Key
from store.catalog.shared_columns import (
    FRAME_SCHEMA,
    PLACE,
    SITE_BYTES,
    SITE_SCHEMA,
    add_frames,
    add_sites,
    leave_frames,
    sites_between,
)
from store.record.record import MOST_KIND, Kind, ShortVersion
from store.segments.frame import SegmentPlace

T = TypeVar("T")
AT_ONCE = 64  # values of one statement: Python's sqlite3 keeps 128 prepared ones
STEP = 512  # rows read at once, so that no reader holds the index
SCHEMA = f"""
CREATE TABLE records (sequence INTEGER PRIMARY KEY, kind INTEGER, id BLOB, site INTEGER, path BLOB, epoch INTEGER,
  at_ms INTEGER, digest BLOB, expires_day INTEGER, frame INTEGER, number INTEGER);
CREATE INDEX by_id ON records (substr(id, 1, 4));
CREATE INDEX by_site ON records (site);
{SITE_SCHEMA}
{FRAME_SCHEMA}
"""
BY_FORMER = f"CREATE INDEX by_former ON records (id) WHERE kind = {Kind.FORMER:d}"
FORMER_IDS = f"SELECT id FROM records WHERE kind = {Kind.FORMER:d} AND id BETWEEN ? AND ? ORDER BY at_ms"
_INSERT = """INSERT INTO records VALUES (?, ?, ?, (SELECT site FROM sites WHERE prefix = ?), ?, ?, ?, ?, ?, ?, ?)"""
_OWN = f"sequence, kind, id, path, epoch, at_ms, digest, expires_day, frame, {PLACE}"
_JOINED = "FROM records CROSS JOIN frames USING (frame)"  # CROSS: SQLite keeps this order of the tables
_ROWS = f"SELECT {_OWN}, prefix {_JOINED} CROSS JOIN sites USING (site) WHERE"
_FORMER = f"{_ROWS} kind = {Kind.FORMER:d} AND id > ? AND id <= ? ORDER BY id LIMIT ?"
_OF_SITE = f"""SELECT {_OWN}, ?4 {_JOINED} WHERE site = ?1 AND sequence > ?2 AND ?3 IN (0, kind)
  AND ?4 = (SELECT prefix FROM sites WHERE site = ?1) ORDER BY sequence LIMIT {STEP}"""  # a number may be used again
_AT = """SELECT kind, id, prefix, path FROM records CROSS JOIN sites USING (site) WHERE sequence >= ?
  ORDER BY sequence LIMIT 1"""
_key_and_id = itemgetter(2, 1)
KINDS = {number: Kind(number) for number in range(1, MOST_KIND + 1)}  # a look-up is cheaper than a call


class CatalogRow(NamedTuple):
    """One live record of the index. `sequence` and `frame` are where it stands there, 0 before it does."""

    kind: Kind
    id: DocumentId
    key: Key
    version: ShortVersion
    expires_day: int
    place: SegmentPlace
    sequence: int = 0
    frame: int = 0


def add(database: Connection, rows: Sequence[CatalogRow], first: int) -> None:
    """Write rows in order, numbered from a sequence on."""
    numbers = add_frames(database, [row.place for row in rows])
    add_sites(database, [row.key for row in rows])
    values = [
        (
            n,
            kind,
            id,
            key[:SITE_BYTES],
            key[SITE_BYTES:],
            *version,
            day,
            frame,
            place.part >> 8,
        )
        for n, frame, (kind, id, key, version, day, place, *_) in zip(count(first), numbers, rows, strict=False)
    ]
    database.executemany(_INSERT, values)


def strike(database: Connection, rows: Sequence[CatalogRow]) -> None:
    """Take live rows out of the table."""
    database.executemany("DELETE FROM records WHERE sequence = ?", [(row.sequence,) for row in rows])
    leave_frames(database, [row.frame for row in rows])


def move(database: Connection, rows: Sequence[CatalogRow], places: Sequence[SegmentPlace]) -> None:
    """Note where frames were copied to, for those of the rows that are still live."""
    query = "SELECT 1 FROM records WHERE sequence = ?"
    pairs = [(r, p) for r, p in zip(rows, places, strict=True) if database.execute(query, (r.sequence,)).fetchone()]
    numbers = add_frames(database, [place for _, place in pairs])
    database.executemany(
        "UPDATE records SET frame = ?, number = ? WHERE sequence = ?",
        [(frame, p.part >> 8, r.sequence) for frame, (r, p) in zip(numbers, pairs, strict=True)],
    )
    leave_frames(database, [row.frame for row, _ in pairs])


def find(database: Connection, kind: Kind, id: DocumentId) -> CatalogRow | None:
    """Return the live row of a record, None where there is none."""
    # without the +, SQLite would compile the query anew for each kind, to see whether `by_former` fits: 80 of 100 us
    query = f"{_ROWS} substr(id, 1, 4) = substr(?1, 1, 4) AND id = ?1 AND +kind = ?2"
    values = database.execute(query, (id, kind)).fetchone()
    return _row(values) if values else None


def named(database: Connection, names: Sequence[tuple[Kind, DocumentId]]) -> list[CatalogRow | None]:
    """Return the live row of each record, in order, None where there is none."""
    found = dict[tuple[Kind, DocumentId], CatalogRow]()
    for part in portions(names):
        beginnings = [name and name[1][:4] for name in part]
        query = f"{_ROWS} substr(id, 1, 4) IN ({','.join('?' * len(part))})"
        for values in database.execute(query, beginnings):
            row = _row(values)
            found[row.kind, row.id] = row
    return [found.get(name) for name in names]


def between(database: Connection, first: bytes, last: bytes, kind: int = 0) -> Iterator[CatalogRow]:
    """Yield the live rows of a key range, of one kind or (0) all; by key and id, but for those of a very big site."""
    for site, prefix in sites_between(database, first, last):
        after = 0
        while after >= 0:
            found = database.execute(_OF_SITE, (site, after, kind, prefix)).fetchall()
            after = found[-1][0] if len(found) == STEP else -1
            rows = sorted(map(_row, found), key=_key_and_id)
            yield from (row for row in rows if first <= row.key <= last)


def formers(database: Connection, after: bytes, last: bytes, limit: int) -> list[CatalogRow]:
    """Return up to `limit` rows of former versions of pages in order of their ids, after one and up to another."""
    return [_row(values) for values in database.execute(_FORMER, (after, last, limit))]


def changed_at(database: Connection, sequence: int) -> tuple[Kind, DocumentId, Key] | None:
    """Name the live record of the first change at or after a sequence; None where there is none."""
    values = database.execute(_AT, (sequence,)).fetchone()
    return (KINDS[values[0]], values[1], Key(values[2] + values[3])) if values else None


def counted(database: Connection, first: bytes, last: bytes, kind: Kind, least: int) -> list[tuple[bytes, int]]:
    """Count the live rows of a kind in a key range by the prefix of their site, leaving out fewer than `least`."""
    query = (
        "SELECT prefix, count(*) FROM sites CROSS JOIN records USING (site) "
        "WHERE prefix BETWEEN ? AND ? AND +kind = ? GROUP BY prefix HAVING count(*) >= ?"
    )
    return database.execute(query, (first[:SITE_BYTES], last[:SITE_BYTES], kind, least)).fetchall()


def in_segment(database: Connection, segment: int) -> list[CatalogRow]:
    """Return the live rows whose frames lie in a segment, in the order of the file."""
    return [_row(values) for values in database.execute(f"{_ROWS} segment = ? ORDER BY start", (segment,))]


def of_frames(database: Connection, frames: Sequence[int]) -> list[CatalogRow]:
    """Return the live rows of frames, by their numbers; it looks at all records once for every few dozen frames."""
    found: list[CatalogRow] = []
    for part in portions(frames):
        query = f"{_ROWS} frame IN ({','.join('?' * len(part))})"
        found += [_row(values) for values in database.execute(query, part)]
    return found


def _row(values: tuple[Any, ...]) -> CatalogRow:
    sequence, kind, id, path, epoch, at_ms, digest, day, frame, segment, start, head, content, part, prefix = values
    place = SegmentPlace(segment, start, head, content, part)
    return CatalogRow(
        KINDS[kind], id, Key(prefix + path), ShortVersion(epoch, at_ms, digest), day, place, sequence, frame
    )


def portions(wanted: Sequence[T]) -> Iterator[list[T | None]]:
    """Split values into lists of at most AT_ONCE, each filled up with None to a power of two.

    The number of values is part of a prepared statement, so few sizes mean few statements."""
    for start in range(0, len(wanted), AT_ONCE):
        part: list[T | None] = list(wanted[start : start + AT_ONCE])
        yield part + [None] * ((1 << (len(part) - 1).bit_length()) - len(part))
