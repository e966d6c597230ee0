"""Records that the index lists and the disk does not give: damaged, or not to be read just now.

Pure: names in, verdicts out. A record in doubt counts as not known here, whatever the readiness of its slot, until its
frame was read again, or its newest version was written anew. A damaged record leaves the index, and is fetched again
from other owners.
"""

from collections.abc import Iterable

from dht import DocumentId, Key
from store.catalog.row_table import CatalogRow
from store.record.record import Kind, Record

MOST = 65_536  # remembered; more are found again when they are read again
_Name = tuple[Kind, DocumentId]


class UnreadableRecords:
    """The records that cannot be read here. Any thread adds and asks; the rest belongs to the event loop."""

    def __init__(self) -> None:
        self._doubted: dict[_Name, CatalogRow] = {}
        self._lost: dict[_Name, Key] = {}
        self._missed: dict[_Name, None] = {}  # lost, and nowhere when their range was compared; oldest first
        self._keys: frozenset[Key] = frozenset()
        self.lost_count = self.healed_count = 0  # since the start: what was damaged, and what of it came back

    def __len__(self) -> int:
        return len(self._doubted) + len(self._lost)

    def holds(self, key: bytes) -> bool:
        """Tell whether anything of a key is in doubt or lost."""
        return key in self._keys

    def doubt(self, row: CatalogRow) -> None:
        """Take note of a record that could not be read."""
        self.doubt_all([row])

    def doubt_all(self, rows: Iterable[CatalogRow]) -> None:
        """Take note of records that could not be read."""
        before = len(self._doubted)
        for row in rows:
            if len(self) < MOST and (row.kind, row.id) not in self._doubted:
                self._doubted[row.kind, row.id] = row
        if len(self._doubted) > before:
            self._renew()

    def doubted(self) -> list[CatalogRow]:
        """Return the rows that are to be looked at again."""
        return list(self._doubted.values())

    def judged(self, doubted: Iterable[CatalogRow], lost: Iterable[CatalogRow]) -> None:
        """Take note of what a second look showed: which records are lost; the others can be read."""
        for row in doubted:
            self._doubted.pop((row.kind, row.id), None)
        news = {(row.kind, row.id): row.key for row in lost}
        self.lost_count += len(news.keys() - self._lost.keys())
        self._lost |= news
        self._renew()

    def came(self, records: Iterable[Record]) -> None:
        """Take note that records were written anew."""
        if len(self) or self._missed:
            for name in ((record.kind, record.id) for record in records):
                self.healed_count += name in self._lost or name in self._missed
                self._lost.pop(name, None)
                self._missed.pop(name, None)
                self._doubted.pop(name, None)
            self._renew()

    def settle(self, first: bytes, last: bytes) -> None:
        """Take note that a key range was compared with all that there are: what is missing still is nowhere, or was
        lost too late to be compared, and may come yet."""
        missed = [name for name, key in self._lost.items() if first <= key <= last]
        for name in missed:
            del self._lost[name]
        self._missed = dict.fromkeys([*self._missed, *missed][-MOST:])
        self._renew()

    def _renew(self) -> None:
        self._keys = frozenset(self._lost.values()) | {row.key for row in list(self._doubted.values())}
