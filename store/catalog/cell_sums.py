"""Sums over the key space: per 1/65,536 of it and expiry day, how many records there are and a fingerprint of them.

They ride in the catalog's transactions, so that a slot's summary costs a handful of rows whatever slot_bits is. The
fingerprint is the sum of the records' marks modulo 2**256. It serves reports only: an author that may choose many
records can steer sums. Reconciliation hashes the marks themselves.
"""

from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import NamedTuple

from store.catalog.row_table import CatalogRow, portions
from store.record.range_reconciliation import mark
from store.record.record import Kind

CELL_BITS = 16
SCHEMA = """CREATE TABLE cells (cell INTEGER, expires_day INTEGER, documents INTEGER, visits INTEGER, fingerprint BLOB,
  PRIMARY KEY (cell, expires_day)) WITHOUT ROWID;"""
_MOD = 1 << 256


class RangeSummary(NamedTuple):
    """The contents of a key range, in sum. Equal fingerprints mean equal sets of (kind, id, version)."""

    documents: int
    visits: int
    fingerprint: bytes  # 32 bytes


def cell_of(key: bytes) -> int:
    """Return the number of the cell that a key falls into."""
    return int.from_bytes(key[: CELL_BITS // 8], "big")


def keys_of(cell: int) -> tuple[bytes, bytes]:
    """Return the first and the last key of a cell."""
    prefix = cell.to_bytes(CELL_BITS // 8, "big")
    return prefix.ljust(20, b"\0"), prefix.ljust(20, b"\xff")


def count(database: Connection, gone: Iterable[CatalogRow], come: Iterable[CatalogRow]) -> None:
    """Add to the sums what came, and take off what went, inside the caller's transaction."""
    sums: dict[tuple[int, int], list[int]] = {}
    for sign, rows in ((-1, gone), (1, come)):
        for row in rows:
            entry = sums.setdefault((cell_of(row.key), row.expires_day), [0, 0, 0])
            entry[0 if row.kind == Kind.DOCUMENT else 1] += sign
            entry[2] += sign * int.from_bytes(mark(row.kind, row.id, row.version), "big")
    for cell, day, documents, visits, fingerprint in _known(database, list(sums)):
        entry = sums[cell, day]
        entry[0] += documents
        entry[1] += visits
        entry[2] += int.from_bytes(fingerprint, "big")
    kept = [(*where, n, m, (total % _MOD).to_bytes(32, "big")) for where, (n, m, total) in sums.items() if n or m]
    empty = [where for where, (n, m, _) in sums.items() if not n and not m]
    database.executemany("INSERT OR REPLACE INTO cells VALUES (?,?,?,?,?)", kept)
    database.executemany("DELETE FROM cells WHERE cell = ? AND expires_day = ?", empty)


def _known(database: Connection, wanted: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int, int, bytes]]:
    """The sums that there are, by cell and day."""
    for part in portions(wanted):
        names = f"WITH part (a, b) AS (VALUES {','.join(['(?,?)'] * len(part))})"
        query = f"{names} SELECT cells.* FROM part CROSS JOIN cells ON cell = a AND expires_day = b"  # no scan of cells
        yield from database.execute(query, [n for where in part for n in where or (None, None)]).fetchall()


def summary(database: Connection, first: bytes, last: bytes, today: int) -> RangeSummary:
    """Sum up a key range that is made of whole cells, without what has expired."""
    query = "SELECT documents, visits, fingerprint FROM cells WHERE cell BETWEEN ? AND ? AND expires_day > ?"
    rows = database.execute(query, (cell_of(first), cell_of(last), today)).fetchall()
    total = sum(int.from_bytes(f, "big") for _, _, f in rows) % _MOD
    return RangeSummary(sum(r[0] for r in rows), sum(r[1] for r in rows), total.to_bytes(32, "big"))


def occupied(database: Connection, slot_bits: int) -> list[int]:
    """List the slots, of 2**slot_bits, that hold anything. It looks once into each of these, however many cells are in
    it."""
    query = """WITH RECURSIVE filled(cell) AS (SELECT min(cell) FROM cells UNION ALL
      SELECT (SELECT min(cell) FROM cells WHERE cell >= (filled.cell / ?1 + 1) * ?1) FROM filled
      WHERE filled.cell IS NOT NULL) SELECT cell / ?1 FROM filled WHERE cell IS NOT NULL"""
    return [slot for (slot,) in database.execute(query, (1 << (CELL_BITS - slot_bits),))]


def full(database: Connection, first: bytes, last: bytes, least: int) -> list[int]:
    """List the cells touched by a key range that hold at least so many records."""
    where = "cell BETWEEN ? AND ? GROUP BY cell HAVING sum(documents + visits) >= ?"
    values = (cell_of(first), cell_of(last), least)
    return [cell for (cell,) in database.execute(f"SELECT cell FROM cells WHERE {where} ORDER BY cell", values)]


def expired(database: Connection, before: int) -> list[int]:
    """List the cells that hold anything that expired before a day."""
    rows = database.execute("SELECT DISTINCT cell FROM cells WHERE expires_day < ?", (before,)).fetchall()
    return [cell for (cell,) in rows]
