"""Reads a whole store whose node does not run and says what is wrong with it; it changes nothing.

It reads every frame of every segment, every record with its digest and its author's proof, every row of the index, and
the sums over the key space. Then it compares them with each other.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from msgspec.structs import replace

from store.catalog import cell_sums
from store.catalog.catalog_reader import CatalogReader
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
from store.record.former_page import proof_flaws
from store.record.package import decode_head
from store.record.record import Record
from store.record.record_check import mixed_up
from store.segments.file_system import CATALOG, FolderDisk, SqliteErrors
from store.segments.frame import Frame, FrameType, SegmentPlace
from store.segments.record_group import open_shared
from store.segments.segments import MAGIC, Segments

REBUILD = f"move {CATALOG} away and start the node: it builds the index anew and fetches what is missing from others"
MISWRITTEN = "the disk's checksums agree, so a program wrote it so: report it"
_CELLS = "SELECT * FROM cells ORDER BY cell, expires_day"


@dataclass(frozen=True, slots=True)
class StoreFlaw:
    """Says what is wrong, where, how many times, and what helps."""

    what: str
    where: str
    count: int
    remedy: str


@dataclass(slots=True)
class StoreReport:
    """Counts what was read, and lists what is wrong."""

    segments: int = 0
    bytes: int = 0
    frames: int = 0
    records: int = 0  # in frames, former versions among them
    rows: int = 0  # of the index
    torn_bytes: int = 0  # a crash left them behind all that was acknowledged; the next start cuts them off
    flaws: list[StoreFlaw] = field(default_factory=list)

    def add(self, what: str, where: str, count: int, remedy: str) -> None:
        """List a flaw, unless it was met no time."""
        if count:
            self.flaws.append(StoreFlaw(what, where, count, remedy))


def check_store(folder: Path) -> StoreReport:
    """Read all of a store, whose directory this process has locked. Raises MachineRefuses."""
    report = StoreReport()
    if not folder.is_dir():
        return report
    segments = Segments(FolderDisk(folder), 0, 0)
    report.segments, report.bytes = len(segments.numbers), segments.used_bytes
    if not (folder / CATALOG).exists():
        if segments.numbers:
            report.add("index missing", CATALOG, 1, "start the node: it is rebuilt from the segments")
        _StoreReading(segments, None, report).read()
        return report
    try:
        has_log = (folder / f"{CATALOG}-wal").exists()  # a crash left it; else SQLite is to leave none
        source = f"file:{quote(str(folder / CATALOG))}?{'mode=ro' if has_log else 'immutable=1'}"
        with SqliteErrors(CATALOG), closing(sqlite3.connect(source, uri=True)) as index:
            (verdict,) = index.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise StoreCorrupt(CATALOG, str(verdict), REBUILD)
            _StoreReading(segments, index, report).read()
    except StoreCorrupt as error:
        report.add(f"index damaged: {error.reason}", CATALOG, 1, REBUILD)
    return report


class _StoreReading:
    """Reads one segment after the other beside the rows of the index that lead there."""

    def __init__(self, segments: Segments, index: sqlite3.Connection | None, report: StoreReport) -> None:
        self._segments, self._index, self._report = segments, index, report
        notes = dict(index.execute("SELECT name, value FROM notes")) if index else {}
        self._covered = int(notes.get("covered_segment") or 0), int(notes.get("covered_bytes") or 0)

    def read(self) -> None:
        with closing(sqlite3.connect(":memory:")) as sums:
            sums.executescript(cell_sums.SCHEMA)
            reader = CatalogReader(self._index, SqliteErrors(CATALOG)) if self._index else None
            named = reader.live_bytes() if reader else {}
            for number in sorted({*self._segments.numbers, *named}):
                rows = reader.rows_in(number) if reader else []
                self._report.rows += len(rows)
                cell_sums.count(sums, (), rows)
                self._read_segment(number, rows)
            if self._index and self._index.execute(_CELLS).fetchall() != sums.execute(_CELLS).fetchall():
                self._report.add("sums over the key space differ from the rows", CATALOG, 1, REBUILD)

    def _read_segment(self, number: int, rows: Sequence[CatalogRow]) -> None:
        where, report = f"segment-{number:08d}", self._report
        wanted = {(row.place.offset, row.place.part): row for row in rows}
        unlike = forged = unreadable = 0
        for frame in self._sound_frames(number):
            report.frames += 1
            try:
                found = _records_of(frame)
            except ValueError:
                unreadable += 1
                continue
            report.records += len(found)
            records = [record for _, record in found]
            reasons = zip(proof_flaws(records), map(mixed_up, records), strict=True)
            forged += sum(bool(forgery or mix) for forgery, mix in reasons)
            for place, record in found:
                row = wanted.pop((place.offset, place.part), None)
                unlike += row is not None and not _fits(row, record, place)
        report.add("frames that cannot be decoded", where, unreadable, MISWRITTEN)
        report.add("records with a wrong digest or proof", where, forged, MISWRITTEN)
        report.add("rows of the index that lead to another record", where, unlike, REBUILD)
        report.add("records lost, to which the index leads", where, len(wanted), REBUILD)

    def _sound_frames(self, number: int) -> Iterator[Frame]:
        """Yield the frames that check, and list what lies between them."""
        size, end = self._segments.size(number), len(MAGIC)
        for frame in self._segments.frames(number):
            self._gap(number, end, frame.place.offset)
            yield frame
            end = frame.place.end
        durable = self._covered[1] if number == self._covered[0] else size
        if number == self._segments.newest and end >= (durable if self._index else 0) and end < size:
            self._report.torn_bytes += size - end
        else:
            self._gap(number, end, size)

    def _gap(self, number: int, first: int, last: int) -> None:
        if first < last:
            where = f"segment-{number:08d} from byte {first} to {last}"
            self._report.add("bytes damaged", where, last - first, "check the disk")


def _records_of(frame: Frame) -> list[tuple[SegmentPlace, Record]]:
    """Decode what a frame holds, and where; raises ValueError."""
    if frame.type == FrameType.RECORD:
        return [(frame.place, replace(decode_head(frame.head), content=frame.content))]
    if frame.type not in (FrameType.GROUP, FrameType.PACKAGE):
        return []
    group = open_shared(frame)
    return [(frame.place.of(n, len(group)), record) for n, record in enumerate(group.records(proven=True))]


def _fits(row: CatalogRow, record: Record, place: SegmentPlace) -> bool:
    told = (row.kind, row.id, row.key, row.version, row.expires_day, row.place)
    return told == (record.kind, record.id, record.key, record.version.short, record.expires_day, place)
