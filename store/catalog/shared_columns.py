"""Two tables of the index keep once what many records share: the frame that they lie in, and the site of their keys.

Both change in the catalog's transactions. A frame is listed while any of its records is live, and counts them, so that
what lives in a segment is summed without looking at the records. A site is the first half of a key (which names a site
and shard). It is listed while any record of it is live, in the order of keys, so the list leads to whatever lies in a
key range.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection

from store.segments.frame import SegmentPlace

FRAME_SCHEMA = """CREATE TABLE frames (frame INTEGER PRIMARY KEY, segment INTEGER, start INTEGER, head_bytes INTEGER,
  content_bytes INTEGER, members INTEGER, live INTEGER);
CREATE INDEX dead ON frames (frame) WHERE live = 0;"""
PLACE = "segment, start, head_bytes, content_bytes, number * 256 + members"  # of a row joined with its frame
SITE_BYTES = 10  # of a key: `dht/keys.py`
SITE_SCHEMA = "CREATE TABLE sites (site INTEGER PRIMARY KEY, prefix BLOB UNIQUE);"
_SITES_AT_ONCE = 512  # sites read at once


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


def live_bytes(database: Connection) -> dict[int, int]:
    """Sum the bytes of live records by segment; those that share a frame have equal parts of it."""
    share = "(head_bytes + content_bytes) * live / max(1, members)"
    return dict(database.execute(f"SELECT segment, sum({share}) FROM frames GROUP BY segment"))


def frames_between(database: Connection, segment: int, first: int, end: int) -> list[tuple[int, int]]:
    """List the frames that begin in a part of a segment, by number, and how many live records each has."""
    query = "SELECT frame, live FROM frames WHERE segment = ? AND start >= ? AND start < ?"
    return database.execute(query, (segment, first, end)).fetchall()


def add_sites(database: Connection, keys: Iterable[bytes]) -> None:
    """Add the sites of keys to the list."""
    prefixes = {key[:SITE_BYTES] for key in keys}
    database.executemany("INSERT OR IGNORE INTO sites (prefix) VALUES (?)", [(prefix,) for prefix in prefixes])


def leave_sites(database: Connection, keys: Iterable[bytes]) -> None:
    """Strike out those sites of keys of which no record is left."""
    query = "DELETE FROM sites WHERE prefix = ? AND NOT EXISTS (SELECT 1 FROM records WHERE site = sites.site)"
    database.executemany(query, [(prefix,) for prefix in {key[:SITE_BYTES] for key in keys}])


def sites_between(database: Connection, first: bytes, last: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and prefix of the sites that a key range touches, in order."""
    after, last = first[:SITE_BYTES], last[:SITE_BYTES]
    comparison = ">="
    while True:
        query = f"SELECT site, prefix FROM sites WHERE prefix {comparison} ? AND prefix <= ? ORDER BY prefix LIMIT ?"
        found = database.execute(query, (after, last, _SITES_AT_ONCE)).fetchall()
        yield from found
        if len(found) < _SITES_AT_ONCE:
            return
        comparison, after = ">", found[-1][1]
