"""The index's list of frames: where each lies, kept once for all records that share it.

They ride in the catalog's transactions. A frame is listed while any of its records is live, and counts them, so that
what lives in a segment is summed without looking at the records.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from store.segments.segments import SegmentPlace

SCHEMA = """CREATE TABLE frames (frame INTEGER PRIMARY KEY, segment INTEGER, start INTEGER, head_bytes INTEGER,
  content_bytes INTEGER, members INTEGER, live INTEGER);
CREATE INDEX dead ON frames (frame) WHERE live = 0;"""
PLACE = "segment, start, head_bytes, content_bytes, number * 256 + members"  # of a row joined with its frame


def add(database: Connection, places: Sequence[SegmentPlace]) -> list[int]:
    """List the frames of records just written, and return the number of each record's frame, in order."""
    wheres = [place[:4] for place in places]
    members = dict(zip(wheres, [place.part % 256 for place in places], strict=True))
    numbers: dict[tuple[int, ...], int] = {}
    for where, live in Counter(wheres).items():
        cursor = database.execute("INSERT INTO frames VALUES (NULL,?,?,?,?,?,?)", (*where, members[where], live))
        numbers[where] = cursor.lastrowid or 0
    return [numbers[where] for where in wheres]


def leave(database: Connection, numbers: Iterable[int]) -> None:
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


def between(database: Connection, segment: int, first: int, end: int) -> list[tuple[int, int]]:
    """List the frames that begin in a part of a segment, by number, and how many live records each has."""
    query = "SELECT frame, live FROM frames WHERE segment = ? AND start >= ? AND start < ?"
    return database.execute(query, (segment, first, end)).fetchall()
