"""Segments and catalog in step: every change of the store, one after the other.

A commit writes frames, syncs them, then changes the index in one transaction that also notes how far the segments
are covered. So after a crash anywhere the index is behind the segments or level with them, never ahead; opening
replays what it lacks and cuts a torn tail off. An index that is lost, damaged or does not fit the segments is rebuilt
from them under a new incarnation. All methods belong to the store's writer thread.
"""

import logging
import secrets
from collections.abc import Sequence

import msgspec

from dht import DocumentId
from store.catalog import Catalog, Row
from store.config import StoreConfig
from store.disk import Disk
from store.errors import DiskFull, StoreCorrupt
from store.package import decode_head, depth_of, encode_head, url_of
from store.quota import Quota
from store.record import Kind, Record, Version
from store.segments import Frame, Place, Segments, Type

log = logging.getLogger(__name__)
_STEP = 512  # rows or frames in one transaction while replaying or removing


class Ledger:
    """The store's write side. Opening it recovers from whatever a crash left."""

    def __init__(self, disk: Disk, config: StoreConfig) -> None:
        self._disk = disk
        self._quota = Quota(config.quota_bytes, config.reserve_bytes)
        self.segments = Segments(disk, config.segment_bytes, config.compression_level)
        self.catalog = self._open_catalog()
        self._replay()
        incarnation = self.catalog.note("incarnation")
        with self.catalog.transaction():
            if not isinstance(incarnation, bytes):
                incarnation = secrets.token_bytes(16)
                self.catalog.write_note("incarnation", incarnation)
            self.catalog.write_note("clean", 0)
        self.incarnation: bytes = incarnation

    @property
    def path(self) -> str:
        return self._disk.path

    def close(self) -> None:
        with self.catalog.transaction():
            self.catalog.write_note("clean", 1)
        self.catalog.checkpoint()
        self.catalog.close()

    def commit(self, records: Sequence[Record]) -> dict[tuple[Kind, DocumentId], Version]:
        """Make the newer ones durable and return those versions. Raises DiskFull, having changed nothing."""
        newest: dict[tuple[Kind, DocumentId], Record] = {}
        for record in records:
            other = newest.get((record.kind, record.id))
            if other is None or _beats(record, other.version, other.key):
                newest[record.kind, record.id] = record
        rows = self.catalog.rows_of((r.kind, r.id) for r in newest.values())
        pairs = zip(newest.values(), rows, strict=True)
        fresh = [(r, row) for r, row in pairs if not row or _beats(r, row.version, row.key)]
        if not fresh:
            return {}
        frames = [self.segments.encode(Type.RECORD, encode_head(r), r.content or b"") for r, _ in fresh]
        places = self._append(frames)
        self._index([_row(r, place) for (r, _), place in zip(fresh, places, strict=True)], [row for _, row in fresh])
        return {(r.kind, r.id): r.version for r, _ in fresh}

    def drop(self, first: bytes, last: bytes, rows: Sequence[Row], today: int) -> None:
        """Give away the records of a key range, `rows` being the live ones in it."""
        head = msgspec.msgpack.encode((first, last, today))
        self._append([self.segments.encode(Type.DROP, head, b"")], check=False)
        for start in range(0, len(rows), _STEP):
            self.remove(rows[start : start + _STEP], today)

    def remove(self, rows: Sequence[Row], today: int) -> None:
        """Take rows out of the index; their frames are dead until compaction."""
        with self.catalog.transaction():
            self.catalog.remove(rows, today)
            self._cover()

    def forget_tombstones(self, before_day: int) -> None:
        """Let the change log forget removals older than a day."""
        with self.catalog.transaction():
            self.catalog.forget_tombstones(before_day)

    def rewrite(self, rows: Sequence[Row]) -> None:
        """Copy live frames to the newest segment, so that an older one may go."""
        frames = [self.segments.raw(row.place) for row in rows]
        places = self._append(frames, check=False)
        with self.catalog.transaction():
            self.catalog.move(rows, places)
            self._cover()

    def delete_segment(self, segment: int) -> None:
        """Forget a sealed segment that holds nothing alive any more, once the index says so durably."""
        self.catalog.checkpoint()
        self.segments.delete(segment)

    def no_room(self, incoming_bytes: int) -> str:
        """Why so many bytes more would be refused, "" where they would not."""
        return self._quota.refusal(self.segments.used_bytes, self._disk.free_bytes(), incoming_bytes)

    def _append(self, frames: Sequence[tuple[bytes, int]], *, check: bool = True) -> list[Place]:
        refusal = self.no_room(sum(len(data) for data, _ in frames)) if check else ""
        if refusal:
            raise DiskFull(self._disk.path, refusal)
        return self.segments.append(frames)

    def _index(self, rows: Sequence[Row], replaced: Sequence[Row | None]) -> None:
        """Put durable rows into the index; where it is full, take their frames back so that both stay in step."""
        try:
            with self.catalog.transaction():
                self.catalog.put(rows, replaced)
                self._cover()
        except DiskFull:
            self.segments.cut(rows[0].place.segment, rows[0].place.offset)
            raise

    def _cover(self) -> None:
        self.catalog.write_note("covered_segment", self.segments.newest)
        self.catalog.write_note("covered_bytes", self.segments.size(self.segments.newest))

    def _open_catalog(self) -> Catalog:
        """The index, or an empty one where it cannot be trusted."""
        try:
            catalog = Catalog(self._disk)
            problem = self._misfit(catalog)
            if not problem:
                return catalog
            catalog.close()
        except StoreCorrupt as error:
            problem = str(error)
            if "newer program" in error.remedy:
                raise
        log.warning("store index is rebuilt from segments path=%s reason=%s", self._disk.path, problem)
        self._disk.drop_database()
        return Catalog(self._disk)

    def _misfit(self, catalog: Catalog) -> str:
        """Why an index cannot belong to these segments, "" where it can."""
        covered, size = _int(catalog.note("covered_segment")), _int(catalog.note("covered_bytes"))
        if covered and (covered not in self.segments.numbers or self.segments.size(covered) < size):
            return f"segment {covered} is shorter than the index knows"
        missing = sorted(set(catalog.live_bytes()) - set(self.segments.numbers))
        return f"segments {missing} are missing" if missing else ""

    def _replay(self) -> None:
        """Index what the segments hold beyond what is covered, and cut a torn tail off."""
        covered, size = _int(self.catalog.note("covered_segment")), _int(self.catalog.note("covered_bytes"))
        for segment in [n for n in self.segments.numbers if n >= covered]:
            frames: list[Frame] = []
            end = size if segment == covered else 0
            for frame in self.segments.frames(segment, end):
                frames.append(frame)
                end = frame.place.end
                if len(frames) == _STEP:
                    self._replay_step(frames)
                    frames = []
            self._replay_step(frames)
            if segment == self.segments.newest:
                self.segments.cut(segment, end)
        with self.catalog.transaction():
            self._cover()

    def _replay_step(self, frames: Sequence[Frame]) -> None:
        rows: dict[tuple[int, bytes], Row] = {}
        for frame in frames:
            if frame.type == Type.DROP:
                self._replay_rows(list(rows.values()))
                rows = {}
                self._replay_drop(frame)
                continue
            record = decode_head(frame.head)
            other = rows.get((record.kind, record.id))
            if other is None or _follows(record.version, record.key, other):
                rows[record.kind, record.id] = _row(record, frame.place)
        self._replay_rows(list(rows.values()))

    def _replay_rows(self, rows: Sequence[Row]) -> None:
        old = self.catalog.rows_of((r.kind, r.id) for r in rows)
        pairs = [(r, o) for r, o in zip(rows, old, strict=True) if o is None or _follows(r.version, r.key, o)]
        if pairs:
            with self.catalog.transaction():
                self.catalog.put([r for r, _ in pairs], [o for _, o in pairs])

    def _replay_drop(self, frame: Frame) -> None:
        first, last, day = msgspec.msgpack.decode(frame.head, type=tuple[bytes, bytes, int])
        rows = self.catalog.inside(first, last)
        with self.catalog.transaction():
            self.catalog.remove(rows, day)


def _beats(record: Record, version: Version, key: bytes) -> bool:
    """Whether a record takes the place of another of its name: a newer version, or the same where its site was spread
    further since."""
    if record.version != version or record.key == key:
        return record.version > version
    url = url_of(record)
    return depth_of(url, record.key) > depth_of(url, key)


def _follows(version: Version, key: bytes, before: Row) -> bool:
    """The same of frames in the order in which they were written: a version at another key was let in then."""
    return version > before.version or (version == before.version and key != before.key)


def _row(record: Record, place: Place) -> Row:
    return Row(record.kind, record.id, record.key, record.version, record.expires_day, place)


def _int(value: bytes | int | None) -> int:
    return value if isinstance(value, int) else 0
