"""`RecordStore`: what the rest of the node sees of the disk.

Writes are durable when they return: one writer thread commits everything that waits in one go, so concurrent writers
share a sync. Reads are plain calls on the event loop, a few dozen microseconds each. Everything else follows the change
log: `changes` after a sequence number, coalesced by record, removals included; it belongs to one `incarnation` of the
store, and a follower that is older than `horizon` starts from zero.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import TypeVar

from msgspec.structs import replace

from dht import Clock, DocumentId, LocalError
from store.config import StoreConfig
from store.disk.catalog import RecordChange
from store.disk.cell_sums import CELL_BITS, Summary
from store.disk.compaction import Compaction
from store.disk.file_system import Disk, FolderDisk
from store.disk.ledger import Ledger
from store.disk.recent_records import RecentRecords
from store.disk.record_group import NO_PROOF, NOTHING, RecordGroup, decode_group
from store.disk.row_table import CatalogRow
from store.errors import BadReplica, StoreCorrupt
from store.record.package import decode_head
from store.record.record import Kind, Record, ShortVersion, Version, digest_of

log = logging.getLogger(__name__)
EPOCH_AHEAD_S = 86_400.0 + 120.0  # epochs are seconds; voters believe none further ahead (`dht/leases/voter.py`)
AHEAD_S = 120.0  # an outcome from further in the future is refused: its author's clock is wrong
DAY_S = 86400.0
MAX_DAYS = 3660  # the longest that a record may ask to be kept
ASIDE_BYTES = 64 << 10  # on the wire; proving more holds the event loop for longer than a millisecond or two
_GROUP_RECORDS = 4096  # the most that one commit takes together
_GROUP_BYTES = 16 << 20
_GROUPS_KEPT = 64  # groups read last, some 20 kB each
_RECENT_BYTES = 16 << 20  # of bodies kept for followers: the index looks every ten seconds at the latest
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Batch:
    """One caller's records on their way to the disk, and what became of them."""

    records: Sequence[Record]
    outcome: int | LocalError | None = None


class RecordStore:
    """The newest version of every record that this node keeps."""

    def __init__(self, disk: Disk, config: StoreConfig, clock: Clock) -> None:
        self._config, self._clock = config, clock
        self._ledger = Ledger(disk, config)
        self._catalog, self._segments = self._ledger.catalog, self._ledger.segments
        self._compaction = Compaction(self._ledger, config)
        self._recent = RecentRecords(_RECENT_BYTES)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._looker = ThreadPoolExecutor(1, thread_name_prefix="store-look")
        self._prover = ThreadPoolExecutor(1, thread_name_prefix="store-prove")
        self._turn = asyncio.Lock()
        self._waiting: deque[_Batch] = deque()
        self._groups: dict[tuple[int, ...], RecordGroup] = {}  # by segment and offset
        self._changed = asyncio.Event()
        self._broken: LocalError | None = None

    @classmethod
    def open(cls, path: Path, config: StoreConfig, clock: Clock) -> "RecordStore":
        """Open or create the store in a folder; blocks while it recovers from a crash. Raises StoreCorrupt."""
        return cls(FolderDisk(path), config, clock)

    def close(self) -> None:
        """Finish the commit under way and close the files."""
        for executor in (self._looker, self._prover, self._writer):
            executor.shutdown(wait=True)
        self._ledger.close()

    @property
    def incarnation(self) -> bytes:
        """16 bytes, new whenever the change log starts anew."""
        return self._ledger.incarnation

    @property
    def sequence(self) -> int:
        """The last line of the change log."""
        return self._catalog.sequence

    @property
    def horizon(self) -> int:
        """A follower whose cursor is between 0 and this has missed removals and starts from zero."""
        value = self._catalog.note("horizon")
        return value if isinstance(value, int) else 0

    @property
    def used_bytes(self) -> int:
        return self._segments.used_bytes

    def no_room(self, incoming_bytes: int) -> str:
        """Why so many bytes more would be refused with DiskFull, "" where they would not."""
        return self._ledger.no_room(incoming_bytes)

    @property
    def today(self) -> int:
        """Days since 1970 by this node's clock."""
        return int(self._clock().wall // DAY_S)

    async def put(self, records: Sequence[Record]) -> int:
        """Keep the newer ones of records with their contents; durable when it returns how many were new.

        Older and equal versions, expired ones and outcomes from the future are passed over (`refusal` says why).
        Raises DiskFull (nothing changed) or StoreCorrupt.
        """
        reasons = self.refusals(records)
        batch = _Batch([r for r, reason in zip(records, reasons, strict=True) if not (reason or self._has_just(r))])
        if not batch.records:
            return 0
        self._waiting.append(batch)
        while batch.outcome is None:
            async with self._turn:
                if batch.outcome is None:
                    await self._work(self._commit_waiting)
        if isinstance(batch.outcome, LocalError):
            raise batch.outcome
        return batch.outcome

    def refusal(self, record: Record) -> str:
        """Why a record would be passed over whatever is stored, "" where it would not."""
        return self.refusals([record])[0]

    def refusals(self, records: Sequence[Record]) -> list[str]:
        """The same of each of many."""
        wall = self._clock().wall
        return [_refusal(record, wall) for record in records]

    def knows(self, record: Record) -> bool:
        """Whether putting a record would change nothing, because that version or a newer one of it is durable here. May
        say no of what was not written just now; but of a found URL, which many pages name, it always knows."""
        if self._has_just(record):
            return True
        if record.kind != Kind.VISIT or record.version.epoch:
            return False
        row = self._catalog.find(record.kind, record.id)
        return row is not None and _covers(row.version, row.key, record)

    def _has_just(self, record: Record) -> bool:
        held = self._recent.find(record.kind, record.id)
        return held is not None and _covers(held.version.short, held.key, record)

    def find(self, kind: Kind, id: DocumentId, *, content: bool = True, proven: bool = True) -> Record | None:
        """The newest version, without its content where that is not asked for (the digest still stands); its proof may
        be empty where that is not asked for."""
        if not content and (recent := self._recent.find(kind, id)) is not None:
            return recent
        for _ in range(3):  # compaction may move the frame between the two steps
            row = self._catalog.find(kind, id)
            if row is None:
                return None
            record = self._load(row, content=content, proven=proven)
            if record is not None:
                return record
        raise StoreCorrupt(self._ledger.path, f"record {id.hex()} is missing", "start again: the index is rebuilt")

    def find_version(self, kind: Kind, id: DocumentId) -> ShortVersion | None:
        row = self._catalog.find(kind, id)
        return row.version if row else None

    def scan(self, kind: Kind, first_key: bytes, last_key: bytes, *, content: bool = False) -> Iterator[Record]:
        """Records of a key range by key, but for those of a site that holds very many; proofs may be empty. One that
        leaves meanwhile may be missing, one that comes may be there."""
        for row in self._catalog.scan(kind, first_key, last_key):
            record = self._load(row, content=content, proven=False) or self.find(row.kind, row.id, content=content)
            if record is not None:
                yield record

    def rows(self, first_key: bytes, last_key: bytes) -> list[CatalogRow]:
        """Index rows of a key range, both kinds: what reconciliation compares. Call it inside `look` only."""
        return self._catalog.rows(first_key, last_key)

    def sites(self, kind: Kind, first_key: bytes, last_key: bytes, least: int) -> list[tuple[bytes, int]]:
        """Which parts of keys that name a site (and shard) have at least so many records of a kind in a range, and how
        many. Call it inside `look` only."""
        return self._catalog.sites(kind, first_key, last_key, least)

    async def look(self, job: Callable[[], T]) -> T:
        """Run a job that calls `rows` or `sites`, in the thread that there is for it: a range may hold very much."""
        return await asyncio.get_running_loop().run_in_executor(self._looker, job)

    async def aside(self, job: Callable[[], T], size_bytes: int) -> T:
        """Run a job that opens or proves what a peer sent, off the event loop where that is much."""
        if size_bytes < ASIDE_BYTES:
            return job()
        return await asyncio.get_running_loop().run_in_executor(self._prover, job)

    def changes(self, after: int, limit: int) -> list[RecordChange]:
        """Records changed since `after`, each once, by their last change; at most `limit`."""
        return self._catalog.changes(after, limit)

    async def wait(self, after: int) -> None:
        """Return once there is a change after `after`."""
        while self.sequence <= after:
            await self._changed.wait()

    def summary(self, first_key: bytes, last_key: bytes) -> Summary:
        """Counts and fingerprint of a slot's key range."""
        return self._catalog.summary(first_key, last_key, self.today)

    def occupied(self, slot_bits: int) -> set[int]:
        """Slots in which anything lies."""
        return {cell >> (CELL_BITS - slot_bits) for cell in self._catalog.occupied()}

    async def forget(self, records: Sequence[Record]) -> None:
        """Take records out that others hold now at another place, unless they changed meanwhile."""
        names, today = [(r.kind, r.id) for r in records], self.today

        def remove() -> None:
            rows = zip(records, self._catalog.rows_of(names), strict=True)
            same = [row for r, row in rows if row is not None and (row.version, row.key) == (r.version.short, r.key)]
            if same:
                self._ledger.remove(same, today)
                self._recent.clear()

        if records:
            await self._alone(remove)

    async def drop_range(self, first_key: bytes, last_key: bytes) -> None:
        """Forget a key range that others hold now; the change log says that its records went."""
        today = self.today

        def drop() -> None:
            rows = self._catalog.inside(first_key, last_key)
            if rows:
                self._ledger.drop(first_key, last_key, rows, today)
                self._recent.clear()

        await self._alone(drop)

    async def expire(self, today: int) -> int:
        """Drop records whose expiry day is before `today`, and tombstones past their time; returns how many went."""

        def step() -> int:
            rows = self._catalog.expired(today, 512)
            if rows:
                self._ledger.remove(rows, today)
                self._recent.clear()
            return len(rows)

        total = 0
        while count := await self._alone(step):
            total += count
        await self._alone(lambda: self._ledger.forget_tombstones(today - self._config.tombstone_days))
        return total

    async def compact(self) -> None:
        """Rewrite segments of which little is alive, until none is left."""
        while await self._alone(self._compaction.step):
            pass

    @property
    def reader(self) -> Connection:
        """For tables that ride in the index's file: read here, on the event loop."""
        return self._catalog.reader

    async def change(self, job: Callable[[Connection], T]) -> T:
        """For tables that ride in the index's file: run a job in the writer thread, in one transaction."""

        def run() -> T:
            with self._catalog.transaction():
                return job(self._catalog.writer)

        return await self._alone(run)

    def _load(self, row: CatalogRow, *, content: bool, proven: bool) -> Record | None:
        if row.place.part:
            return self._from_group(row, content=content, proven=proven)
        frame = self._segments.read(row.place, content=content)
        if frame is None:
            return None
        try:
            record = decode_head(frame.head)
        except ValueError as error:
            raise BadReplica(f"record {row.id.hex()}", str(error)) from error
        return replace(record, content=frame.content if content else None)

    def _from_group(self, row: CatalogRow, *, content: bool, proven: bool) -> Record | None:
        """One of many small records; the groups read last are kept, because neighbours are often asked for together."""
        name = row.place[:2]
        try:
            group = self._groups.pop(name, None)
            if group is None:
                frame = self._segments.read(row.place, content=False)
                if frame is None:
                    return None
                group = decode_group(frame.head)
            record = group.record(row.place.part >> 8) if proven else _bare(row, group)
        except ValueError as error:
            raise BadReplica(f"record {row.id.hex()}", str(error)) from error
        self._groups[name] = group
        while len(self._groups) > _GROUPS_KEPT:
            del self._groups[next(iter(self._groups))]
        return record if content else record.without_content()

    async def _alone(self, job: Callable[[], T]) -> T:
        """Run a job in the writer thread between commits, and tell followers."""
        async with self._turn:
            return await self._work(job)

    async def _work(self, job: Callable[[], T]) -> T:
        """Run in the writer thread; a cancelled caller leaves the job running, and followers still hear of it."""
        future = asyncio.get_running_loop().run_in_executor(self._writer, self._guarded, job)
        future.add_done_callback(self._tell)
        return await asyncio.shield(future)

    def _guarded(self, job: Callable[[], T]) -> T:
        """Once the store is known to be damaged nothing more is written."""
        if self._broken is not None:
            raise self._broken
        try:
            return job()
        except StoreCorrupt as error:
            self._broken = error
            raise

    def _tell(self, future: "asyncio.Future[T]") -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _commit_waiting(self) -> None:
        """In the writer thread: one commit for everybody who waits, up to a bound."""
        group: list[_Batch] = []
        size = count = 0
        while self._waiting and count < _GROUP_RECORDS and size < _GROUP_BYTES:
            group.append(self._waiting.popleft())
            count += len(group[-1].records)
            size += sum(len(r.body) + len(r.content or b"") for r in group[-1].records)
        try:
            fresh = self._ledger.commit([r for batch in group for r in batch.records])
        except LocalError as error:
            for batch in group:
                batch.outcome = error
            if isinstance(error, StoreCorrupt):
                self._broken = error
            return
        for record in [r for batch in group for r in batch.records]:
            if fresh.get((record.kind, record.id)) == record.version:
                self._recent.keep(record)
        for batch in group:
            batch.outcome = sum(fresh.get((r.kind, r.id)) == r.version for r in batch.records)


def _covers(held: ShortVersion, key: bytes, record: Record) -> bool:
    """Whether what is held stands against a record; at another key the same version may be news."""
    return held > record.version.short or (held == record.version.short and key == record.key)


def _refusal(record: Record, wall: float) -> str:
    if record.content is None:
        return "content withheld"
    today = int(wall // DAY_S)
    if not today <= record.expires_day <= today + MAX_DAYS:
        return f"expires on day {record.expires_day}, today is {today}"
    ahead_s = record.version.at_ms / 1000 - wall
    is_dated = record.version.epoch > 0 or record.kind == Kind.DOCUMENT
    if is_dated and ahead_s > AHEAD_S:
        return f"dated {ahead_s:.0f} s in the future"
    if record.version.epoch > wall + EPOCH_AHEAD_S:
        return f"epoch {record.version.epoch} is more than a day in the future"
    return ""


def _bare(row: CatalogRow, group: RecordGroup) -> Record:
    """What the index knows and the group adds, without a proof."""
    body = group.body(row.place.part >> 8)
    version = Version(row.version.epoch, row.version.at_ms, digest_of(body, NOTHING))
    return Record(row.kind, row.id, row.key, version, row.expires_day, body, b"", NOTHING, NO_PROOF)
