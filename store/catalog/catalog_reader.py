"""Reading the catalog: rows by name, by key range and by change.

A reader has a connection of its own, so that it waits for no writer; one serves the event loop, another the thread that
looks through whole key ranges.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from sqlite3 import Connection
from typing import Any, NamedTuple

from dht import DocumentId, Key
from store.catalog import cell_sums
from store.catalog.cell_sums import RangeSummary
from store.catalog.row_table import SITE_BYTES, CatalogRow, portions
from store.record.record import MOST_KIND, Kind, ShortVersion
from store.segments.file_system import SqliteErrors
from store.segments.frame import SegmentPlace

STEP = 512  # rows, or sites, read at once, so that no reader holds the index
FORMER_IDS = f"SELECT id FROM records WHERE kind = {Kind.FORMER:d} AND id BETWEEN ? AND ? ORDER BY at_ms"
_PLACE = "segment, start, head_bytes, content_bytes, number * 256 + members"  # of a row joined with its frame
_OWN = f"sequence, kind, id, path, epoch, at_ms, digest, expires_day, frame, author, {_PLACE}"
_JOINED = "FROM records CROSS JOIN frames USING (frame)"  # CROSS: SQLite keeps this order of the tables
_ROWS = f"SELECT {_OWN}, prefix {_JOINED} CROSS JOIN sites USING (site) WHERE"
_FORMER = f"{_ROWS} kind = {Kind.FORMER:d} AND id > ? AND id <= ? ORDER BY id LIMIT ?"
_OF_SITE = f"""SELECT {_OWN}, ?4 {_JOINED} WHERE site = ?1 AND sequence > ?2 AND ?3 IN (0, kind)
  AND ?4 = (SELECT prefix FROM sites WHERE site = ?1) ORDER BY sequence LIMIT {STEP}"""  # a number may be used again
_HOSTS = f"{_ROWS} kind = {Kind.HOST:d} AND prefix BETWEEN ? AND ? ORDER BY prefix, path"  # by `by_host`; there are few
_AT = """SELECT kind, id, prefix, path FROM records CROSS JOIN sites USING (site) WHERE sequence >= ?
  ORDER BY sequence LIMIT 1"""
_CHANGES = """
SELECT sequence, kind, id, prefix, path, 0 FROM records CROSS JOIN sites USING (site) WHERE sequence > ?1
UNION ALL SELECT sequence, kind, id, key, x'', 1 FROM gone WHERE sequence > ?1 ORDER BY 1 LIMIT ?2"""
# without the +, SQLite would compile the query anew for each kind, to see whether `by_former` fits: 80 of 100 us
_NAMED = f"{_ROWS} substr(id, 1, 4) = substr(?1, 1, 4) AND id = ?1 AND +kind = ?2"
_COUNTED = """SELECT prefix, count(*) FROM sites CROSS JOIN records USING (site)
  WHERE prefix BETWEEN ? AND ? AND +kind = ? GROUP BY prefix HAVING count(*) >= ?"""
# those that share a frame have equal parts of it
_LIVE = """SELECT segment, sum((head_bytes + content_bytes) * live / max(1, members)) FROM frames GROUP BY segment"""
_KINDS = {number: Kind(number) for number in range(1, MOST_KIND + 1)}  # a look-up is cheaper than a call
_key_and_id = itemgetter(2, 1)


class RecordChange(NamedTuple):
    """One line of the change log: the record changed last at `sequence`, and whether it was removed then."""

    sequence: int
    kind: Kind
    id: DocumentId
    key: Key
    removed: bool


class CatalogReader:
    """Reads what was committed last. Its methods raise StoreCorrupt where the file is damaged."""

    def __init__(self, database: Connection, errors: SqliteErrors) -> None:
        self.database = database
        self._errors = errors

    def query(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return what a statement of SQL finds in any table of the file."""
        with self._errors:
            return self.database.execute(statement, tuple(values)).fetchall()

    def spare(self) -> None:
        """Forget the pages of the file that the connection remembers."""
        self.query("PRAGMA shrink_memory")

    def find(self, kind: Kind, id: DocumentId) -> CatalogRow | None:
        """Return the live row of a record, None where there is none."""
        with self._errors:
            values = self.database.execute(_NAMED, (id, kind)).fetchone()
        return _row(values) if values else None

    def named(self, names: Iterable[tuple[Kind, DocumentId]]) -> list[CatalogRow | None]:
        """Return the live row of each record, in order, None where there is none."""
        wanted, found = list(names), dict[tuple[Kind, DocumentId], CatalogRow]()
        for part in portions(wanted):
            query = f"{_ROWS} substr(id, 1, 4) IN ({','.join('?' * len(part))})"
            rows = map(_row, self.query(query, [name and name[1][:4] for name in part]))
            found |= {(row.kind, row.id): row for row in rows}
        return [found.get(name) for name in wanted]

    def walk(self, first: bytes, last: bytes, kind: int = 0) -> Iterator[CatalogRow]:
        """Yield the live rows of a key range, of one kind or (0) all; by key and id, but for those of a site that holds
        very many. Host records are few among many others, so they have an index of their own."""
        if kind == Kind.HOST:
            hosts = map(_row, self.query(_HOSTS, (first[:SITE_BYTES], last[:SITE_BYTES])))
            yield from (row for row in hosts if first <= row.key <= last)
            return
        for site, prefix in self._sites(first, last):
            after = 0
            while after >= 0:
                found = self.query(_OF_SITE, (site, after, kind, prefix))
                after = found[-1][0] if len(found) == STEP else -1
                rows = sorted(map(_row, found), key=_key_and_id)
                yield from (row for row in rows if first <= row.key <= last)

    def _sites(self, first: bytes, last: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield number and prefix of the sites that a key range touches, in order."""
        after, last, comparison = first[:SITE_BYTES], last[:SITE_BYTES], ">="
        while after:
            query = (
                f"SELECT site, prefix FROM sites WHERE prefix {comparison} ? AND prefix <= ? ORDER BY prefix LIMIT ?"
            )
            found = self.query(query, (after, last, STEP))
            yield from found
            comparison, after = ">", found[-1][1] if len(found) == STEP else b""

    def rows(self, first: bytes, last: bytes) -> list[CatalogRow]:
        """Return all live rows of a key range, whatever their kind; there may be very many."""
        return list(self.walk(first, last))

    def rows_in(self, segment: int) -> list[CatalogRow]:
        """Return the live rows whose frames lie in a segment, in the order of the file."""
        return list(map(_row, self.query(f"{_ROWS} segment = ? ORDER BY start", (segment,))))

    def formers(self, after: bytes, last: bytes, limit: int = -1) -> list[CatalogRow]:
        """Return up to `limit` rows of former versions of pages in order of their ids, after one and up to another."""
        return list(map(_row, self.query(_FORMER, (after, last, limit))))

    def frames(self, segment: int, first: int, end: int) -> list[tuple[int, int]]:
        """List the frames that begin in a part of a segment, by number, and how many live records each has."""
        query = "SELECT frame, live FROM frames WHERE segment = ? AND start >= ? AND start < ?"
        return self.query(query, (segment, first, end))

    def of_frames(self, frames: Sequence[int]) -> list[CatalogRow]:
        """Return the live rows of frames, by their numbers; it looks at all rows once for every few dozen frames."""
        parts = [(f"{_ROWS} frame IN ({','.join('?' * len(part))})", part) for part in portions(frames)]
        return [_row(values) for query, part in parts for values in self.query(query, part)]

    def changed_at(self, sequences: Iterable[int]) -> list[tuple[Kind, DocumentId, Key]]:
        """Name the live records of the first changes at or after some sequences, each once."""
        found = (values for sequence in sequences for values in self.query(_AT, (sequence,)))
        return list(dict.fromkeys((_KINDS[kind], id, Key(prefix + path)) for kind, id, prefix, path in found))

    def versions(self) -> Iterator[tuple[int, int]]:
        """Yield epoch and at_ms of every live row that was written under a lease."""
        with self._errors:
            yield from self.database.execute("SELECT epoch, at_ms FROM records WHERE epoch > 0")

    def big_sites(self, kind: Kind, first: bytes, last: bytes, least: int) -> list[tuple[bytes, int]]:
        """Count the live rows of each site (and shard) in a key range, leaving out those with fewer than `least`.

        A site is named by the first 10 bytes of its keys.
        """
        with self._errors:
            full = map(cell_sums.keys_of, cell_sums.full(self.database, first, last, least))
        ranges = [(max(first, low)[:SITE_BYTES], min(last, high)[:SITE_BYTES]) for low, high in full]
        return [site for part in ranges for site in self.query(_COUNTED, (*part, kind, least))]

    def changes(self, after: int, limit: int) -> list[RecordChange]:
        """Return up to `limit` records changed since the sequence number `after`, each once, oldest change first."""
        found = self.query(_CHANGES, (after, limit))
        return [RecordChange(n, _KINDS[k], id, Key(p + path), bool(gone)) for n, k, id, p, path, gone in found]

    def note(self, name: str) -> bytes | int | None:
        """Return a small value that is remembered by its name, None where there is none."""
        found = self.query("SELECT value FROM notes WHERE name = ?", (name,))
        return found[0][0] if found else None

    def live_bytes(self) -> dict[int, int]:
        """Sum the bytes of live records by segment."""
        return dict(self.query(_LIVE))

    def grant_bytes(self) -> dict[int, int]:
        """Sum about how many bytes grants take, by segment."""
        return dict(self.query("SELECT segment, sum(length(body)) FROM grants GROUP BY segment"))

    def summary(self, first: bytes, last: bytes, today: int) -> RangeSummary:
        """Sum up what a key range made of whole cells holds and `today` has not expired."""
        with self._errors:
            return cell_sums.summary(self.database, first, last, today)

    def occupied(self, slot_bits: int) -> list[int]:
        """List the slots that hold anything."""
        with self._errors:
            return cell_sums.occupied(self.database, slot_bits)


def _row(values: tuple[Any, ...]) -> CatalogRow:
    sequence, kind, id, path, epoch, at_ms, digest, day, frame, author, segment, start, head, content, part, prefix = (
        values
    )
    place = SegmentPlace(segment, start, head, content, part)
    return CatalogRow(
        _KINDS[kind], id, Key(prefix + path), ShortVersion(epoch, at_ms, digest), day, place, sequence, frame, author
    )
