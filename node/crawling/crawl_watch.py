"""Watches whether the crawl gets on: by the crawler's counts, and by the store where nobody crawls slots of this node.

The frontier knows only the slots that this node holds. So in this node's slots that nobody holds, the watch reads the
visits itself. It reads a batch at a time, until it finds one that is due.
"""

import asyncio
from collections.abc import Iterator
from itertools import chain, islice

from crawl import Crawler, CrawlStatus
from dht import Clock, Overlay, Slot, slot_of, slot_range
from node.crawling.fetch_pause import FetchPause
from node.crawling.store_change_feed import visit_of
from store import Kind, Record, RecordStore

LOOK_EVERY_S = 5.0
READ_AGAIN_S = 60.0  # after all visits were read and none was due
PAUSED_S = 20.0  # between two looks: after more, this node slept, and its crawl begins anew
BATCH = 1024


class UnheldWork:
    """Finds out whether anything is due in slots of this node that nobody crawls."""

    def __init__(self, overlay: Overlay, store: RecordStore, clock: Clock) -> None:
        self._overlay, self._store, self._clock = overlay, store, clock
        self._found: Slot | None = None  # in it something was due
        self._reading: Iterator[Record] | None = None
        self._read_at = float("-inf")  # steady: when all was read

    def is_due(self) -> bool:
        """Read on where that is needed; return whether something is known to be due."""
        view, now = self._overlay.view, self._clock()
        bits, held = view.strategy.slot_bits, view.leases()
        unheld = {slot for slot in view.owned() if slot not in held and not view.announced(slot)}
        if self._found in unheld:
            return True
        self._found = None
        if not unheld:
            self._reading, self._read_at = None, float("-inf")
            return False
        if self._reading is None:
            if now.steady - self._read_at < READ_AGAIN_S:
                return False
            ranges = (slot_range(slot, bits) for slot in sorted(unheld))
            scans = (self._store.scan(Kind.VISIT, *both) for both in ranges if self._store.summary(*both).visits)
            self._reading = chain.from_iterable(scans)
        batch = list(islice(self._reading, BATCH))
        due = (slot_of(record.key, bits) for record in batch if visit_of(record).due_at <= now.wall)
        self._found = next((slot for slot in due if slot in unheld), None)
        if self._found is not None or len(batch) < BATCH:
            self._reading, self._read_at = None, now.steady
        return self._found is not None


class CrawlWatch:
    """Looks every few seconds whether work is due at this node, and whether any of it got done."""

    def __init__(self, crawler: Crawler, pause: FetchPause, overlay: Overlay, store: RecordStore, clock: Clock) -> None:
        self._crawler, self._pause, self._clock = crawler, pause, clock
        self._unheld, self._progress = UnheldWork(overlay, store, clock), CrawlProgress()

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            self.step()
            await asyncio.sleep(LOOK_EVERY_S)

    def step(self) -> None:
        """Look once."""
        status = self._crawler.status()
        self._progress.step(self._clock().steady, status.recorded, is_due=self._is_due(status))

    def still_s(self) -> float:
        """Return for how many seconds work has been due while nothing got done."""
        return self._progress.still_s(self._clock().steady)

    def _is_due(self, status: CrawlStatus) -> bool:
        """Tell whether work waits that neither the owner, nor a lack of room, nor politeness holds back."""
        if self._pause.operator_reason() or self._pause.room_reason():
            return False
        return (bool(status.due or status.open) and not status.is_resting) or self._unheld.is_due()


class CrawlProgress:
    """Remembers since when the crawl has stood still."""

    def __init__(self) -> None:
        self._recorded = 0
        self._since: float | None = None  # None: it does not stand still
        self._looked_at = float("-inf")

    def step(self, now: float, recorded: int, *, is_due: bool) -> None:
        """Take a look. `recorded`: outcomes since the start; `is_due`: work waits, and no good reason keeps it."""
        has_slept, self._looked_at = now - self._looked_at > PAUSED_S, now
        if has_slept or not is_due or recorded != self._recorded:
            self._since = None
        elif self._since is None:
            self._since = now
        self._recorded = recorded

    def still_s(self, now: float) -> float:
        """Return the seconds that the crawl has stood still, 0 where it does not."""
        return 0.0 if self._since is None else now - self._since
