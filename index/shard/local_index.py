"""This node's indexes: which there are, which one serves, and how peers are answered from them.

Nearly always there is one index. Where a strategy names another analyzer, the index for it is built beside the present
one, before it counts. The strategy's instant switches, and the earlier index goes a day later. A node answers for slots
that it announces as ready. It announces them once its serving index holds the records that made them ready, and has
caught up after a start or a rebuild. A question names the rules by which it goes, and is answered by these where the
index for them is here (`question_server.py`). A thread of its own checks what peers answered to this node's own
queries.
"""

import asyncio
import logging
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from dht import (
    MAX_SLOT_BITS,
    STRICT,
    BadMessage,
    FaultSite,
    LocalFaults,
    MachineRefuses,
    Overlay,
    Slot,
    Supervisor,
    View,
    system_clock,
)
from index.change_feed import ChangeFeed
from index.config import IndexConfig
from index.engine.analysed_pages import AnalysedPages
from index.engine.index_files import IndexFiles
from index.engine.protocol import Engine
from index.errors import IndexCorrupt
from index.indexed_slots import IndexedSlots
from index.query.collection_statistics import SlotTotals
from index.query.remembered_statistics import RememberedStatistics
from index.query.search_rules import PlannedRules, SearchRules, known_rules, planned_rules, rules_warnings
from index.shard.index_duty import IndexDuty
from index.shard.index_follower import IndexFollower
from index.shard.question_server import Agree, QuestionServer
from index.text.analyzer_check import check_analyzer
from index.text.analyzer_rules import AnalyzerRules

log = logging.getLogger(__name__)

LOOK_S = 1.0  # how often it is looked which indexes are needed
TRY_AGAIN_S = 10.0  # between two tries to begin an index where the machine refused
_Result = TypeVar("_Result")


class LocalIndex:
    """One node's indexes. `run` follows the feed until cancelled; `close` ends the threads."""

    def __init__(
        self,
        config: IndexConfig,
        path: Path | None,
        overlay: Overlay,
        feed: ChangeFeed,
        agree: Agree,
        faults: LocalFaults | None = None,
        no_room: Callable[[], str] = str,
    ) -> None:
        """Open or begin the index in the directory `path` (None: in memory). Blocks; raises MachineRefuses, or
        AnalyzerDiffers where this machine's libraries give other terms than the network's.

        `agree` says of slots, as the strategy in force numbers them, how their copies here compare with others.
        `faults` is told what fails later; `no_room` says why an index beside the one in force must not grow."""
        check_analyzer()
        for old in _unneeded(path, overlay.view) if path is not None else ():
            _delete(old)
        self._no_room, self._faults = no_room, faults or LocalFaults(system_clock)
        self.config, self._path, self._overlay, self._feed = config, path, overlay, feed
        self._checker = ThreadPoolExecutor(1, "index-check")
        self._followers: dict[AnalyzerRules, IndexFollower] = {}
        self._duty, self._indexed, self.analysed = IndexDuty(), IndexedSlots(), AnalysedPages()
        self.remembered = RememberedStatistics()
        self._server = QuestionServer(config, overlay, self._followers.get, agree, feed.read, self.remembered)
        self._running: dict[AnalyzerRules, asyncio.Task[None]] = {}
        self._young_since = float("inf")
        self._try_again_at = 0.0  # loop time
        self._planned: tuple[object, object, PlannedRules] | None = None
        now = self.plan.now.analyzer
        self._add(IndexFiles(config, self._folder(now), now), is_beside=False)

    @property
    def plan(self) -> PlannedRules:
        """The rules by which queries go, and those by which they went until lately."""
        strategy, formers = self._overlay.view.strategy, self._overlay.view.former_strategies()
        if self._planned is None or self._planned[0] is not strategy or self._planned[1] is not formers:
            self._planned = strategy, formers, planned_rules(strategy, formers)
        return self._planned[2]

    def rules(self) -> list[SearchRules]:
        """List the rules by which this node can ask now, those in force first, then those before."""
        plan = self.plan
        able = [rules for rules in (plan.now, *plan.before) if self._serves(rules.analyzer)]
        return able or [plan.now]

    @property
    def is_current(self) -> bool:
        """Whether all of the change log is indexed."""
        return self._serving.is_current

    def reached(self, sequence: int) -> bool:
        """Tell whether all changes of the store up to this one are indexed, or need not be: by all rules
        that may be asked for."""
        others = (each for each in self._followers.values() if each.is_answering and not each.is_stuck)
        return self._serving.reached(sequence) and all(each.reached(sequence) for each in others)

    @property
    def is_answering(self) -> bool:
        """Whether there is an index to ask: it was level with the change log once since it began."""
        return self._serving.is_answering

    @property
    def is_stuck(self) -> bool:
        """Whether changes wait because this machine fails, so that other replicas know more."""
        return self._serving.is_stuck

    @property
    def documents(self) -> int:
        """How many documents are indexed."""
        return self._serving.files.documents

    @property
    def serving(self) -> AnalyzerRules:
        """The analyzer of the index that serves."""
        return self._serving.files.analyzer

    def beside(self) -> dict[int, tuple[float, bool]]:
        """Tell of the indexes that do not serve, by the number of their analyzer, which share of the change log each
        has, and whether it can answer."""
        others = (each for each in self._followers.values() if each is not self._serving)
        return {each.files.analyzer.number: (each.share, each.is_answering) for each in others}

    def warnings(self) -> Iterator[str]:
        """Say what of the rules of search an operator should know, one sentence each."""
        plan = self.plan
        yield from rules_warnings(plan, self._overlay.view.coming_strategies())
        if not plan.unknown and self.serving is not plan.now.analyzer:
            share = self.beside().get(plan.now.analyzer.number, (0.0, False))[0]
            built = f"the index for analyzer {plan.now.analyzer.number}, in force now, is being built ({share:.0%})"
            yield f"{built}; until then answers are by the rules before"

    def stored_only(self, slots: Collection[Slot]) -> frozenset[Slot]:
        """Return those of some slots, as the strategy in force numbers them, that are not wholly indexed here."""
        unindexed, bits = self._serving.files.unindexed, self._overlay.view.strategy.slot_bits
        indexed = self._indexed.slots
        if indexed is None and not unindexed:
            return frozenset()
        lacking = {cell >> (MAX_SLOT_BITS - bits) for cell in unindexed}
        return frozenset(slot for slot in slots if slot in lacking or (indexed is not None and slot not in indexed))

    def totals_by_slot(self) -> Mapping[Slot, SlotTotals]:
        """Return what is indexed of each slot, those that hold nothing maybe left out; the same object until anything
        changes, and of each slot until that changes."""
        return self._serving.files.totals.at(self._overlay.view.strategy.slot_bits)

    def fingerprint_until(self, slot: Slot, instant: float) -> bytes:
        """Return the fingerprint of a slot's documents as they were written before an instant (Unix seconds, by their
        authors' clocks), which is to be later than that given to `keep_apart`."""
        totals = self._serving.files.totals
        return totals.fingerprint_until(slot, self._overlay.view.strategy.slot_bits, instant)

    def newest_apart(self) -> Mapping[Slot, float]:
        """Return by slot when the newest of what is kept apart was written, slots without any left out. For all
        instants after that `fingerprint_until` is the fingerprint of the slot's totals."""
        return self._serving.files.totals.newest_young(self._overlay.view.strategy.slot_bits)

    def keep_apart(self, since: float) -> None:
        """Keep apart from now on what was written since an instant (Unix seconds), so that `fingerprint_until` knows
        what was there before it."""
        self._young_since = since
        for each in self._followers.values():
            each.files.young_since = since

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Have every index that is needed follow the change log, until cancelled. `supervisor`: restarts what fails."""
        self._running.clear()  # of an earlier run
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self.choose()
                for rules, each in self._followers.items():
                    if rules not in self._running:
                        self._running[rules] = supervisor.start(tasks, f"index-{rules.number}", each.run)
                await asyncio.sleep(LOOK_S)

    async def advance(self) -> bool:
        """Do a step of each index, and first what trouble made necessary; return False where nothing was left to do."""
        await self.choose()
        return any([await each.advance() for each in list(self._followers.values())])

    async def choose(self) -> None:
        """Begin the indexes that the known strategies need, and delete those that none needs any more: never before the
        one in force can answer."""
        begun = [slot for slot, totals in self.totals_by_slot().items() if any(totals.lengths)]
        self._indexed = self._duty.refresh(self._overlay.view, asyncio.get_running_loop().time(), begun)
        plan = self.plan
        before = [rules.analyzer for rules in plan.before]
        ahead = known_rules(self._overlay.view.coming_strategies())
        wanted = {plan.now.analyzer, *(rules.analyzer for rules in ahead)}
        wanted |= {each for each in before if (folder := self._folder(each)) and folder.is_dir()}
        for each in sorted(wanted - self._followers.keys(), key=lambda rules: rules.number):
            await self._begin(each, is_beside=each is not plan.now.analyzer)
        for rules, follower in self._followers.items():
            follower.is_beside = rules is not plan.now.analyzer
        if self._serves(plan.now.analyzer):
            for each in self._followers.keys() - wanted - set(before):
                await self._end(each)

    async def check_files(self) -> None:
        """Read all files once, off the event loop; where one is damaged, the next step builds the index anew."""
        for each in list(self._followers.values()):
            await each.check_files()

    async def spare(self) -> None:
        """Give up what only a node at work needs in memory."""
        self.analysed.spare()
        for each in list(self._followers.values()):
            await each.spare()

    async def close(self) -> None:
        """Close the files when the threads have finished what they are at."""
        for each in self._followers.values():
            await each.close()
        self._checker.shutdown()

    async def aside(self, work: Callable[[], _Result]) -> _Result:
        """Run work off the event loop, as the check of a large answer of a peer."""
        return await asyncio.get_running_loop().run_in_executor(self._checker, work)

    async def look_up(self, work: Callable[[Engine, int], list[_Result]]) -> list[_Result]:
        """Look something up in the words and titles of so many documents that are indexed here; nothing is found where
        the index cannot be read now."""
        serving = self._serving
        if not serving.is_answering:
            return []
        try:
            files = serving.files
            return await self._server.read(serving, lambda: work(files.engine, files.documents))
        except BadMessage:  # busy, or damaged: an answer without this help is better than none
            return []

    @property
    def _serving(self) -> IndexFollower:
        """The index by the rules in force; where it cannot answer yet, one by those before that can."""
        plan = self.plan
        for rules in (plan.now, *plan.before):
            if self._serves(rules.analyzer):
                return self._followers[rules.analyzer]
        return self._followers.get(plan.now.analyzer) or next(iter(self._followers.values()))

    def _serves(self, analyzer: AnalyzerRules) -> bool:
        return analyzer in self._followers and self._followers[analyzer].is_answering

    def _folder(self, analyzer: AnalyzerRules) -> Path | None:
        return None if self._path is None else self._path / _name(analyzer)

    def _add(self, files: IndexFiles, *, is_beside: bool) -> None:
        files.young_since = self._young_since
        feed, faults, no_room = self._feed, self._faults, self._no_room
        about = self.config, files, feed, faults, self._checker
        self._followers[files.analyzer] = IndexFollower(
            *about, is_beside=is_beside, no_room=no_room, indexed=lambda: self._indexed
        )

    async def _begin(self, analyzer: AnalyzerRules, *, is_beside: bool) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._try_again_at:
            return
        site = FaultSite.INDEX_BESIDE if is_beside else FaultSite.INDEX
        try:
            files = await self.aside(lambda: IndexFiles(self.config, self._folder(analyzer), analyzer))
        except (MachineRefuses, IndexCorrupt) as error:
            self._try_again_at = loop.time() + TRY_AGAIN_S
            self._faults.begin(site, error)
            return
        self._faults.end(site)
        log.info("index begins analyzer=%d documents=%d", analyzer.number, files.documents)
        self._add(files, is_beside=is_beside)

    async def _end(self, analyzer: AnalyzerRules) -> None:
        follower = self._followers.pop(analyzer)
        if task := self._running.pop(analyzer, None):
            task.cancel()
            await asyncio.wait({task})
        await follower.close()
        log.info("index deleted analyzer=%d", analyzer.number)
        if folder := self._folder(analyzer):
            await self.aside(lambda: _delete(folder))


def _name(analyzer: AnalyzerRules) -> str:
    return f"analyzer-{analyzer.number}"


def _unneeded(path: Path, view: View) -> Iterable[Path]:
    """List what lies in the directory and belongs to no rules that are in force, were lately or will be."""
    known = known_rules((view.strategy, *view.former_strategies(), *view.coming_strategies()))
    needed = {_name(rules.analyzer) for rules in known}
    needed.add(_name(planned_rules(view.strategy, ()).now.analyzer))
    return [each for each in path.glob("*") if each.name not in needed]


def _delete(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
