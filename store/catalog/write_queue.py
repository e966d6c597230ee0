"""One thread that writes, and the line of those who wait for it.

Everything that waits is committed in one go, so concurrent writers share a sync; other jobs run between commits.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from dht import FaultSite, LocalError, LocalFaults, MachineRefuses
from store.catalog.ledger import Ledger
from store.catalog.record_reader import RecentRecords
from store.errors import StoreCorrupt
from store.record.package_part import PackagePart
from store.record.record import Kind, Record

_COMMIT_RECORDS = 4096  # the most that one commit takes together
_COMMIT_BYTES = 16 << 20
T = TypeVar("T")


@dataclass(eq=False, slots=True)
class _Batch:
    """One caller's records on their way to the disk, and what became of them."""

    records: Sequence[Record]
    parts: Sequence[PackagePart]
    outcome: int | LocalError | None = None


class WriteQueue:
    """Runs commits and jobs one after the other in the writer thread; once the store is damaged it writes no more."""

    def __init__(self, ledger: Ledger, recent: RecentRecords, faults: LocalFaults, on_done: Callable[[], None]) -> None:
        """`on_done` is called on the event loop after each job, as something may have changed."""
        self._ledger, self._recent, self._faults, self._on_done = ledger, recent, faults, on_done
        self.refusal: MachineRefuses | None = None  # of the last write, where the disk did not take it
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-writer")
        self._turn = asyncio.Lock()
        self._waiting: deque[_Batch] = deque()
        self._broken: LocalError | None = None

    def close(self) -> None:
        """Finish the job under way."""
        self._thread.shutdown(wait=True)

    async def put(self, records: Sequence[Record], parts: Sequence[PackagePart] = ()) -> int:
        """Commit the newer ones of records, some of which came packed in parts, and return how many were new. Raises
        MachineRefuses or StoreCorrupt."""
        batch = _Batch(records, parts)
        self._waiting.append(batch)
        while batch.outcome is None:
            async with self._turn:
                if batch.outcome is None:
                    await self._settle(batch)
        if isinstance(batch.outcome, LocalError):
            raise batch.outcome
        return batch.outcome

    def note_refusal(self, error: MachineRefuses) -> None:
        """Take note that the disk refused something; `probe` finds out when that is over."""
        self.refusal = error
        self._faults.begin(FaultSite.STORE, error)

    async def probe(self) -> None:
        """Find out whether a disk that refused takes something again: nothing else ends a refusal."""
        try:
            await self.run(self._ledger.probe)
        except MachineRefuses:
            return
        self.refusal = None
        self._faults.end(FaultSite.STORE)

    async def run(self, job: Callable[[], T]) -> T:
        """Run a job in the writer thread between commits."""
        async with self._turn:
            return await self._in_thread(job)

    async def _settle(self, batch: _Batch) -> None:
        """Commit what waits; whoever waits for it learns his own outcome."""
        try:
            await self._in_thread(self._commit_waiting)
        except LocalError:
            if batch.outcome is None:
                raise

    async def _in_thread(self, job: Callable[[], T]) -> T:
        """Run in the writer thread; a cancelled caller leaves the job running, and followers still hear of it."""
        future = asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, job)
        future.add_done_callback(lambda _: self._on_done())
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_tell_mistakes)
            raise

    def _guarded(self, job: Callable[[], T]) -> T:
        """Once the store is known to be damaged nothing more is written."""
        if self._broken is not None:
            raise self._broken
        try:
            return job()
        except MachineRefuses as error:
            self.note_refusal(error)
            raise
        except StoreCorrupt as error:
            self._broken = error
            raise

    def _commit_waiting(self) -> None:
        """In the writer thread: one commit for everybody who waits, up to a bound."""
        batches: list[_Batch] = []
        size = count = 0
        while self._waiting and count < _COMMIT_RECORDS and size < _COMMIT_BYTES:
            batches.append(self._waiting.popleft())
            count += len(batches[-1].records)
            size += sum(len(r.body) + len(r.content or b"") for r in batches[-1].records)
        records = [r for batch in batches for r in batch.records]
        try:
            fresh = self._ledger.commit(records, [part for batch in batches for part in batch.parts])
        except LocalError as error:
            for batch in batches:
                batch.outcome = error
            raise
        for record in records:
            is_fresh = fresh.get((record.kind, record.id)) == record.version
            if is_fresh and record.kind != Kind.FORMER:  # these come and go by themselves
                self._recent.keep(record)
        for batch in batches:
            batch.outcome = sum(fresh.get((r.kind, r.id)) == r.version for r in batch.records)


def _tell_mistakes(future: "asyncio.Future[T]") -> None:
    """Tell the event loop of a mistake in a job that nobody awaits any more; a refusal is told as a fault already."""
    if not future.cancelled() and (error := future.exception()) and not isinstance(error, LocalError):
        context = {"message": "a job of the store's writer failed", "exception": error, "future": future}
        future.get_loop().call_exception_handler(context)
