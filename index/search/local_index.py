"""This node's index: follows the store's change log, and answers peers from it.

Two threads: one writes batches, one reads for queries; where the engine is in memory, one does both. A third checks
what peers answered to this node's own queries. A node answers for slots that it announces as ready: it does so once the
index has reached what made them ready, and has caught up after a start or a rebuild.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from msgspec import structs

from dht import (
    BadMessage,
    BrokenFile,
    FaultSite,
    LocalFaults,
    MachineRefuses,
    NodeId,
    Overlay,
    Slot,
    resize_inside,
    system_clock,
)
from index.change_feed import ChangeFeed, DocumentChange
from index.config import IndexConfig
from index.engine.index_files import IndexFiles
from index.errors import IndexCorrupt
from index.query.collection_statistics import SlotTotals, Statistics
from index.query.parser import Query, parse_query
from index.query.search_rules import SearchRules, closest_to, rules_of
from index.search.messages import Agreement, AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.search.shard_search import best, count
from index.search.suggestions import WrittenText
from index.text.analyzer_check import check_analyzer

log = logging.getLogger(__name__)

COMMIT_REST = 30.0  # times what the last batch took: a commit costs 70–100 ms whatever its size, so documents share it
MAX_REST_S = 10.0  # so long at most: what is found is to be searchable within seconds; half of it, twice the merging
ENOUGH = 2  # times `batch_count` changes end a rest: the store's memory of what was just written holds some more
LOOK_S = 1.0  # how often that is looked at
READ_COUNT = 128  # changes read at once: some ms of the event loop
MAX_READS = 64  # for one batch, whatever they hold: most of a log are URLs, of which the index wants to know nothing
MAX_BATCH_CHARS = 1 << 25  # of text, with which a batch is full, too: what waits for its turn lies in memory
TRY_AGAIN_S = 10.0  # between two tries of a machine that refused
LOOK_FOR_TROUBLE_S = 10.0  # how soon an idle index notices damage that a reader met
CHECK_EVERY_S = 86_400.0  # between two checks of all files against their checksums
NEAR_BITS = 2  # doublings by which a peer may be ahead or behind, and still gets an answer
MAX_WAITING = 64  # questions in line for the reading thread; one more is refused, so that memory stays bounded
MAX_WAITING_OF_ONE = 16  # of one peer; this node's own users may fill the line
NOTHING = SlotTotals()
_Result = TypeVar("_Result")
Agree = Callable[[Sequence[Slot]], Agreement]


class LocalIndex:
    """One node's index. Build it with `open`; `run` follows the feed until cancelled; `close` ends the threads."""

    def __init__(
        self,
        config: IndexConfig,
        files: IndexFiles,
        overlay: Overlay,
        feed: ChangeFeed,
        agree: Agree,
        faults: LocalFaults,
    ) -> None:
        self._faults, self._trouble, self._checked_at = faults, False, 0.0  # loop time
        self._config, self._files, self._overlay, self._feed, self._agree = config, files, overlay, feed, agree
        self._writer = ThreadPoolExecutor(1, "index-write")
        self._reader = self._writer if config.engine == "memory" else ThreadPoolExecutor(1, "index-read")
        self._checker = ThreadPoolExecutor(1, "index-check")
        self._waiting: Counter[NodeId] = Counter()
        self._current = False
        self._forgotten = 0
        self._reached = -1  # nothing, before it is known that the cursor still counts
        self._begun_at = 0  # where the log ended then: before that is reached nothing is answered
        self._cursor = files.cursor
        if files.refusal is not None:
            self._note(files.refusal)
        overlay.serve(AskStatistics, self._statistics)
        overlay.serve(AskBest, self._best)

    @classmethod
    def open(
        cls,
        config: IndexConfig,
        path: Path | None,
        overlay: Overlay,
        feed: ChangeFeed,
        agree: Agree,
        faults: LocalFaults | None = None,
    ) -> "LocalIndex":
        """Open or begin the index in the directory `path` (None: in memory). Blocks; raises MachineRefuses, or
        AnalyzerDiffers where this machine's libraries give other terms than the network's.

        `agree` says of slots, as the strategy in force numbers them, how their copies here compare with others.
        `faults`: who is told what fails later."""
        check_analyzer()
        files = IndexFiles(config, path, rules_in_force(overlay).analyzer)
        return cls(config, files, overlay, feed, agree, faults or LocalFaults(system_clock))

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
    def documents(self) -> int:
        """How many documents are indexed."""
        return self._files.documents

    def indexed(self, slot: Slot) -> tuple[int, bytes]:
        """Return how many documents of a slot are indexed, and their fingerprint: equal where the same versions are.

        The fingerprint is the sum modulo 2**256 of SHA-256(id ‖ version), 32 bytes big-endian.
        """
        totals = self.totals(slot)
        return totals.documents, totals.fingerprint_bytes

    def totals(self, slot: Slot) -> SlotTotals:
        """Return what is indexed of a slot; the same object until that changes."""
        return self._files.totals.at(self._overlay.view.strategy.slot_bits).get(slot, NOTHING)

    def fingerprint_until(self, slot: Slot, instant: float) -> bytes:
        """Return the fingerprint of a slot's documents as they were written before an instant (Unix seconds, by their
        authors' clocks), which is to be later than that given to `keep_apart`."""
        return self._files.totals.fingerprint_until(slot, self._overlay.view.strategy.slot_bits, instant)

    def keep_apart(self, since: float) -> None:
        """Keep apart from now on what was written since an instant (Unix seconds), so that `fingerprint_until` knows
        what was there before it."""
        self._files.young_since = since

    async def run(self) -> None:
        """Follow the change log until cancelled. What this machine refuses is tried again, and a damaged index is built
        anew."""
        loop = asyncio.get_running_loop()
        while True:
            began_at = loop.time()
            moved = await self.advance()
            took_s = loop.time() - began_at
            if not moved:
                await self._wait()
            await self._rest(loop.time() + max(self._config.commit_s, min(COMMIT_REST * took_s, MAX_REST_S)))

    async def advance(self) -> bool:
        """Do a step, and first what trouble made necessary; return False where nothing was left to do."""
        try:
            if self._trouble:
                await self._recover()
            moved = await self.step()
        except (MachineRefuses, IndexCorrupt) as error:
            self._note(error)
            await asyncio.sleep(TRY_AGAIN_S if isinstance(error, MachineRefuses) else 0)
            return True
        if self._trouble and not self._files.is_damaged:
            self._trouble = False
            self._faults.end(FaultSite.INDEX)
        return moved

    def _note(self, error: BrokenFile) -> None:
        """Take note that files were refused, or that they are damaged: then nothing is answered from them any more."""
        self._trouble = True
        self._faults.begin(FaultSite.INDEX, error)
        if isinstance(error, IndexCorrupt):
            self._files.is_damaged = True
            self._current, self._reached = False, -1

    async def _recover(self) -> None:
        if self._files.is_damaged:
            await self._in(self._reader, lambda: None)  # whoever reads now has finished before the files go
        await self._in(self._writer, self._files.recover)
        self._cursor = self._files.cursor

    async def _wait(self) -> None:
        """Wait for a change, or for trouble that a reader met; meanwhile, once a day, all files are checked."""
        loop = asyncio.get_running_loop()
        if loop.time() >= self._checked_at:
            self._checked_at = loop.time() + CHECK_EVERY_S
            await self.check_files()
        while not self._trouble:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_FOR_TROUBLE_S):
                    await self._feed.wait(self._cursor)
                    self._current = False
                    return

    async def check_files(self) -> None:
        """Read all files once, off the event loop; where one is damaged, the next step builds the index anew."""
        parts, done = self._files.engine.check_files(), object()
        try:
            while await self._in(self._checker, lambda: next(parts, done)) is not done:
                pass
        except IndexCorrupt as error:
            self._note(error)

    async def step(self) -> bool:
        """Index one batch, and return False where nothing was left to do."""
        if not self._feed.knows(self._cursor):
            await self._begin_again()
        if self._reached < 0:
            self._begun_at = self._feed.sequence(self._cursor) + self._feed.lag(self._cursor)
        changes, cursor = await self._batch()
        moved = cursor != self._cursor
        if moved:  # also where nothing in it was a document: a cursor left behind would grow too old
            await self._in(self._writer, lambda: self._files.apply(changes, cursor))
        self._cursor = cursor
        lag = self._feed.lag(cursor)
        self._forgotten = 0 if moved else lag  # numbers at the end of the log whose changes nobody has to follow
        self._reached = self._feed.sequence(cursor) + self._forgotten
        if lag <= self._forgotten:
            self._current = True
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
        try:
            await self._in(self._writer, self._files.close)
        except (MachineRefuses, IndexCorrupt) as error:
            log.info("index not closed well; the next start takes up what is missing reason=%s", error)
        self._writer.shutdown()
        self._reader.shutdown()
        self._checker.shutdown()

    async def check(self, work: Callable[[], _Result]) -> _Result:
        """Run the check of a large answer of a peer off the event loop."""
        return await self._in(self._checker, work)

    async def look_up(self, work: Callable[[WrittenText, int], list[_Result]]) -> list[_Result]:
        """Look something up in the words and titles of so many documents that are indexed here; nothing is found where
        the index cannot be read now."""
        if not self.is_answering:
            return []
        try:
            return await self._read(self._overlay.view.node_id, lambda: work(self._files.engine, self.documents))
        except BadMessage:  # busy, or damaged: an answer without this help is better than none
            return []

    async def _begin_again(self) -> None:
        log.info("index begins again: the change log is another")
        self._current, self._reached = False, -1
        await self._in(self._reader, lambda: None)  # whoever reads now has finished before the files go
        await self._in(self._writer, self._files.reset)
        self._cursor = b""

    async def _statistics(self, peer: NodeId, ask: AskStatistics) -> StatisticsAnswer:
        rules = self._rules(peer, ask.analyzer, rules_in_force(self._overlay).ranking.number)
        slots = self._accept(peer, ask.slot_bits, ask.slots)
        query = parse_query(ask.query, ask.language, ask.site, rules=rules)
        agreement = self._agreement(slots, ask.slot_bits)
        beside = ask.slot_bits, ask.spellings, ask.patterns
        answer = await self._read(peer, lambda: count(self._files, query, slots, *beside))
        return structs.replace(answer, agreement=agreement)

    async def _best(self, peer: NodeId, ask: AskBest) -> BestAnswer:
        rules = self._rules(peer, ask.analyzer, ask.ranking)
        slots = self._accept(peer, ask.slot_bits, ask.slots)
        query = parse_query(ask.query, ask.language, ask.site, ask.by_date, rules)
        statistics = _believable(peer, ask, query)
        depth = min(ask.depth, self._config.max_depth)
        floor = ask.floor if ask.floor > 0 else 0.0
        files, bits = self._files, ask.slot_bits
        agreement = self._agreement(slots, bits)
        bounds = ask.k, depth, floor, ask.per_host, ask.facets
        answer = await self._read(peer, lambda: best(files, query, statistics, slots, bits, *bounds))
        return structs.replace(answer, agreement=agreement)

    def _agreement(self, slots: Sequence[Slot], slot_bits: int) -> Agreement:
        """How these copies compare with others; nothing of slots that are numbered otherwise here."""
        strategy = self._overlay.view.strategy
        return self._agree(slots) if slot_bits == strategy.slot_bits else Agreement(strategy.version)

    def _rules(self, peer: NodeId, analyzer: int, ranking: int) -> SearchRules:
        """The rules of these numbers; refuses who goes by others than this node can."""
        rules = rules_of(analyzer, ranking)
        if rules is None or rules.analyzer is not self._files.analyzer:
            raise BadMessage(peer.hex(), f"analyzer, ranking {analyzer, ranking} are none of those known here")
        return rules

    def _accept(self, peer: NodeId, slot_bits: int, slots: Iterable[int]) -> list[Slot]:
        """Those of the slots that this node answers for, ascending; refuses who counts slots otherwise.

        While a strategy that splits slots spreads, some ask by the old numbers and some by the new: both are answered.
        """
        bits = self._overlay.view.strategy.slot_bits
        if abs(slot_bits - bits) > NEAR_BITS:
            raise BadMessage(peer.hex(), f"slot_bits are {bits} here and {slot_bits} there: ask again in a few seconds")
        if not self.reached(0):
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
        except (MachineRefuses, IndexCorrupt) as error:
            self._note(error)
            raise BadMessage(peer.hex(), "the index here cannot be read now; ask another replica") from error
        finally:
            self._waiting[peer] -= 1
            if not self._waiting[peer]:
                del self._waiting[peer]

    async def _in(self, executor: ThreadPoolExecutor, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(executor, work)


def rules_in_force(overlay: Overlay) -> SearchRules:
    """Return the rules that the strategy in force names, as far as this release knows them."""
    strategy = overlay.view.strategy
    return closest_to(strategy.analyzer, strategy.ranking)


def _chars(change: DocumentChange) -> int:
    return len(change.text.body) + len(change.text.boilerplate) if change.text else 0


def _believable(peer: NodeId, ask: AskBest, query: Query) -> Statistics:
    if len(ask.df) != len(query.leaves) or any(df > ask.documents for df in ask.df):
        raise BadMessage(peer.hex(), "statistics that do not fit the query")
    return Statistics(ask.documents, ask.lengths, ask.df)
