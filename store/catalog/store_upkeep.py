"""What a store does now and then so that it stays small and sound: expire, thin, compact, judge what is damaged."""

import asyncio
from collections.abc import Callable
from functools import partial

from dht import BrokenFile, FaultSite, Key, LocalFaults
from store.catalog.compaction import Compaction
from store.catalog.ledger import Ledger
from store.catalog.record_reader import RecentRecords
from store.catalog.row_table import CatalogRow
from store.catalog.unreadable_records import UnreadableRecords
from store.catalog.version_filing import FIRST
from store.catalog.write_queue import WriteQueue
from store.config import StoreConfig
from store.record.version_policy import VersionPolicy
from store.segments.segments import REMEDY

_EXPIRED_AT_ONCE = 512  # records in one transaction
_ERASING_REST_S = 0.4  # after a step of 4 MB: 20 GiB in 35 minutes
_THINNING_REST_S = 0.05  # after a thousand rows, some 10 ms of the writer thread


class StoreUpkeep:
    """Works in steps in the writer thread, with rests between. Its methods raise MachineRefuses or StoreCorrupt."""

    def __init__(
        self,
        ledger: Ledger,
        config: StoreConfig,
        queue: WriteQueue,
        recent: RecentRecords,
        unreadable: UnreadableRecords,
        compaction: Compaction,
        faults: LocalFaults,
        train: "Callable[[], asyncio.Future[None]]",
    ) -> None:
        """`train` makes a dictionary in a thread of its own; `faults` is told of damaged records."""
        self._ledger, self._queue, self._recent, self._unreadable = ledger, queue, recent, unreadable
        self._compaction, self._faults, self._train = compaction, faults, train
        self._tombstone_days = config.tombstone_days
        self._has_policy = False
        self._thinned: tuple[VersionPolicy, int] | None = None  # by which policy and on which day all was thinned last

    async def judge_unreadable(self, today: int) -> list[Key]:
        """Look again at what could not be read, drop what is damaged, and return its keys; call it every second or so.

        Dropped records may be written anew, as copies of others'."""
        lost: list[CatalogRow] = []
        if doubted := self._unreadable.doubted():
            lost = await self._queue.run(lambda: self._ledger.drop_damaged(doubted, today))
            self._unreadable.judged(doubted, lost)
            self._recent.clear()
        if lost:
            reason = f"{len(lost)} records are damaged"
            self._faults.begin(FaultSite.RECORDS, BrokenFile(self._ledger.path, reason, REMEDY))
        elif not len(self._unreadable):
            self._faults.end(FaultSite.RECORDS)
        return [row.key for row in lost]

    async def expire(self, today: int) -> int:
        """Drop records whose expiry day is before `today`, and tombstones past their time; returns how many went. Pages
        become former versions where the policy keeps these longer."""

        def step() -> int:
            rows = self._ledger.catalog.expired(today, _EXPIRED_AT_ONCE)
            if rows:
                self._ledger.expire(rows, today)
                self._recent.clear()
            return len(rows)

        total = 0
        while count := await self._queue.run(step):
            total += count
        await self._queue.run(lambda: self._ledger.forget_tombstones(today - self._tombstone_days))
        return total

    async def compact(self) -> None:
        """Rewrite segments of which little is alive, until none is left, and slowly those in which something is to be
        erased."""
        while await self._queue.run(self._compaction.step):
            if self._ledger.is_training_due:
                await self._train()
            if self._compaction.is_erasing:
                await asyncio.sleep(_ERASING_REST_S)

    def keep_versions(self, policy: VersionPolicy) -> None:
        """Go by this policy for former versions of pages from now on; before the first, none is kept or let go."""
        self._ledger.filing.policy, self._has_policy = policy, True

    async def thin_versions(self, today: int) -> int:
        """Drop the former versions that the policy keeps no more, all once a day and after each change of it, a few at
        a time; return how many went."""
        mark, total, after = (self._ledger.filing.policy, today), 0, FIRST
        if not self._has_policy or mark == self._thinned:
            return 0
        while after:
            self._ledger.filing.today = today
            count, after = await self._queue.run(partial(self._ledger.thin, after))
            total += count
            await asyncio.sleep(_THINNING_REST_S)
        self._thinned = mark
        return total
