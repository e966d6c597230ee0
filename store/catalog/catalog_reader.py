"""Reading the catalog: rows by name, by key range and by change.

A reader has a connection of its own, so that it waits for no writer; one serves the event loop, another the thread that
looks through whole key ranges.
"""

from collections.abc import Iterable, Iterator, Sequence
from sqlite3 import Connection
from typing import Any, NamedTuple

from dht import DocumentId, Key
from store.catalog import cell_sums, row_table, shared_columns
from store.catalog.cell_sums import RangeSummary
from store.catalog.row_table import CatalogRow
from store.record.record import Kind
from store.segments.file_system import SqliteErrors

_CHANGES = """
SELECT sequence, kind, id, prefix, path, 0 FROM records CROSS JOIN sites USING (site) WHERE sequence > ?1
UNION ALL SELECT sequence, kind, id, key, x'', 1 FROM gone WHERE sequence > ?1 ORDER BY 1 LIMIT ?2"""


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

    def query(self, statement: str, values: Sequence[object]) -> list[Any]:
        """Read other tables of the same file."""
        with self._errors:
            return self.database.execute(statement, tuple(values)).fetchall()

    def find(self, kind: Kind, id: DocumentId) -> CatalogRow | None:
        """Return the live row of a record, None where there is none."""
        with self._errors:
            return row_table.find(self.database, kind, id)

    def scan(self, kind: Kind, first: bytes, last: bytes) -> Iterator[CatalogRow]:
        """Yield the live rows of a key range; by key and id, but for those of a site that holds very many."""
        with self._errors:
            yield from row_table.between(self.database, first, last, kind)

    def walk(self, first: bytes, last: bytes) -> Iterator[CatalogRow]:
        """Yield the live rows of a key range, whatever their kind, in the order of `scan`."""
        with self._errors:
            yield from row_table.between(self.database, first, last)

    def rows(self, first: bytes, last: bytes) -> list[CatalogRow]:
        """Return all live rows of a key range, whatever their kind; there may be very many."""
        with self._errors:
            return list(row_table.between(self.database, first, last))

    def named(self, names: Sequence[tuple[Kind, DocumentId]]) -> list[CatalogRow | None]:
        """Return the live row of each record, in order, None where there is none."""
        with self._errors:
            return row_table.named(self.database, names)

    def frames(self, segment: int, first: int, end: int) -> list[tuple[int, int]]:
        """List the frames that begin in a part of a segment, by number, and how many live records each has."""
        with self._errors:
            return shared_columns.frames_between(self.database, segment, first, end)

    def of_frames(self, frames: Sequence[int]) -> list[CatalogRow]:
        """Return the live rows of frames, by their numbers; it looks at all rows."""
        with self._errors:
            return row_table.of_frames(self.database, frames)

    def changed_at(self, sequences: Iterable[int]) -> list[tuple[Kind, DocumentId, Key]]:
        """Name the live records of the first changes at or after some sequences, each once."""
        with self._errors:
            found = (row_table.changed_at(self.database, sequence) for sequence in sequences)
            return list(dict.fromkeys(name for name in found if name is not None))

    def versions(self) -> Iterator[tuple[int, int]]:
        """Yield epoch and at_ms of every live row that was written under a lease."""
        with self._errors:
            yield from self.database.execute("SELECT epoch, at_ms FROM records WHERE epoch > 0")

    def big_sites(self, kind: Kind, first: bytes, last: bytes, least: int) -> list[tuple[bytes, int]]:
        """Count the live rows of each site (and shard) in a key range, leaving out those with fewer than `least`.

        A site is named by the first 10 bytes of its keys.
        """
        with self._errors:
            full = map(cell_sums.keys_of, cell_sums.occupied(self.database, first, last, least))
            ranges = [(max(first, low), min(last, high)) for low, high in full]
            return [site for part in ranges for site in row_table.counted(self.database, *part, kind, least)]

    def changes(self, after: int, limit: int) -> list[RecordChange]:
        """Return up to `limit` records changed since the sequence number `after`, each once, oldest change first."""
        with self._errors:
            found = self.database.execute(_CHANGES, (after, limit)).fetchall()
            kinds = row_table.KINDS
            return [RecordChange(n, kinds[k], id, Key(p + path), bool(gone)) for n, k, id, p, path, gone in found]

    def horizon(self) -> int:
        """Return the change up to which removals are forgotten, 0 where none are."""
        with self._errors:
            row = self.database.execute("SELECT value FROM notes WHERE name = 'horizon'").fetchone()
            return int(row[0]) if row else 0

    def summary(self, first: bytes, last: bytes, today: int) -> RangeSummary:
        """Sum up what a key range made of whole cells holds and `today` has not expired."""
        with self._errors:
            return cell_sums.summary(self.database, first, last, today)

    def occupied(self) -> list[int]:
        """List the numbers of the cells that hold anything."""
        with self._errors:
            return cell_sums.occupied(self.database)
