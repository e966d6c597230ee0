"""Reads the store's change log once for all that keep up with it: index, frontier, audit, removals, digests.

One follower reads a batch, finds each record when the first listener asks for it, and hands it to all listeners before
it goes on. Listeners begin at the log's end: what lay in the store before, each finds out for itself.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property

from crawl import Visit, decode_visit
from store import Document, Kind, Record, RecordChange, RecordStore, decode_document, url_of

BATCH = 512  # changes handed on in one go: a few milliseconds
ENOUGH = 64  # changes that end a rest
REST_S = 0.1  # while the store changes: what comes meanwhile is followed in one step
LOOK_EVERY_S = 1.0  # listeners also follow leases, which run out by the clock: that wakes nobody
MOST_VISITS = 1024  # outcomes remembered as they were decoded: the index asks for them some seconds later

Hear = Callable[["ChangedRecord"], None]
Tend = Callable[[], Awaitable[bool]]  # whether there is more to do at once


class DecodedVisits:
    """Remembers the outcomes that were decoded last, each in its newest version."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[bytes, Visit]] = {}

    def of(self, record: Record) -> Visit:
        """Return the visit in a VISIT record."""
        if not record.version.epoch:  # a URL that was found: nobody asks again
            return decode_visit(record.body)
        version, known = record.version.digest, self._known.pop(record.id, None)
        visit = known[1] if known is not None and known[0] == version else decode_visit(record.body)
        self._known[record.id] = version, visit
        if len(self._known) > MOST_VISITS:
            del self._known[next(iter(self._known))]
        return visit


class ChangedRecord:
    """One line of the change log, and the record that it is about. Each part is read when a listener first asks for it.

    A record that has left, or is hidden, is None."""

    def __init__(self, change: RecordChange, store: RecordStore, visits: DecodedVisits) -> None:
        self.sequence, self.kind, self.id, self.key, self.removed = change
        self._store, self._visits = store, visits

    @cached_property
    def record(self) -> Record | None:
        """The record in its newest version, without its content; its proof may be empty."""
        return None if self.removed else self._store.find(self.kind, self.id, content=False, proven=False)

    @cached_property
    def proven(self) -> Record | None:
        """The record with its proof."""
        if self.record is None or self.record.proof.author:
            return self.record
        return self._store.find(self.kind, self.id, content=False)

    @cached_property
    def url(self) -> str:
        """The URL that the record is about, "" where there is none."""
        return url_of(self.record) if self.record is not None else ""

    @cached_property
    def visit(self) -> Visit | None:
        """The visit that a VISIT holds."""
        return self._visits.of(self.record) if self.kind == Kind.VISIT and self.record is not None else None

    @cached_property
    def document(self) -> Document | None:
        """The document that a DOCUMENT holds."""
        is_document = self.kind == Kind.DOCUMENT
        return decode_document(self.record.body) if is_document and self.record is not None else None


class ChangeFollower:
    """Follows one store's change log from now on. `sequence`: the number of the last change that was handed on."""

    def __init__(self, store: RecordStore) -> None:
        self._store, self._log = store, store.log
        self._listeners, self._tends = list[Hear](), list[Tend]()
        self.visits = DecodedVisits()
        self.sequence = store.log.sequence

    @property
    def is_current(self) -> bool:
        """Whether all changes were handed on."""
        return self.sequence == self._log.sequence

    def listen(self, hear: Hear, tend: Tend | None = None) -> None:
        """Call `hear` with each change from now on. `tend` is awaited after each batch and once a second at least, for
        what must wait, or does not follow from changes alone."""
        self._listeners.append(hear)
        if tend is not None:
            self._tends.append(tend)

    async def run(self) -> None:
        """Follow until cancelled. A change of an idle store is handed on at once."""
        while True:
            before, is_behind = self.sequence, self.step()
            for tend in self._tends:
                is_behind |= await tend()
            if is_behind:
                await asyncio.sleep(0)
                continue
            if self.sequence > before:
                await self._wait(ENOUGH, REST_S)
            await self._wait(1, LOOK_EVERY_S)

    def step(self) -> bool:
        """Hand on the next batch; return whether there is more. Listeners that need the newest changes call it, too."""
        if self.is_current:
            return False
        changed, last = self.read(self.sequence, BATCH)
        for each in changed:
            for hear in self._listeners:
                hear(each)
        self.sequence = last
        return not self.is_current

    def read(self, after: int, limit: int) -> tuple[list[ChangedRecord], int]:
        """Return up to `limit` changes after a number, and the number up to which the log was read by that.

        The log forgets removals: numbers at its end may have no change any more."""
        newest, changes = self._log.sequence, self._log.changes(after, limit)
        last = changes[-1].sequence if changes else after
        changed = [ChangedRecord(change, self._store, self.visits) for change in changes]
        return changed, last if len(changes) == limit else max(newest, last)

    async def _wait(self, count: int, most_s: float) -> None:
        """Wait until so many changes wait, but no longer than so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._log.wait(self.sequence + count - 1)
