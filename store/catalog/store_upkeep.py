"""Keeps a store small and sound, now and then: expires, thins and compacts it, and judges what is damaged.

Sparse segments are rewritten a few megabytes at a time, so that the writer thread is never away for long. A sealed
segment is compacted when its live share falls below the configured one. Its live frames are copied to the newest
segment, the index is made durable, and the file is deleted. A crash in between leaves both copies, of which the index
knows one. Where something is to be erased, every segment that holds anything dead is rewritten, even the newest. So is
a segment in which a scrub met damaged bytes, once its damaged records are judged, and a small one that no dictionary
packs yet.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from dht import BrokenFile, FaultSite, Key, LocalFaults
from store.catalog.ledger import Ledger
from store.catalog.record_reader import RecentRecords, UnreadableRecords
from store.catalog.row_table import CatalogRow
from store.catalog.version_filing import FIRST
from store.catalog.write_queue import WriteQueue
from store.errors import StoreCorrupt
from store.record.former_page import VersionPolicy
from store.segments.segments import MAGIC, REMEDY

_STEP_BYTES = 2 << 20  # a quarter of a second where all of it is packed anew


class Compaction:
    """Rewrites one segment after the other. `step` belongs to the writer thread."""

    def __init__(self, ledger: Ledger, unreadable: UnreadableRecords) -> None:
        """`unreadable`: who is told of what turns out damaged, and judges it."""
        self._ledger, self._below, self._unreadable = ledger, ledger.config.compact_below, unreadable
        self._small_bytes = ledger.config.segment_bytes // 4
        self._segment = 0  # being rewritten, 0 for none
        self._hurt: set[int] = set()  # segments in which bytes are damaged
        self._upto = 0  # the segment up to which nothing dead may stay
        self._rows: deque[CatalogRow] = deque()

    def step(self) -> bool:
        """Copy a few megabytes, or finish a segment; return False when no segment is sparse enough."""
        if not self._segment and not self._choose():
            return False
        rows, size = [], 0
        while self._rows and size < _STEP_BYTES:
            rows.append(self._rows.popleft())
            size += rows[-1].place.share_bytes
        try:
            self._ledger.rewrite(rows)
        except StoreCorrupt:
            self._unreadable.doubt(rows)
            self._segment = 0
            return False
        if not self._rows:
            self._ledger.delete_segment(self._segment)
            self._segment = 0
        return True

    def renew(self, segment: int) -> None:
        """Have a segment rewritten, however much of it is alive, because bytes of it are damaged."""
        self._hurt.add(segment)

    @property
    def is_erasing(self) -> bool:
        """Whether segments are rewritten for what must not stay, which may be all there are."""
        return self._upto > 0

    def _choose(self) -> bool:
        segments, live = self._ledger.segments, self._ledger.catalog.live_bytes()
        grants = self._ledger.catalog.grant_bytes()  # they stay, too, but are no reason to keep what must not
        shares = [((live.get(n, 0) + grants.get(n, 0)) / max(1, segments.size(n)), n) for n in segments.numbers[:-1]]
        share, segment = min(shares, default=(1.0, 0))
        if share >= self._below and not (segment := self._damaged() or self._unpacked() or self._tainted(live)):
            return False
        self._segment, self._rows = segment, deque(self._ledger.catalog.rows_in(segment))
        return True

    def _damaged(self) -> int:
        """Return a segment with damaged bytes, 0 where there is none, or what is in doubt has to be judged first."""
        self._hurt.intersection_update(self._ledger.segments.numbers)
        if not self._hurt or len(self._unreadable.doubted()):
            return 0
        if (segment := min(self._hurt)) == self._ledger.segments.newest:
            self._ledger.seal()
        return segment

    def _unpacked(self) -> int:
        """Return a small segment from before there was a dictionary, 0 where there is none."""
        segments = self._ledger.segments
        if segments.dictionary is None:
            return 0
        small = (n for n in segments.numbers[:-1] if segments.size(n) <= self._small_bytes)
        return next((n for n in small if not segments.is_packed(n)), 0)

    def _tainted(self, live: Mapping[int, int]) -> int:
        """Return a segment in which something dead must not stay, 0 where there is none."""
        ledger, self._upto = self._ledger, self._ledger.erase_upto
        for n in [n for n in ledger.segments.numbers if n <= self._upto]:
            if live.get(n, 0) < ledger.segments.size(n) - len(MAGIC):
                if n == ledger.segments.newest:
                    ledger.seal()
                return n
        if self._upto:
            ledger.erased()
            self._upto = 0
        return 0


_EXPIRED_AT_ONCE = 512  # records in one transaction
_ERASING_REST_S = 0.4  # after a step of 4 MB: 20 GiB in 35 minutes
_THINNING_REST_S = 0.05  # after a thousand rows, some 10 ms of the writer thread


class StoreUpkeep:
    """Works in steps in the writer thread, with rests between. Its methods raise MachineRefuses or StoreCorrupt."""

    def __init__(
        self,
        ledger: Ledger,
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
        self._tombstone_days = ledger.config.tombstone_days
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
        self._ledger.catalog.authors.replaced.clear()

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
