"""The index's list of grants: what proves that the records' authors held the leases that they wrote under.

A grant is kept once, whatever number of records names it. Its bytes lie in the segments, too, so that they outlive the
index: `segment` says in which, and who deletes that one writes them anew before. It rides in the catalog's
transactions.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from sqlite3 import Connection

from dht import SignedGrant, decode_grant, encode_grant

SCHEMA = """CREATE TABLE grants (epoch INTEGER, holder BLOB, slot_bits INTEGER, slot INTEGER,
  until INTEGER, digest BLOB, begin INTEGER, segment INTEGER, body BLOB,
  PRIMARY KEY (epoch, holder, slot_bits, slot, until, digest)) WITHOUT ROWID;"""
FIND = """SELECT body FROM grants WHERE epoch = ? AND holder = ? AND slot_bits = ? AND slot = ? AND until >= ?
  AND begin <= ? ORDER BY until LIMIT ?"""
ENDED = "SELECT epoch, holder, slot_bits, slot, until, digest, begin FROM grants WHERE until < ?"
WIDTHS = "SELECT DISTINCT slot_bits FROM grants"

EndedGrant = tuple[int, bytes, int, int, int, bytes, int]  # a row of `ENDED`


def digest_of(signed: SignedGrant) -> bytes:
    """Return what stands for a grant in the index."""
    return blake2b(encode_grant(signed), digest_size=8).digest()


def add(database: Connection, grants: Iterable[SignedGrant], segment: int) -> None:
    """List grants that were written to a segment just now."""
    rows = []
    for signed in grants:
        g, body = signed.grant, encode_grant(signed)
        rows.append(
            (g.epoch, g.holder, g.slot_bits, g.slot, g.until_s, digest_of(signed), g.not_before_s, segment, body)
        )
    database.executemany("INSERT OR REPLACE INTO grants VALUES (?,?,?,?,?,?,?,?,?)", rows)


def in_segment(database: Connection, segment: int) -> list[SignedGrant]:
    """Return the grants whose bytes lie in a segment."""
    return list(decoded(database.execute("SELECT body FROM grants WHERE segment = ?", (segment,))))


def drop(database: Connection, rows: Sequence[EndedGrant]) -> None:
    """Strike out grants that no record names any more."""
    query = (
        "DELETE FROM grants WHERE epoch = ? AND holder = ? AND slot_bits = ? AND slot = ? AND until = ? AND digest = ?"
    )
    database.executemany(query, [row[:6] for row in rows])


def decoded(rows: Iterable[tuple[bytes]]) -> Iterator[SignedGrant]:
    """Decode the bodies of rows."""
    return (decode_grant(body) for (body,) in rows)


def unnamed(ended: Iterable[EndedGrant], written: Iterable[tuple[int, int]], slack_s: int) -> list[EndedGrant]:
    """Return those of grants under which none of some versions (epoch, at_ms) can have been written, clocks apart."""
    by_epoch: dict[int, list[EndedGrant]] = {}
    for row in ended:
        by_epoch.setdefault(row[0], []).append(row)
    for epoch, at_ms in written:
        if rows := by_epoch.get(epoch):
            at_s = at_ms / 1000
            rows[:] = [row for row in rows if not row[6] - slack_s <= at_s <= row[4] + slack_s]
    return [row for rows in by_epoch.values() for row in rows]
