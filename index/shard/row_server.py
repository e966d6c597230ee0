"""Serves the rows of terms that this node keeps: takes what owners of slots tell, and answers who asks.

Where the strategy has no directory, nothing is kept.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from dht import BadMessage, Clock, NodeId, Overlay
from index.directory.messages import AskRows, ImpactsTaken, TellImpacts, ToldRows
from index.directory.row_keeper import Owners, RowKeeper
from index.shard.local_index import LocalIndex

MOST_WAITING = 64  # questions and tellings in line; one more is refused
MOST_WAITING_OF_ONE = 8  # of one peer
_Result = TypeVar("_Result")


class RowServer:
    """The keeper of one node's rows, and its line to others."""

    def __init__(self, overlay: Overlay, local: LocalIndex, clock: Clock) -> None:
        self._overlay, self._local, self._clock = overlay, local, clock
        self._keeper: RowKeeper | None = None
        self._owners: Owners = ()
        self._telling = frozenset[NodeId]()  # who owns any slot
        self._turn = asyncio.Lock()
        self._waiting = Counter[NodeId]()
        self.entries = 0
        self.answered = 0
        overlay.serve(TellImpacts, self._take)
        overlay.serve(AskRows, self._rows)

    async def average(self) -> float | None:
        """Return the mean length of the network's documents as owners have told, None where too few have."""
        keeper = await self.refresh()
        return await self._work(lambda: keeper.average(self._owners)) if keeper else None

    async def refresh(self) -> RowKeeper | None:
        """Keep what the strategy and the owners of slots want kept; return the keeper, None where there is none."""
        view, numbers = self._overlay.view, self._local.plan.now.numbers
        if not view.strategy.directory:
            self._keeper, self._owners, self.entries = None, (), 0
            return None
        keeper = self._keeper
        if keeper is None or (keeper.slot_bits, keeper.numbers) != (view.strategy.slot_bits, numbers):
            keeper = self._keeper = RowKeeper(view.strategy.slot_bits, numbers)
            self._owners = ()
        owners = view.owners_by_slot()
        if owners is not self._owners and len(owners) == 1 << keeper.slot_bits:
            self._owners, self._telling = owners, frozenset[NodeId]().union(*owners)
            await self._work(lambda: keeper.keep(owners, view.node_id))
        return keeper

    async def _take(self, peer: NodeId, told: TellImpacts) -> ImpactsTaken:
        if (keeper := await self.refresh()) is None:
            return ImpactsTaken()
        if peer not in self._telling:
            raise BadMessage(peer.hex(), "levels of terms: it owns no slot")
        now = self._clock().wall

        def take() -> ImpactsTaken:
            taken = keeper.take(peer, told, now)
            self.entries = keeper.entries
            return taken

        return await self._work_for(peer, take)

    async def _rows(self, peer: NodeId, ask: AskRows) -> ToldRows:
        if (keeper := await self.refresh()) is None:
            raise BadMessage(peer.hex(), "no rows are kept here: the strategy has no directory")
        now, owners = self._clock().wall, self._owners
        self.answered += 1
        return await self._work_for(peer, lambda: keeper.rows(ask, owners, now))

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
        """Do work in a thread, alone: sorting in what was told takes milliseconds."""
        async with self._turn:
            return await asyncio.to_thread(job)
