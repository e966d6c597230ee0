"""The catalog's table of live records: one row each, by the sequence of its last change (`CatalogReader` finds it).

The index by id holds the first bytes alone and leads to a few rows, which are compared in full. Of a version's digest
the first bytes are kept, which is what peers compare (`ShortVersion`). Two tables beside it keep once what many rows
share: the frame that they lie in (`frames`) and the site of their keys (`sites`). All change in the catalog's
transactions. A frame is listed while any of its records is live, and counts them, so that
what lives in a segment is summed without looking at the records. A site is the first half of a key (which names a site
and shard). It is listed while any record of it is live, in the order of keys, so the list leads to whatever lies in a
key range.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from sqlite3 import Connection
from typing import NamedTuple, TypeVar

from dht import DocumentId, Key
from store.record.record import Kind, ShortVersion
from store.segments.frame import SegmentPlace

SITE_BYTES = 10  # of a key: `dht/keys.py`


def add_frames(database: Connection, places: Sequence[SegmentPlace]) -> list[int]:
    """List the frames of records just written, and return the number of each record's frame, in order."""
    wheres = [place[:4] for place in places]
    members = dict(zip(wheres, [place.part % 256 for place in places], strict=True))
    numbers: dict[tuple[int, ...], int] = {}
    for where, live in Counter(wheres).items():
        cursor = database.execute("INSERT INTO frames VALUES (NULL,?,?,?,?,?,?)", (*where, members[where], live))
        numbers[where] = cursor.lastrowid or 0
    return [numbers[where] for where in wheres]


def leave_frames(database: Connection, numbers: Iterable[int]) -> None:
    """Count off the records that went, by the numbers of their frames, and strike out frames that hold no more."""
    gone = Counter(numbers)
    database.executemany(
        "UPDATE frames SET live = live - ? WHERE frame = ?", [(count, frame) for frame, count in gone.items()]
    )
    database.execute("DELETE FROM frames WHERE live = 0")


def add_sites(database: Connection, keys: Iterable[bytes]) -> None:
    """Add the sites of keys to the list."""
    prefixes = {key[:SITE_BYTES] for key in keys}
    database.executemany("INSERT OR IGNORE INTO sites (prefix) VALUES (?)", [(prefix,) for prefix in prefixes])


def leave_sites(database: Connection, keys: Iterable[bytes]) -> None:
    """Strike out those sites of keys of which no record is left."""
    query = "DELETE FROM sites WHERE prefix = ? AND NOT EXISTS (SELECT 1 FROM records WHERE site = sites.site)"
    database.executemany(query, [(prefix,) for prefix in {key[:SITE_BYTES] for key in keys}])


T = TypeVar("T")
AT_ONCE = 64  # values of one statement: Python's sqlite3 keeps 128 prepared ones
SCHEMA = """
CREATE TABLE records (sequence INTEGER PRIMARY KEY, kind INTEGER, id BLOB, site INTEGER, path BLOB, epoch INTEGER,
  at_ms INTEGER, digest BLOB, expires_day INTEGER, frame INTEGER, number INTEGER, author INTEGER NOT NULL DEFAULT 0);
CREATE INDEX by_id ON records (substr(id, 1, 4));
CREATE INDEX by_site ON records (site);
CREATE TABLE sites (site INTEGER PRIMARY KEY, prefix BLOB UNIQUE, found INTEGER NOT NULL DEFAULT 0,
  pages INTEGER NOT NULL DEFAULT 0);
CREATE TABLE frames (frame INTEGER PRIMARY KEY, segment INTEGER, start INTEGER, head_bytes INTEGER,
  content_bytes INTEGER, members INTEGER, live INTEGER);
CREATE INDEX dead ON frames (frame) WHERE live = 0;
"""
BY_FORMER = f"CREATE INDEX by_former ON records (id) WHERE kind = {Kind.FORMER:d}"
BY_HOST = f"CREATE INDEX IF NOT EXISTS by_host ON records (site) WHERE kind = {Kind.HOST:d}"  # older files lack it
_INSERT = """INSERT INTO records VALUES (?, ?, ?, (SELECT site FROM sites WHERE prefix = ?), ?, ?, ?, ?, ?, ?, ?, ?)"""


class CatalogRow(NamedTuple):
    """One live record of the index. `sequence` and `frame` are where it stands there, 0 before it does.
    `author` is its author's number."""

    kind: Kind
    id: DocumentId
    key: Key
    version: ShortVersion
    expires_day: int
    place: SegmentPlace
    sequence: int = 0
    frame: int = 0
    author: int = 0


def add(database: Connection, rows: Sequence[CatalogRow], first: int) -> None:
    """Write rows in order, numbered from a sequence on."""
    numbers = add_frames(database, [row.place for row in rows])
    add_sites(database, [row.key for row in rows])
    values = [
        (n, kind, id, key[:SITE_BYTES], key[SITE_BYTES:], *version, day, frame, place.part >> 8, author)
        for n, frame, (kind, id, key, version, day, place, _, _, author) in zip(
            count(first), numbers, rows, strict=False
        )
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
    more = Counter[int]()  # bytes: a record may take more or less among others
    for row, place in pairs:
        more[row.author] += place.share_bytes - row.place.share_bytes
    database.executemany(
        "UPDATE authors SET bytes = max(0, bytes + ?) WHERE author = ?", [(n, author) for author, n in more.items()]
    )


def portions(wanted: Sequence[T]) -> Iterator[list[T | None]]:
    """Split values into lists of at most AT_ONCE, each filled up with None to a power of two.

    The number of values is part of a prepared statement, so few sizes mean few statements."""
    for start in range(0, len(wanted), AT_ONCE):
        part: list[T | None] = list(wanted[start : start + AT_ONCE])
        yield part + [None] * ((1 << (len(part) - 1).bit_length()) - len(part))
