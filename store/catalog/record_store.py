"""`RecordStore`: what the rest of the node sees of the disk.

Writes are durable when they return and go through one thread (`WriteQueue`). Reads are plain calls on the event loop
(`RecordReader`). A look through whole key ranges has a thread of its own. The parts of the node that keep up with the
store follow the change log (`ChangeLog`).
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import Any, TypeVar

from dht import Clock, DocumentId, Key, LocalFaults, MachineRefuses
from store.catalog.author_sums import AuthorSums
from store.catalog.catalog import Catalog, ChangeLog
from store.catalog.catalog_reader import FORMER_IDS, CatalogReader
from store.catalog.cell_sums import RangeSummary
from store.catalog.disk_room import MORE_ROOM
from store.catalog.known_grants import KnownGrants
from store.catalog.ledger import Ledger
from store.catalog.record_reader import RecentRecords, RecordReader, UnreadableRecords
from store.catalog.row_table import CatalogRow
from store.catalog.scrub import Scrub
from store.catalog.store_upkeep import Compaction, StoreUpkeep
from store.catalog.write_queue import WriteQueue
from store.config import StoreConfig
from store.errors import StoreCorrupt
from store.record.denial import NO_PAGES, RecordDenial
from store.record.former_page import former_range, is_erasure, page_in
from store.record.package_part import PackagePart
from store.record.record import Kind, Record, ShortVersion
from store.record.record_check import DAY_S, time_flaw
from store.segments.file_system import Disk, FolderDisk

T = TypeVar("T")


class SideTables:
    """Reads them on the event loop, and changes them in the writer thread. All is lost where the index is built anew.

    Every method raises StoreCorrupt or MachineRefuses."""

    def __init__(self, catalog: Catalog, queue: WriteQueue) -> None:
        self._catalog, self._queue = catalog, queue

    def read_note(self, name: str) -> bytes:
        """Return a small value by its name, b"" where there is none."""
        found = self.query("SELECT value FROM notes WHERE name = ?", (name,))
        return bytes(found[0][0]) if found else b""

    async def write_note(self, name: str, value: bytes) -> None:
        """Keep a small value by its name."""
        await self.change(lambda _: self._catalog.write_note(name, value))

    def query(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows that a statement of SQL finds."""
        return self._catalog.reader.query(statement, values)

    async def change(self, job: Callable[[Connection], T]) -> T:
        """Run a job on the tables in one transaction, and return what it returns."""

        def run() -> T:
            with self._catalog.transaction():
                return job(self._catalog.database)

        return await self._queue.run(run)


_RECENT_BYTES = 8 << 20  # of bodies kept for followers: the index looks every ten seconds, for 80 pages a second
_JUDGED_AT_ONCE = 128  # read in one go, some 10 ms


class RecordStore:
    """Keeps the newest version of each record of this node, durably."""

    def __init__(self, disk: Disk, config: StoreConfig, clock: Clock, faults: LocalFaults | None = None) -> None:
        """Open or create the store on a disk; blocks while it recovers from a crash. Raises StoreCorrupt, or
        MachineRefuses. `faults` is told what the disk refuses later."""
        self.config, self.clock, faults = config, clock, faults or LocalFaults(clock)
        self._ledger = ledger = Ledger(disk, config)
        self._catalog = ledger.catalog
        self._unreadable, self.room = UnreadableRecords(), ledger.room
        compaction = Compaction(ledger, self._unreadable)
        self._recent = RecentRecords(_RECENT_BYTES)
        self._records = RecordReader(ledger.catalog.reader, ledger.segments, self._recent, self._unreadable)
        self.log = ChangeLog(ledger.catalog, ledger.incarnation)
        self._queue = WriteQueue(ledger, self._recent, faults, self.log.notify)
        self.grants = KnownGrants(ledger, self._queue, self.read_ranges)
        self.tables = SideTables(ledger.catalog, self._queue)
        self.authors = AuthorSums(ledger, self._queue, self._recent)
        self._range_thread = ThreadPoolExecutor(1, thread_name_prefix="store-ranges")
        self._training_thread = ThreadPoolExecutor(1, thread_name_prefix="store-train")
        self.scrub = Scrub(ledger, compaction, self._unreadable, self.read_ranges, self._queue.run)
        self.upkeep = StoreUpkeep(
            ledger, self._queue, self._recent, self._unreadable, compaction, faults, self._train_aside
        )

    @classmethod
    def open(cls, path: Path, config: StoreConfig, clock: Clock, faults: LocalFaults | None = None) -> "RecordStore":
        """Open or create the store in a folder, as the constructor does."""
        return cls(FolderDisk(path), config, clock, faults)

    def close(self) -> None:
        """Finish the commit under way and close the files."""
        self._range_thread.shutdown(wait=True)
        self._training_thread.shutdown(wait=True)
        self._queue.close()
        self._ledger.close()

    def no_room(self, incoming_bytes: int) -> str:
        """Say why so many bytes more would be refused, and what helps; "" where they would not."""
        try:
            if refusal := self._queue.refusal:
                return f"{refusal.reason}; {refusal.remedy}"
            reason = self.room.refusal(incoming_bytes)
        except MachineRefuses as error:
            return f"{error.reason}; {error.remedy}"
        return f"{reason}; {MORE_ROOM}" if reason else ""

    @property
    def denial(self) -> RecordDenial:
        """The part of the strategy that takes records back: they are hidden from reads at once."""
        return self._records.denial

    def is_unreadable(self, key: bytes) -> bool:
        """Tell whether records of a key lay here and cannot be read, so that "not here" says nothing."""
        return self._unreadable.holds(key)

    def settle_unreadable(self, first_key: bytes, last_key: bytes) -> None:
        """Take note that a key range was compared with its owners: records of it that are missing still are nowhere."""
        self._unreadable.settle(first_key, last_key)

    def note_refusal(self, error: MachineRefuses) -> None:
        """Take note that the disk refused a read; `try_again` finds out when that is over."""
        self._queue.note_refusal(error)

    async def try_again(self) -> None:
        """Find out whether a disk that refused a write takes something again; call it now and then. Raises StoreCorrupt
        where anybody met damage in the index: only opening the store anew helps."""
        if self._catalog.is_damaged:
            raise StoreCorrupt(
                self._ledger.path, "the index is damaged", "start again: it is rebuilt from the segments"
            )
        if self._queue.refusal is not None:
            await self._queue.probe()

    @property
    def today(self) -> int:
        """Days since 1970 by this node's clock."""
        return int(self.clock().wall // DAY_S)

    async def put(self, records: Sequence[Record], parts: Sequence[PackagePart] = ()) -> int:
        """Keep the newer ones of records with their contents; durable when it returns how many were new. Those of whole
        `parts` lie as they came.

        Of pages older ones are kept, too, as far as the policy of versions keeps them. Older and equal versions of
        anything else, expired ones and outcomes from the future are passed over (`refusals` says why), and
        what is taken back.
        Raises MachineRefuses (nothing changed) or StoreCorrupt.
        """
        reasons = self.refusals(records)
        denial, self._ledger.filing.today = self.denial, self.today
        news = [
            r
            for r, reason in zip(records, reasons, strict=True)
            if not (reason or self._is_passed_over(r) or (denial.is_any and denial.reason(r)))
        ]
        count = await self._queue.put(news, parts) if news else 0
        self._unreadable.came(news)
        if news and self._ledger.is_training_due:
            self._train_aside()
        return count

    def _train_aside(self) -> "asyncio.Future[None]":
        """Begin to train a dictionary in the thread that there is for it."""
        return asyncio.get_running_loop().run_in_executor(self._training_thread, self._train)

    def _train(self) -> None:
        if self._ledger.is_training_due:  # another one may have been asked for meanwhile
            self._ledger.train()

    def refusals(self, records: Sequence[Record]) -> list[str]:
        """Say of each record why it would be passed over whatever is stored, "" where it would not."""
        wall = self.clock().wall
        return ["content withheld" if r.content is None else time_flaw(r, wall) for r in records]

    def knows(self, record: Record) -> bool:
        """Tell whether putting a record would change nothing, because that version or a newer one is durable here.

        It may say no of what was not written just now; but of a found URL, which many pages name, it always knows, and
        of a former version. Of an older page it never knows: that may come to be kept as a former version.
        """
        if self._has_just(record):
            return record.kind != Kind.DOCUMENT or self.find_version(record.kind, record.id) == record.version.short
        if record.kind != Kind.FORMER and (record.kind != Kind.VISIT or record.version.epoch):
            return False
        row = self._catalog.reader.find(record.kind, record.id)
        return row is not None and _covers(row.version, row.key, record)

    def find(self, kind: Kind, id: DocumentId, *, content: bool = True, proven: bool = True) -> Record | None:
        """Return the newest version of a record, None where there is none.

        Its content is withheld where that is not asked for (the digest still stands); its proof may be empty where
        that is not asked for. Raises StoreCorrupt.
        """
        return self._records.find(kind, id, content=content, proven=proven)

    def find_version(self, kind: Kind, id: DocumentId) -> ShortVersion | None:
        """Return which version of a record lies here, None where there is none."""
        return self.find_place(kind, id)[0]

    def find_place(self, kind: Kind, id: DocumentId) -> tuple[ShortVersion | None, Key]:
        """Return which version of a record lies here, None where there is none, and at which key."""
        row = self._catalog.reader.find(kind, id)
        return (row.version, row.key) if row else (None, Key(b""))

    def scan(self, kind: Kind, first_key: bytes, last_key: bytes, *, content: bool = False) -> Iterator[Record]:
        """Yield the records of a key range by key, but for those of a site that holds very many; proofs may be empty.

        One that leaves meanwhile may be missing, one that comes may be there.
        """
        return self._records.scan(kind, first_key, last_key, content=content)

    async def read_ranges(self, job: Callable[[CatalogReader], T]) -> T:
        """Run a job on the rows of whole key ranges in the thread that there is for it: a range may hold very much."""
        return await asyncio.get_running_loop().run_in_executor(self._range_thread, job, self._catalog.range_reader)

    def summary(self, first_key: bytes, last_key: bytes) -> RangeSummary:
        """Sum up the records of a slot's key range: counts and fingerprint."""
        return self._catalog.reader.summary(first_key, last_key, self.today)

    def occupied(self, slot_bits: int) -> set[int]:
        """Return the slots in which anything lies."""
        return set(self._catalog.reader.occupied(slot_bits))

    def denied(self, first_key: bytes, last_key: bytes, *, only: Kind | None = None) -> Iterator[list[Record]]:
        """Yield the records of a key range that are taken back, without contents, some rows' worth at a time; that may
        be none. Those of pages, or else of one kind."""
        rows = self._catalog.reader.walk(first_key, last_key)
        while part := list(islice(rows, _JUDGED_AT_ONCE)):
            judged = [row for row in part if _is_judged(row, only)]
            yield [record for row in judged if (record := self._records.denied(row)) is not None]

    async def forget(self, records: Sequence[Record], *, erased: bool = False) -> None:
        """Take records out that others hold now at another place, unless they changed meanwhile. Where they are to be
        `erased`, `compact` rewrites the segments that they lie in, however much of those is alive."""
        names, today = [(r.kind, r.id) for r in records], self.today

        def remove() -> None:
            rows = zip(records, self._catalog.named(names), strict=True)
            same = [row for r, row in rows if row is not None and (row.version, row.key) == (r.version.short, r.key)]
            if same:
                self._ledger.remove(same, today, erased=erased)
                self._recent.clear()

        if records:
            await self._queue.run(remove)

    async def spare(self) -> None:
        """Give up what only a store at work needs in memory: the records of a moment ago, the frames read last, most
        samples of parts, and pages of the catalog."""

        def give_up() -> None:
            self._recent.clear()
            self._ledger.training.spare()
            self._catalog.spare()

        self._catalog.reader.spare()
        self._records.spare()
        await self._queue.run(give_up)

    async def drop_range(self, first_key: bytes, last_key: bytes) -> None:
        """Forget a key range that others hold now; the change log says that its records went."""
        today = self.today

        def drop() -> None:
            rows = self._catalog.rows(first_key, last_key)
            if rows:
                self._ledger.drop(first_key, last_key, rows, today)
                self._recent.clear()

        await self._queue.run(drop)

    def formers(self, id: DocumentId) -> list[DocumentId]:
        """List the ids of the former versions of a page that lie here, oldest first; read them as kind FORMER."""
        return [DocumentId(former) for (former,) in self.tables.query(FORMER_IDS, former_range(id))]

    async def show_former(self, id: DocumentId) -> None:
        """Make the newest former version of a page its page, where none is here: all newer ones were taken back. Raises
        MachineRefuses or StoreCorrupt."""
        formers = [former for each in self.formers(id) if (former := self.find(Kind.FORMER, each)) is not None]
        newest = max(formers, key=lambda former: former.version, default=None)
        if newest is not None and self.find_version(Kind.DOCUMENT, id) is None:
            await self.put([page_in(newest)])
            await self.forget([] if is_erasure(newest.id) else [newest])

    def _is_passed_over(self, record: Record) -> bool:
        """Whether nothing is to be written of a record, as far as is known without a look at the disk."""
        keeps_any = self._ledger.filing.policy.keeps_any
        if record.kind == Kind.FORMER:
            return not keeps_any
        held = self._recent.find(record.kind, record.id)
        if held is None or not _covers(held.version.short, held.key, record):
            return False
        return not (keeps_any and record.kind == Kind.DOCUMENT and held.version.short > record.version.short)

    def _has_just(self, record: Record) -> bool:
        held = self._recent.find(record.kind, record.id)
        return held is not None and _covers(held.version.short, held.key, record)


def _is_judged(row: CatalogRow, only: Kind | None) -> bool:
    if only is None:
        return row.kind not in NO_PAGES
    return row.kind == only


def _covers(held: ShortVersion, key: bytes, record: Record) -> bool:
    """Whether what is held stands against a record; at another key the same version may be news."""
    return held > record.version.short or (held == record.version.short and key == record.key)
