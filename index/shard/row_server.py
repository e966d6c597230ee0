"""Serves the rows of terms that this node keeps: takes what owners of slots tell, and answers who asks.

Where the strategy has no directory, nothing is kept. What was told is joined in and put on disk every ten minutes, and
when the node stops; what fails meanwhile is as if it had not been told.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import TypeVar

from dht import BadMessage, BrokenFile, Clock, MachineRefuses, NodeId, Overlay
from index.directory.better_pages import BetterPages
from index.directory.level_doubts import LevelDoubts
from index.directory.messages import AskRows, LevelsTaken, TellLevels, ToldRows
from index.directory.row_keeper import RowKeeper
from index.directory.weighed_owners import Owners
from index.query.search_rules import SearchRules
from index.shard.block_file import BlockFile
from index.shard.local_index import LocalIndex

MOST_WAITING = 64  # questions and tellings in line; one more is refused
MOST_WAITING_OF_ONE = 8  # of one peer
ON_DISK_S = 600.0  # between two times that all is put on disk
_NOTE, _SETS = "told", "sets"
_Result = TypeVar("_Result")


class RowServer:
    """The keeper of one node's rows, and its line to others."""

    def __init__(self, overlay: Overlay, local: LocalIndex, clock: Clock, rng: Random) -> None:
        self._overlay, self._local, self._clock = overlay, local, clock
        self._doubts, self._better = LevelDoubts(rng.random), BetterPages()
        self._keeper: RowKeeper | None = None
        self._file: BlockFile | None = None
        self._owners: Owners = ()
        self._telling = frozenset[NodeId]()  # who owns any slot
        self._turn = asyncio.Lock()
        self._waiting = Counter[NodeId]()
        self._on_disk_at = clock().steady
        self.entries = 0
        self.answered = 0
        overlay.serve(TellLevels, self._take)
        overlay.serve(AskRows, self._rows)

    async def average(self) -> float | None:
        """Return the mean length of the network's documents as owners have told, None where too few have."""
        now = self._clock().wall
        return await self.ask_keeper(lambda keeper: keeper.average(now))

    def disbelieved(self) -> frozenset[NodeId]:
        """Return the owners whose levels are not believed now."""
        return self._doubts.disbelieved(self._clock().wall)

    @property
    def rules(self) -> SearchRules | None:
        """By which rules rows are kept, None where there is no directory."""
        return self._local.plan.now if self._overlay.view.strategy.directory else None

    async def ask_keeper(self, job: Callable[[RowKeeper], _Result]) -> _Result | None:
        """Work with the keeper, alone; None where there is none."""
        keeper = await self.refresh()
        return await self._work(lambda: job(keeper)) if keeper else None

    async def refresh(self) -> RowKeeper | None:
        """Keep what the strategy and the owners of slots want kept; return the keeper, None where there is none."""
        view, numbers = self._overlay.view, self._local.plan.now.numbers
        if not view.strategy.directory:
            if self._keeper is not None:
                await self._work(self._erase)
            return None
        keeper = self._keeper
        if keeper is None or (keeper.slot_bits, keeper.numbers) != (view.strategy.slot_bits, numbers):
            keeper = await self._work(lambda: self._open(view.strategy.slot_bits, numbers))
        owners = view.owners_by_slot()
        if owners is not self._owners and len(owners) == 1 << keeper.slot_bits:
            self._owners, self._telling = owners, frozenset[NodeId]().union(*owners)
            await self._work(lambda: keeper.keep(owners, view.node_id))
        return keeper

    async def keep_on_disk(self) -> None:
        """Put what was told on disk, now and then: one slot's terms after the other, so that nobody has to wait."""
        now, keeper = self._clock().steady, self._keeper
        if keeper is not None and now >= self._on_disk_at + ON_DISK_S:
            self._on_disk_at, noted = now, await self._work(keeper.note)
            for slot in keeper.term_slots:
                await self._work(lambda slot=slot: keeper.settle(slot))  # type: ignore[misc]
            await self._work(lambda: self._commit(noted))

    async def close(self) -> None:
        """Put what was told on disk, and close the file."""
        if self._file is not None:
            self._on_disk_at = -ON_DISK_S
            with suppress(MachineRefuses):
                await self.keep_on_disk()
        self._forget()

    def _open(self, slot_bits: int, numbers: tuple[int, int]) -> RowKeeper:
        """Take up what is on disk, where it is of such rows."""
        self._forget()
        self._file = file = BlockFile(self._local.directory_file("rows.sqlite"))
        noted = file.note(_NOTE)
        if not RowKeeper.is_noted(noted, slot_bits, numbers):
            file.clear()
            noted = b""
        self._keeper = RowKeeper(
            slot_bits, numbers, file.part, noted, file.note(_SETS), doubts=self._doubts, better=self._better
        )
        return self._keeper

    def _commit(self, noted: bytes) -> None:
        if self._file is not None and self._keeper is not None:
            self._file.put_note(_NOTE, noted)
            self._file.put_note(_SETS, self._keeper.note_sets())
            self._file.commit()

    def _forget(self) -> None:
        """Begin with what is on disk, the next time."""
        if self._file is not None:
            with suppress(BrokenFile):
                self._file.close()
        self._file, self._keeper, self._owners, self.entries = None, None, (), 0

    def _erase(self) -> None:
        self._forget()
        if (path := self._local.directory_file("rows.sqlite")) is not None:
            BlockFile.erase(path)

    async def _take(self, peer: NodeId, told: TellLevels) -> LevelsTaken:
        if (keeper := await self.refresh()) is None:
            return LevelsTaken()
        if peer not in self._telling:
            raise BadMessage(peer.hex(), "levels of terms: it owns no slot")
        now = self._clock().wall

        def take() -> LevelsTaken:
            taken = keeper.take(peer, told, now)
            self.entries = keeper.entries
            return taken

        return await self._work_for(peer, take)

    async def _rows(self, peer: NodeId, ask: AskRows) -> ToldRows:
        if (keeper := await self.refresh()) is None:
            raise BadMessage(peer.hex(), "no rows are kept here: the strategy has no directory")
        now = self._clock().wall
        self.answered += 1
        return await self._work_for(peer, lambda: keeper.rows(ask, now))

    async def _work_for(self, peer: NodeId, job: Callable[[], _Result]) -> _Result:
        """Work for a peer; raises BadMessage where too much waits."""
        if self._waiting.total() >= MOST_WAITING or self._waiting[peer] >= MOST_WAITING_OF_ONE:
            raise BadMessage(peer.hex(), "busy: too many questions about rows wait")
        self._waiting[peer] += 1
        try:
            return await self._work(job)
        finally:
            self._waiting -= Counter([peer])

    async def _work(self, job: Callable[[], _Result]) -> _Result:
        """Do work in a thread, alone: sorting in what was told takes milliseconds. Raises MachineRefuses where the file
        fails; if it is damaged, it is begun anew."""
        async with self._turn:
            try:
                return await asyncio.to_thread(job)
            except MachineRefuses:
                self._forget()
                raise
            except BrokenFile as error:
                self._erase()
                raise MachineRefuses(error.path, error.reason, "rows are told again") from error
