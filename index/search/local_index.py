"""This node's index: follows the store's change log, and answers peers from it.

Two threads: one writes batches, one reads for queries; where the engine is in memory, one does both. A third checks
what peers answered to this node's own queries. A node answers for slots that it announces as ready, once it has caught
up with its own store after a start or a rebuild.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from dht import BadMessage, NodeId, Overlay, Slot, resize_inside
from index.change_feed import ChangeFeed, DocumentChange
from index.config import IndexConfig
from index.engine.index_files import IndexFiles
from index.query.collection_statistics import FINGERPRINT_BYTES, Statistics
from index.query.parser import Query, parse_query
from index.query.scoring import RANKING
from index.search.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.search.shard_search import best, count
from index.text.analyzer import ANALYZER
from index.text.analyzer_check import check_analyzer

log = logging.getLogger(__name__)

COMMIT_REST = 30.0  # times what the last batch took: a commit costs 70–100 ms whatever its size, so documents share it
MAX_REST_S = 10.0  # so long at most: what is found is to be searchable within seconds; half of it, twice the merging
ENOUGH = 2  # times `batch_count` changes end a rest: the store's memory of what was just written holds some more
LOOK_S = 1.0  # how often that is looked at
READ_COUNT = 128  # changes read at once: some ms of the event loop
MAX_READS = 64  # for one batch, whatever they hold: most of a log are URLs, of which the index wants to know nothing
MAX_BATCH_CHARS = 1 << 25  # of text, with which a batch is full, too: what waits for its turn lies in memory
NEAR_BITS = 2  # doublings by which a peer may be ahead or behind, and still gets an answer
MAX_WAITING = 64  # questions in line for the reading thread; one more is refused, so that memory stays bounded
MAX_WAITING_OF_ONE = 16  # of one peer; this node's own users may fill the line
_Result = TypeVar("_Result")


class LocalIndex:
    """One node's index. Build it with `open`; `run` follows the feed until cancelled; `close` ends the threads."""

    def __init__(self, config: IndexConfig, files: IndexFiles, overlay: Overlay, feed: ChangeFeed) -> None:
        self._config, self._files, self._overlay, self._feed = config, files, overlay, feed
        self._writer = ThreadPoolExecutor(1, "index-write")
        self._reader = self._writer if config.engine == "memory" else ThreadPoolExecutor(1, "index-read")
        self._checker = ThreadPoolExecutor(1, "index-check")
        self._waiting: Counter[NodeId] = Counter()
        self._answering = False
        self._current = False
        self._forgotten = 0
        self._cursor = files.cursor
        overlay.serve(AskStatistics, self._statistics)
        overlay.serve(AskBest, self._best)

    @classmethod
    def open(cls, config: IndexConfig, path: Path | None, overlay: Overlay, feed: ChangeFeed) -> "LocalIndex":
        """Open or begin the index in the directory `path` (None: in memory). Blocks; raises IndexCorrupt, or
        AnalyzerDiffers where this machine's libraries give other terms than the network's."""
        check_analyzer()
        return cls(config, IndexFiles(config, path), overlay, feed)

    @property
    def is_current(self) -> bool:
        """Whether all of the change log is indexed."""
        return self._current and self._feed.lag(self._cursor) <= self._forgotten

    @property
    def documents(self) -> int:
        """How many documents are indexed."""
        return self._files.documents

    def indexed(self, slot: Slot) -> tuple[int, bytes]:
        """Return how many documents of a slot are indexed, and their fingerprint: equal where the same versions are.

        The fingerprint is the sum modulo 2**256 of SHA-256(id ‖ version), 32 bytes big-endian.
        """
        totals = self._files.totals.at(self._overlay.view.strategy.slot_bits).get(slot)
        return (totals.documents, totals.fingerprint_bytes) if totals else (0, bytes(FINGERPRINT_BYTES))

    async def run(self) -> None:
        """Follow the change log until cancelled. Raises IndexCorrupt where the files cannot be written."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            moved = await self.step()
            took_s = loop.time() - began_at
            if not moved:
                await self._feed.wait(self._cursor)
                self._current = False
            await self._rest(loop.time() + max(self._config.commit_s, min(COMMIT_REST * took_s, MAX_REST_S)))

    async def step(self) -> bool:
        """Index one batch, and return False where nothing was left to do."""
        if not self._feed.knows(self._cursor):
            await self._begin_again()
        changes, cursor = await self._batch()
        moved = cursor != self._cursor
        if moved:  # also where nothing in it was a document: a cursor left behind would grow too old
            await self._in(self._writer, lambda: self._files.apply(changes, cursor))
        self._cursor = cursor
        lag = self._feed.lag(cursor)
        self._forgotten = 0 if moved else lag  # numbers at the end of the log whose changes nobody has to follow
        if lag <= self._forgotten:
            self._current = self._answering = True
        return moved

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

    async def close(self) -> None:
        """Close the files when the threads have finished what they are at."""
        await self._in(self._reader, lambda: None)
        await self._in(self._writer, self._files.close)
        self._writer.shutdown()
        self._reader.shutdown()
        self._checker.shutdown()

    async def check(self, work: Callable[[], _Result]) -> _Result:
        """Run the check of a large answer of a peer off the event loop."""
        return await self._in(self._checker, work)

    async def _begin_again(self) -> None:
        log.info("index begins again: the change log is another")
        self._answering = self._current = False
        await self._in(self._reader, lambda: None)  # whoever reads now has finished before the files go
        await self._in(self._writer, self._files.reset)
        self._cursor = b""

    async def _statistics(self, peer: NodeId, ask: AskStatistics) -> StatisticsAnswer:
        slots = self._accept(peer, ask.analyzer, RANKING, ask.slot_bits, ask.slots)
        query = parse_query(ask.query, ask.language, ask.site)
        return await self._read(peer, lambda: count(self._files, query, slots, ask.slot_bits))

    async def _best(self, peer: NodeId, ask: AskBest) -> BestAnswer:
        slots = self._accept(peer, ask.analyzer, ask.ranking, ask.slot_bits, ask.slots)
        query = parse_query(ask.query, ask.language, ask.site)
        statistics = _believable(peer, ask, query)
        depth = min(ask.depth, self._config.max_depth)
        floor = ask.floor if ask.floor > 0 else 0.0
        files, bits = self._files, ask.slot_bits
        return await self._read(peer, lambda: best(files, query, statistics, slots, bits, ask.k, depth, floor))

    def _accept(self, peer: NodeId, analyzer: int, ranking: int, slot_bits: int, slots: Iterable[int]) -> list[Slot]:
        """Those of the slots that this node answers for, ascending; refuses who goes by other rules.

        While a strategy that splits slots spreads, some ask by the old numbers and some by the new: both are answered.
        """
        bits = self._overlay.view.strategy.slot_bits
        if (analyzer, ranking) != (ANALYZER, RANKING):
            raise BadMessage(peer.hex(), f"analyzer, ranking {analyzer, ranking}; ours are {ANALYZER, RANKING}")
        if abs(slot_bits - bits) > NEAR_BITS:
            raise BadMessage(peer.hex(), f"slot_bits are {bits} here and {slot_bits} there: ask again in a few seconds")
        if not self._answering:
            return []
        known = sorted({Slot(slot) for slot in slots if slot < 1 << slot_bits})
        return [slot for slot in known if self._is_ready(slot, slot_bits, bits)]

    def _is_ready(self, slot: Slot, slot_bits: int, bits: int) -> bool:
        """Whether this node, which counts 2**bits slots, is ready for all of a slot of 2**slot_bits."""
        view = self._overlay.view
        if slot_bits >= bits:
            return view.node_id in view.ready(Slot(slot >> (slot_bits - bits)))
        return all(view.node_id in view.ready(part) for part in resize_inside({slot}, slot_bits, bits))

    async def _read(self, peer: NodeId, work: Callable[[], _Result]) -> _Result:
        share = MAX_WAITING if peer == self._overlay.view.node_id else MAX_WAITING_OF_ONE
        if self._waiting.total() >= MAX_WAITING or self._waiting[peer] >= share:
            raise BadMessage(peer.hex(), f"busy: {self._waiting[peer]} questions of yours wait, {share} may")
        self._waiting[peer] += 1
        try:
            return await self._in(self._reader, work)
        finally:
            self._waiting[peer] -= 1
            if not self._waiting[peer]:
                del self._waiting[peer]

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def _chars(change: DocumentChange) -> int:
    return len(change.text.body) + len(change.text.boilerplate) if change.text else 0


def _believable(peer: NodeId, ask: AskBest, query: Query) -> Statistics:
    if len(ask.df) != len(query.leaves) or any(df > ask.documents for df in ask.df):
        raise BadMessage(peer.hex(), "statistics that do not fit the query")
    return Statistics(ask.documents, ask.lengths, ask.df)
