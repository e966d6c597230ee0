"""The write side of one disk: it keeps segments and catalog in step, one change after the other.

A commit writes frames, syncs them, then changes the index in one transaction that also notes how far the segments
are covered. So after a crash anywhere the index is behind the segments or level with them, never ahead; opening
replays what it lacks and cuts a torn tail off. An index that is lost, damaged or does not fit the segments is rebuilt
from them under a new incarnation. All methods belong to the store's writer thread.
"""

import logging
import secrets
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from itertools import groupby

import msgspec
from msgspec.structs import replace

from dht import DocumentId, MachineRefuses, SignedGrant, encode_grant
from store.catalog import grant_table
from store.catalog.disk_room import DiskRoom
from store.catalog.grant_table import EndedGrant
from store.catalog.recovery import STEP, cover, open_catalog, replay, row_of, rows_of
from store.catalog.row_table import CatalogRow
from store.catalog.version_filing import Replacing, VersionFiling, portions
from store.config import StoreConfig
from store.errors import StoreCorrupt
from store.record.package import decode_head, depth_of, encode_head, url_of
from store.record.package_part import PackagePart, is_plain, make_parts, whole_parts
from store.record.record import Kind, Record, ShortVersion, Version
from store.segments.dictionary_training import DictionaryTraining
from store.segments.file_system import Disk
from store.segments.frame import FrameType, SegmentPlace
from store.segments.record_group import encode_group, open_shared, parts_of
from store.segments.segments import Segments

log = logging.getLogger(__name__)
SOME_ROOM_BYTES = 1 << 20  # a disk that has less is full


class Ledger:
    """Writes segments and catalog together. Opening it recovers from whatever a crash left."""

    def __init__(self, disk: Disk, config: StoreConfig) -> None:
        self._disk, self.config = disk, config
        level = config.compression_level
        self.training = DictionaryTraining(config.dictionary_bytes, config.segment_bytes, level)
        self.segments = Segments(disk, config.segment_bytes, level, self.training)
        self.room = DiskRoom(disk, config, self.segments)
        self.catalog = open_catalog(disk, self.segments)
        self.filing = VersionFiling(self.catalog, self._stored)
        replay(self.catalog, self.segments)
        incarnation = self.catalog.note("incarnation")
        with self.catalog.transaction():
            if not isinstance(incarnation, bytes):
                incarnation = secrets.token_bytes(16)
                self.catalog.write_note("incarnation", incarnation)
            self.catalog.write_note("clean", 0)
        self.incarnation: bytes = incarnation
        if self.segments.dictionary is not None and self.erase_upto >= self.segments.newest:
            self.segments.retire_dictionary()

    @property
    def path(self) -> str:
        """The name of the disk in an error."""
        return self._disk.path

    def close(self) -> None:
        """Note that the index is whole, so that the next start need not check it, and close it.

        A damaged one is deleted: the next start rebuilds it."""
        if self.catalog.is_damaged:
            self.catalog.close()
            self._disk.drop_database()
            return
        try:
            with self.catalog.transaction():
                self.catalog.write_note("clean", 1)
            self.catalog.checkpoint()
        except MachineRefuses as error:
            log.info("the next start checks the store's index reason=%s", error)
        finally:
            self.catalog.close()

    def commit(
        self, records: Sequence[Record], parts: Sequence[PackagePart] = ()
    ) -> dict[tuple[Kind, DocumentId], Version]:
        """Make the newer ones of records durable, and of pages the older ones that the policy keeps, and return their
        versions. Those of whole `parts` lie as they came. Raises MachineRefuses; what was changed before that is whole
        and right."""
        newest: dict[tuple[Kind, DocumentId], Record] = {}
        for record in records:
            other = newest.get((record.kind, record.id))
            if record.kind != Kind.FORMER and (other is None or _beats(record, other.version.short, other.key)):
                newest[record.kind, record.id] = record
        rows = self.catalog.named((r.kind, r.id) for r in newest.values())
        pairs = list(zip(newest.values(), rows, strict=True))
        fresh = [(r, row) for r, row in pairs if not row or _beats(r, row.version, row.key)]
        taken = {(r.kind, r.id): r.version for r, _ in fresh}
        here = {(row.kind, row.id): row.version for _, row in pairs if row} | {n: v.short for n, v in taken.items()}
        late = [r for r in records if r.kind == Kind.FORMER or _is_late(r, here)]
        for part in portions(fresh):
            taken |= self._commit(part, late, parts)
            late = []
        return taken

    def _commit(
        self, fresh: Replacing, late: Sequence[Record], parts: Sequence[PackagePart] = ()
    ) -> dict[tuple[Kind, DocumentId], Version]:
        """Make records durable and return the versions of all that were written.

        `fresh`: new records, each with the row that it replaces. `late`: older pages, and former versions of others,
        which the policy may keep. `parts`: whole parts of packages in which records came; these are stored as they
        came."""
        filing = self.filing.plan(fresh, late)
        come = [*fresh, *((r, row) for r, row in filing.come if not row or _beats(r, row.version, row.key))]
        if come or filing.went:
            self._index(self._keep([r for r, _ in come], parts), [row for _, row in come], filing.went)
        return {(r.kind, r.id): r.version for r, _ in come}

    def expire(self, rows: Sequence[CatalogRow], today: int) -> None:
        """Remove the records of rows whose expiry day is before `today` (days since 1970). A page that the policy for
        former versions keeps longer becomes a former version. Raises MachineRefuses."""
        self.filing.today = today
        policy = self.filing.policy
        for row in rows:
            if row.kind == Kind.DOCUMENT and policy.is_young(row.version.at_ms, today):
                page = self._stored(row)
                self._commit([], [] if page is None else [page])
        self.remove(rows, today)

    def thin(self, after: bytes) -> tuple[int, bytes]:
        """Drop former versions that are kept no more, of some that come after an id; return how many went, and the id
        to go on after, b"" at the end. Raises MachineRefuses."""
        rows, following = self.filing.thinned(after)
        for start in range(0, len(rows), STEP):
            self.remove(rows[start : start + STEP], self.filing.today)
        return len(rows), following

    def _stored(self, row: CatalogRow) -> Record | None:
        """A record with its content, None where it cannot be read: others may have it."""
        try:
            if row.place.part:
                return self._opened([row])[0]
            frame = self.segments.read(row.place, content=True)
            return None if frame is None else replace(decode_head(frame.head), content=frame.content)
        except (StoreCorrupt, MachineRefuses, ValueError) as error:
            log.warning("version not kept id=%s reason=%s", row.id.hex(), error)
            return None

    def _keep(
        self, records: Sequence[Record], parts: Sequence[PackagePart] = (), *, check: bool = True
    ) -> list[CatalogRow]:
        """Write records to the newest segment, small ones and those of whole parts together, and say where each lies,
        in order."""
        if (dictionary := self.training.trained()) is not None:
            self.segments.offer(dictionary)
        packed = [part for part in whole_parts(parts, records) if is_plain(part)]
        inside = {id(record) for part in packed for record in part.records}
        others = [record for record in records if id(record) not in inside]
        groups = [[others[n] for n in group] for group in parts_of(others)]
        frames = [*(self.segments.packed(part.data) for part in packed), *map(self._frame, groups)]
        rows: dict[int, CatalogRow] = {}
        shared = [*(part.records for part in packed), *groups]
        for members, place in zip(shared, self._append(frames, check=check), strict=True):
            for number, record in enumerate(members):
                own = place.of(number, len(members)) if id(record) in inside or len(members) > 1 else place
                author = self.catalog.authors.number_of(record.proof.author, record.kind, record.version.epoch)
                rows[id(record)] = row_of(record, own, author)
        return [rows[id(record)] for record in records]

    def _frame(self, records: Sequence[Record]) -> tuple[bytes, int]:
        if len(records) > 1:
            return self.segments.encode(FrameType.GROUP, encode_group(records), b"")
        return self.segments.encode(FrameType.RECORD, encode_head(records[0]), records[0].content or b"")

    def keep_grants(self, grants: Sequence[SignedGrant], *, check: bool = True) -> None:
        """Make grants durable, before the records that name them. Raises MachineRefuses, having changed nothing."""
        head = msgspec.msgpack.encode([*map(encode_grant, grants)])
        (place,) = self._append([self.segments.encode(FrameType.GRANTS, head, b"")], check=check)
        with self.catalog.transaction():
            grant_table.add(self.catalog.database, grants, place.segment)
            cover(self.catalog, self.segments)

    def drop_grants(self, grants: Sequence[EndedGrant]) -> None:
        """Take grants out of the index."""
        with self.catalog.transaction():
            grant_table.drop(self.catalog.database, grants)

    def drop(self, first: bytes, last: bytes, rows: Sequence[CatalogRow], today: int) -> None:
        """Drop the records of a key range, of which `rows` are the live ones."""
        head = msgspec.msgpack.encode((first, last, today))
        self._append([self.segments.encode(FrameType.DROP, head, b"")], check=False)
        for start in range(0, len(rows), STEP):
            self.remove(rows[start : start + STEP], today)

    def remove(self, rows: Sequence[CatalogRow], today: int, *, erased: bool = False, is_told: bool = True) -> None:
        """Take rows out of the index; their frames stay, dead, until compaction. `erased`: compaction then rewrites
        every present segment that holds anything dead, since former versions of the records may lie in any. `is_told`:
        the change log says so."""
        with self.catalog.transaction():
            self.catalog.remove(rows, today, is_told=is_told)
            if erased:
                self.catalog.write_note("erase_upto", self.segments.newest)
            cover(self.catalog, self.segments)
        if erased:  # a dictionary is made of parts of pages
            self.training.forget()
            self.segments.retire_dictionary()

    @property
    def erase_upto(self) -> int:
        """The segment up to which nothing dead may stay, 0 for none."""
        upto = self.catalog.note("erase_upto")
        return upto if isinstance(upto, int) else 0

    def erased(self) -> None:
        """Note that nothing dead is left where none may stay."""
        with self.catalog.transaction():
            self.catalog.write_note("erase_upto", 0)

    def seal(self) -> None:
        """Begin a new segment, so that the newest one may be rewritten. Raises MachineRefuses."""
        self.segments.append([], is_new=True)
        with self.catalog.transaction():
            cover(self.catalog, self.segments)

    def forget_tombstones(self, before_day: int) -> None:
        """Let the change log forget removals older than a day."""
        with self.catalog.transaction():
            self.catalog.forget_tombstones(before_day)

    def rewrite(self, rows: Sequence[CatalogRow]) -> None:
        """Copy live frames to the newest segment, so that an older one may go. Raises StoreCorrupt, having changed
        nothing, where one is damaged."""
        if not rows:
            return
        own, shared = [row for row in rows if not row.place.part], [row for row in rows if row.place.part]
        frames, opened = [self.segments.copied(row.place) for row in own], self._opened(shared)
        places = self._append(frames, check=False) if frames else []
        moved = self._keep(opened, make_parts(opened), check=False) if opened else []
        with self.catalog.transaction():
            self.catalog.move([*own, *shared], [*places, *(row.place for row in moved)])
            cover(self.catalog, self.segments)

    def drop_damaged(self, doubted: Sequence[CatalogRow], today: int) -> list[CatalogRow]:
        """Take those of rows out of the index whose frames cannot be read, and what shares these frames with them, and
        those that lead to another record; returns what went."""
        held = {place: self._held(place) for place in {row.place._replace(part=0) for row in doubted}}
        damaged = {place for place, rows in held.items() if rows is None}
        segments = sorted({place.segment for place in damaged})
        rows = [row for segment in segments for row in self.catalog.rows_in(segment)]
        gone = [row for row in rows if row.place._replace(part=0) in damaged]
        misled = [row for row in doubted if row[:6] not in (held[row.place._replace(part=0)] or {row[:6]})]
        now = self.catalog.named((row.kind, row.id) for row in misled)
        gone += [row for row, before in zip(now, misled, strict=True) if row is not None and row[:6] == before[:6]]
        for start in range(0, len(gone), STEP):
            self.remove(gone[start : start + STEP], today)
        if gone:
            log.warning("records damaged count=%d frames=%d segments=%s", len(gone), len(damaged), segments)
        return gone

    def _held(self, place: SegmentPlace) -> Container[tuple[object, ...]] | None:
        """Return the rows that lead to what lies at a place, without their numbers; None where it cannot be read."""
        try:
            frame = self.segments.read(place, content=True)
            return {row[:6] for row in rows_of(frame)} or None if frame is not None else None
        except (StoreCorrupt, ValueError):
            return None

    def _opened(self, rows: Sequence[CatalogRow]) -> list[Record]:
        """Records that share frames; each frame is read once where its rows stand together."""
        found: list[Record] = []
        for place, members in groupby(rows, lambda row: row.place._replace(part=0)):
            frame = self.segments.read(place, content=False)
            assert frame is not None  # the one thread that deletes segments is this one
            try:
                group = open_shared(frame)
                found += [group.record(row.place.part >> 8) for row in members]
            except (ValueError, RecursionError) as error:
                raise self.segments.damaged(place, str(error)) from error
        return found

    def delete_segment(self, segment: int) -> None:
        """Forget a sealed segment that holds no live record any more, once the index says so durably; its grants are
        written anew."""
        if grants := grant_table.in_segment(self.catalog.database, segment):
            self.keep_grants(grants, check=False)
        self.catalog.checkpoint()
        self.segments.delete(segment)

    @property
    def is_training_due(self) -> bool:
        """Whether so much was written that another dictionary may pay."""
        return self.training.is_due(self.segments.used_bytes)

    def train(self) -> None:
        """Train a dictionary for the segments to come; in any thread but the writer's."""
        self.training.train(self.segments.dictionary)

    def probe(self) -> None:
        """Raise MachineRefuses unless there is some room, and both segments and index can be written."""
        self.room.check(min(SOME_ROOM_BYTES, self.room.quota_bytes // 20))
        self.segments.probe()
        with self.catalog.transaction():
            cover(self.catalog, self.segments)

    def _append(self, frames: Sequence[tuple[bytes, int]], *, check: bool = True) -> list[SegmentPlace]:
        if check:
            self.room.check(sum(len(data) for data, _ in frames))
        return self.segments.append(frames)

    def _index(
        self, rows: Sequence[CatalogRow], replaced: Sequence[CatalogRow | None], went: Sequence[CatalogRow]
    ) -> None:
        """Put durable rows into the index, and take out those that went; where it is full, take their frames back so
        that both stay in step."""
        try:
            with self.catalog.transaction():
                self.catalog.put(rows, replaced)
                if went:
                    self.catalog.remove(went, self.filing.today)
                cover(self.catalog, self.segments)
        except MachineRefuses:
            with suppress(MachineRefuses):  # the first refusal is the one to tell
                if rows:
                    self.segments.cut(rows[0].place.segment, min(row.place.offset for row in rows))
            raise


def _beats(record: Record, version: ShortVersion, key: bytes) -> bool:
    """Whether a record takes the place of another of its name: a newer version, or the same where its site was spread
    further since."""
    own = record.version.short
    if own != version or record.key == key:
        return own > version
    url = url_of(record)
    return depth_of(url, record.key) > depth_of(url, key)


def _is_late(record: Record, here: Mapping[tuple[Kind, DocumentId], ShortVersion]) -> bool:
    """Whether a record is an older version of a page that is here."""
    return record.kind == Kind.DOCUMENT and record.version.short < here[record.kind, record.id]
