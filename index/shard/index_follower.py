"""One index that follows the store's change log: batches, restarts, rebuilds, refusals and damage.

One thread writes batches, two read for queries: while one of these is in tantivy, which needs no interpreter, the other
scores. Engines in pure Python have one that reads, and what is in memory one for all. `local_index.py` has one of these
for each analyzer that is needed, nearly always one.
"""

import asyncio
import errno
import logging
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from dht import BrokenFile, FaultSite, LocalFaults, MachineRefuses, refused
from index.change_feed import ChangeFeed, DocumentChange
from index.config import IndexConfig
from index.engine.index_files import IndexFiles
from index.errors import IndexCorrupt
from index.indexed_slots import IndexedSlots

log = logging.getLogger(__name__)

COMMIT_REST = 30.0  # times what the last batch took: a commit costs 70–100 ms whatever its size, so documents share it
MAX_REST_S = 10.0  # so long at most: what is found is to be searchable within seconds; half of it, twice the merging
ENOUGH = 6  # times `batch_count` changes, most of them of URLs, end a rest: the store still remembers as many
LOOK_S = 1.0  # how often that is looked at
READ_COUNT = 128  # changes read at once: some ms of the event loop
MAX_READS = 64  # for one batch, whatever they hold: most of a log are URLs, of which the index wants to know nothing
MAX_BATCH_CHARS = 1 << 25  # of text, with which a batch is full, too: what waits for its turn lies in memory
TRY_AGAIN_S = 10.0  # between two tries of a machine that refused
LOOK_FOR_TROUBLE_S = 10.0  # how soon an idle index notices damage that a reader met
CHECK_EVERY_S = 86_400.0  # between two checks of all files against their checksums
HEARD_S = 60.0  # until everybody knows of which slots this node answers no more queries
BESIDE_REST = 2.0  # times what the last batch took: an index that nobody asks yet is built in a third of the time
READERS = {"tantivy": 2}  # threads, by engine; one of others
SPARE_BYTES = 1 << 28  # of a disk: what is built beside the index in force leaves them to it and to the store
_Result = TypeVar("_Result")


class IndexFollower:
    """Keeps the files of one index level with the change log; `run` follows it until cancelled.

    `is_beside`: whether it is built, or kept, beside the one in force: then it gives way."""

    def __init__(
        self,
        config: IndexConfig,
        files: IndexFiles,
        feed: ChangeFeed,
        faults: LocalFaults,
        checker: ThreadPoolExecutor,
        *,
        is_beside: bool,
        no_room: Callable[[], str] = str,
        indexed: Callable[[], IndexedSlots] = IndexedSlots,
    ) -> None:
        """`checker`: the thread that reads all files once a day; `no_room` says why an index beside must not grow;
        `indexed` tells of which slots more than ids is kept."""
        self.files, self.is_beside = files, is_beside
        self._config, self._feed, self._faults, self._checker = config, feed, faults, checker
        self._no_room, self._indexed = no_room, indexed
        self._swept = indexed()  # what the index was last cut down to
        self._sweep_from: int | None = None
        self._sweep_at = 0.0  # loop time
        self._trouble, self._noted, self._checked_at = False, FaultSite.INDEX, 0.0  # loop time
        self._writer = ThreadPoolExecutor(1, "index-write")
        self._readers = READERS.get(config.engine, 1)
        self._reader = self._writer if config.engine == "memory" else ThreadPoolExecutor(self._readers, "index-read")
        self._reading = threading.BoundedSemaphore(self._readers)
        self._current = False
        self._forgotten = 0
        self._reached = -1  # nothing, before it is known that the cursor still counts
        self._begun_at = 0  # where the log ended then: before that is reached nothing is answered
        self._cursor = files.cursor
        if files.refusal is not None:
            self._note(files.refusal)

    @property
    def is_current(self) -> bool:
        """Whether all of the change log is indexed."""
        return self._current and self._feed.lag(self._cursor) <= self._forgotten

    def reached(self, sequence: int) -> bool:
        """Tell whether all changes of the store up to this one are indexed, or need not be."""
        return self._reached >= max(sequence, self._begun_at)

    @property
    def is_answering(self) -> bool:
        """Whether there is an index to ask: it was level with the change log once since it began."""
        return self.reached(0)

    @property
    def is_stuck(self) -> bool:
        """Whether changes wait because this machine fails, so that other replicas know more."""
        return self._trouble and not self.is_current

    @property
    def share(self) -> float:
        """How much of the change log is indexed, 0 … 1."""
        known, lag = self._feed.sequence(self._cursor), self._feed.lag(self._cursor)
        return known / (known + lag) if known + lag > 0 else 1.0

    async def run(self) -> None:
        """Follow the change log until cancelled. A refusal of this machine is tried again, and a damaged index is
        built anew."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            moved = await self.advance()
            took_s = loop.time() - began_at
            if not moved:
                await self._wait()
            if self.is_beside and not self.is_answering:
                await asyncio.sleep(BESIDE_REST * took_s)
            await self._rest(loop.time() + max(self._config.commit_s, min(COMMIT_REST * took_s, MAX_REST_S)))

    async def advance(self) -> bool:
        """Do a step, and first what trouble made necessary; return False where nothing was left to do."""
        try:
            self._leave_room()
            if self._trouble:
                await self._recover()
            moved = await self.step()
        except (MachineRefuses, IndexCorrupt) as error:
            self._note(error)
            await asyncio.sleep(TRY_AGAIN_S if isinstance(error, MachineRefuses) else 0)
            return True
        if self._trouble and not self.files.is_damaged:
            self._trouble = False
            self._faults.end(self._noted)
        return moved

    async def step(self) -> bool:
        """Index one batch, and return False where nothing was left to do."""
        if not self._feed.knows(self._cursor):
            await self._begin_again()
        if self._reached < 0:
            self._begun_at = self._feed.sequence(self._cursor) + self._feed.lag(self._cursor)
        changes, cursor = await self._batch()
        moved = cursor != self._cursor
        indexed = self._indexed()
        if moved:  # also where nothing in it was a document: a cursor left behind would grow too old
            await self._in(self._writer, lambda: self.files.apply(changes, cursor, indexed))
        self._cursor = cursor
        lag = self._feed.lag(cursor)
        self._forgotten = 0 if moved else lag  # numbers at the end of the log whose changes nobody has to follow
        self._reached = self._feed.sequence(cursor) + self._forgotten
        if lag <= self._forgotten:
            self._current = True
        return await self._complete(indexed) or await self._cut(indexed) or moved

    async def _complete(self, indexed: IndexedSlots) -> bool:
        """Index some of the documents that were only stored until now; return False where there are none."""
        if not self.files.unindexed:
            return False
        ids = await self._in(self._writer, lambda: self.files.unindexed_in(indexed, READ_COUNT))
        if ids:
            changes = self._feed.read(ids)
            await self._in(self._writer, lambda: self.files.apply(changes, self._cursor, indexed))
        return bool(ids)

    async def _cut(self, indexed: IndexedSlots) -> bool:
        """Drop, a part at a time, what the index holds of slots that others index; return False where nothing is left.
        It begins a minute after the list of slots grew shorter, so whoever asks for one of them has heard."""
        if indexed != self._swept:
            if indexed.lacks_some_of(self._swept):
                self._sweep_from, self._sweep_at = 0, asyncio.get_running_loop().time() + HEARD_S
            self._swept = indexed
        if not self._is_cut_due() or (start := self._sweep_from) is None:
            return False
        self._sweep_from = await self._in(self._writer, lambda: self.files.unindex(indexed, start))
        return self._sweep_from is not None

    def _is_cut_due(self) -> bool:
        return self._sweep_from is not None and asyncio.get_running_loop().time() >= self._sweep_at

    async def check_files(self) -> None:
        """Read all files once, off the event loop; where one is damaged, the next step builds the index anew."""
        parts, done = self.files.engine.check_files(), object()
        try:
            while await self._in(self._checker, lambda: next(parts, done)) is not done:
                pass
        except IndexCorrupt as error:
            self._note(error)

    async def spare(self) -> None:
        """Give up what only indexing needs in memory; damage that shows meanwhile is noted."""
        try:
            await self._in(self._writer, self.files.spare)
        except (MachineRefuses, IndexCorrupt) as error:
            self._note(error)

    async def read(self, work: Callable[[], _Result]) -> _Result:
        """Run work on a reading thread; raises MachineRefuses or IndexCorrupt, of which note is taken."""

        def reading() -> _Result:
            with self._reading:
                return work()

        try:
            return await self._in(self._reader, reading)
        except (MachineRefuses, IndexCorrupt) as error:
            self._note(error)
            raise

    async def close(self) -> None:
        """Close the files when the threads have finished what they are at."""
        try:
            await self._alone(self.files.close)
        except (MachineRefuses, IndexCorrupt) as error:
            log.info("index not closed well; the next start takes up what is missing reason=%s", error)
        self._writer.shutdown()
        self._reader.shutdown()
        if self._trouble:
            self._faults.end(self._noted)

    def _leave_room(self) -> None:
        """Refuse to build beside another index where that would fill the disk or the quota."""
        path = self.files.path
        if not self.is_beside or path is None:
            return
        try:
            free = shutil.disk_usage(path).free
        except OSError as error:
            raise refused(path, error) from error
        if free < SPARE_BYTES:
            raise refused(path, OSError(errno.ENOSPC, "the disk is nearly full"))
        if reason := self._no_room():
            raise refused(path, OSError(errno.EDQUOT, reason))

    def _note(self, error: BrokenFile) -> None:
        """Take note that files were refused, or that they are damaged: then nothing is answered from them any more."""
        self._trouble = True
        if self._noted != (site := FaultSite.INDEX_BESIDE if self.is_beside else FaultSite.INDEX):
            self._faults.end(self._noted)
            self._noted = site
        self._faults.begin(site, error)
        if isinstance(error, IndexCorrupt):
            self.files.is_damaged = True
            self._current, self._reached = False, -1

    async def _recover(self) -> None:
        await self._alone(self.files.recover)
        self._cursor = self.files.cursor

    async def _wait(self) -> None:
        """Wait for a change, for other slots to index, or for trouble that a reader met. Once a day all files are
        checked meanwhile."""
        loop, indexed = asyncio.get_running_loop(), self._indexed()
        if loop.time() >= self._checked_at:
            self._checked_at = loop.time() + CHECK_EVERY_S
            await self.check_files()
        while not self._trouble and self._indexed() == indexed and not self._is_cut_due():
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S if self._sweep_from is not None else LOOK_FOR_TROUBLE_S):
                    await self._feed.wait(self._cursor)
                    self._current = False
                    return

    async def _rest(self, until: float) -> None:
        """Let documents come together until then, or until they are many."""
        loop = asyncio.get_running_loop()
        enough = ENOUGH * self._config.batch_count
        while (left := until - loop.time()) > 0:
            if self._feed.lag(self._cursor) >= enough:
                return
            await asyncio.sleep(min(left, LOOK_S))

    async def _batch(self) -> tuple[list[DocumentChange], bytes]:
        """The next changes, as many as share a commit, and the cursor after them."""
        found: list[DocumentChange] = []
        cursor, chars = self._cursor, 0
        for _ in range(MAX_READS):
            room = self._config.batch_count - len(found)
            changes, after = await self._feed.changes(cursor, min(room, READ_COUNT))
            found += changes
            chars += sum(map(_chars, changes))
            if after == cursor or len(found) >= self._config.batch_count or chars >= MAX_BATCH_CHARS:
                return found, after
            cursor = after
            if not self._feed.lag(cursor) or not self._feed.knows(cursor):
                break
            await asyncio.sleep(0)
        return found, cursor

    async def _begin_again(self) -> None:
        log.info("index begins again: the change log is another")
        self._current, self._reached = False, -1
        await self._alone(self.files.reset)
        self._cursor = b""

    async def _alone(self, work: Callable[[], None]) -> None:
        """Run work that may take the files away on the writing thread, while nobody reads."""

        def alone() -> None:
            for _ in range(self._readers):
                self._reading.acquire()
            try:
                work()
            finally:
                self._reading.release(self._readers)

        await self._in(self._writer, alone)

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def _chars(change: DocumentChange) -> int:
    return len(change.text.body) + len(change.text.boilerplate) if change.text else 0
