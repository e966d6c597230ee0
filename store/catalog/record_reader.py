"""Reading records: what the index knows of them, joined with what lies in their frames.

Reads are plain calls on the event loop, a few dozen microseconds each.

Some records the index lists and the disk does not give: they are damaged, or not to be read just now. A record in doubt
counts as not known here, whatever the readiness of its slot, until its frame was read again, or its newest version was
written anew. A damaged record leaves the index, and is fetched again from other owners.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from msgspec.structs import replace

from dht import DocumentId, Key, MachineRefuses
from store.catalog.catalog_reader import CatalogReader
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
from store.record.denial import RecordDenial
from store.record.package import decode_head
from store.record.record import Kind, Record, Version, digest_of
from store.segments.record_group import NO_PROOF, NOTHING, PackedRecords, RecordGroup, SharedFrame, open_shared
from store.segments.segments import Segments

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

    def doubt(self, rows: Iterable[CatalogRow]) -> None:
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
        """Take note that a key range was compared with all other replicas. Records that are still missing exist
        nowhere, or were lost too late for the comparison, and may come yet."""
        missed = [name for name, key in self._lost.items() if first <= key <= last]
        for name in missed:
            del self._lost[name]
        self._missed = dict.fromkeys([*self._missed, *missed][-MOST:])
        self._renew()

    def _renew(self) -> None:
        self._keys = frozenset(self._lost.values()) | {row.key for row in list(self._doubted.values())}


_GROUPS_KEPT = 32  # frames read last, some 20 kB each, or 128 kB


_OVERHEAD_BYTES = 1024  # of a record beside its body


class RecentRecords:
    """The records committed last, up to so many bytes of bodies."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes, self._bytes = limit_bytes, 0
        self._kept: dict[tuple[Kind, DocumentId], Record] = {}

    def keep(self, record: Record) -> None:
        """Remember a version that has just become the newest."""
        name = record.kind, record.id
        self._forget(name)
        self._kept[name] = record if record.content is None else record.without_content()
        self._bytes += len(record.body) + _OVERHEAD_BYTES
        while self._bytes > self._limit_bytes:
            self._forget(next(iter(self._kept)))

    def find(self, kind: Kind, id: DocumentId) -> Record | None:
        """Return the newest version without its content, None where it is not remembered."""
        return self._kept.get((kind, id))

    def clear(self) -> None:
        """Forget all records, because some of them may be gone from the store."""
        self._kept, self._bytes = {}, 0

    def _forget(self, name: tuple[Kind, DocumentId]) -> None:
        old = self._kept.pop(name, None)
        if old is not None:
            self._bytes -= len(old.body) + _OVERHEAD_BYTES


class RecordReader:
    """Finds records by name and by key range; what `denial` takes back is hidden until it is swept off the disk."""

    def __init__(
        self, catalog: CatalogReader, segments: Segments, recent: RecentRecords, unreadable: UnreadableRecords
    ) -> None:
        self._catalog, self._segments, self._recent, self._unreadable = catalog, segments, recent, unreadable
        self.denial = RecordDenial()
        self._groups: dict[tuple[int, ...], SharedFrame] = {}  # by segment and offset

    def spare(self) -> None:
        """Give up the frames read last; they are read again."""
        self._groups = {}

    def find(self, kind: Kind, id: DocumentId, *, content: bool, proven: bool) -> Record | None:
        """Return the newest version, None where there is none, or it is hidden or cannot be read; see
        `RecordStore.find`."""
        return self._shown(self._find(kind, id, content=content, proven=proven or self.denial.judges_authors))

    def denied(self, row: CatalogRow) -> Record | None:
        """Return the record of a row where it is taken back, None where it is not or cannot be read."""
        record = self._find(row.kind, row.id, content=False, proven=True)
        return record if record is not None and self.denial.reason(record) else None

    def _shown(self, record: Record | None) -> Record | None:
        is_hidden = self.denial.is_any and record is not None and self.denial.reason(record)
        return None if is_hidden else record

    def _find(self, kind: Kind, id: DocumentId, *, content: bool, proven: bool) -> Record | None:
        if not content and (recent := self._recent.find(kind, id)) is not None:
            return recent
        for _ in range(3):  # compaction may move the frame between the two steps
            row = self._catalog.find(kind, id)
            if row is None:
                return None
            try:
                record = self._load(row, content=content, proven=proven)
            except (StoreCorrupt, MachineRefuses):
                break
            if record is not None:
                return record
        assert row is not None
        self._unreadable.doubt([row])
        return None

    def scan(self, kind: Kind, first_key: bytes, last_key: bytes, *, content: bool) -> Iterator[Record]:
        """Yield the records of a key range; see `RecordStore.scan`."""
        for row in self._catalog.walk(first_key, last_key, kind):
            record = None
            with suppress(StoreCorrupt, MachineRefuses):  # `find` sees it, too
                record = self._load(row, content=content, proven=self.denial.judges_authors)
            if record is None:
                record = self._find(row.kind, row.id, content=content, proven=True)
            if (shown := self._shown(record)) is not None:
                yield shown

    def _load(self, row: CatalogRow, *, content: bool, proven: bool) -> Record | None:
        """Read what a row leads to; None where compaction has taken its segment away meanwhile. Raises StoreCorrupt or
        MachineRefuses."""
        if row.place.part:
            return self._from_group(row, content=content, proven=proven)
        frame = self._segments.read(row.place, content=content)
        if frame is None:
            return None
        try:
            record = decode_head(frame.head)
        except ValueError as error:
            raise self._segments.damaged(row.place, str(error)) from error
        if record.id != row.id:
            raise self._segments.damaged(row.place, "it holds another record")
        return replace(record, content=frame.content if content else None)

    def _from_group(self, row: CatalogRow, *, content: bool, proven: bool) -> Record | None:
        """One of several records; the frames read last are kept, because neighbours are often asked for together."""
        name = row.place[:2]
        try:
            group = self._groups.pop(name, None)
            if group is None:
                frame = self._segments.read(row.place, content=False)
                if frame is None:
                    return None
                group = open_shared(frame)
            record = _member(row, group, proven=proven)
        except (ValueError, RecursionError) as error:
            raise self._segments.damaged(row.place, str(error)) from error
        self._groups[name] = group
        while len(self._groups) > _GROUPS_KEPT:
            del self._groups[next(iter(self._groups))]
        return record if content else record.without_content()


def _member(row: CatalogRow, frame: SharedFrame, *, proven: bool) -> Record:
    """The record of a frame that a row leads to; raises ValueError."""
    if isinstance(frame, PackedRecords):
        record = frame.record(row.place.part >> 8)
        if record.id != row.id:
            raise ValueError("it holds another record")
        return record
    return frame.record(row.place.part >> 8) if proven else _without_proof(row, frame)


def _without_proof(row: CatalogRow, group: RecordGroup) -> Record:
    """Return a record, without its proof, from its row in the index and its body in the group."""
    body = group.body(row.place.part >> 8)
    version = Version(row.version.epoch, row.version.at_ms, digest_of(body, NOTHING))
    return Record(row.kind, row.id, row.key, version, row.expires_day, body, b"", NOTHING, NO_PROOF)
