"""Delivers what this node owes: copies that owners did not take when they were written.

Each live peer gets some batches of what it is owed, beside the others, so one that is silent keeps nobody waiting. A
peer that neither owns nor serves a slot any more is owed nothing there: its new owners reconcile.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from dht import Key, NodeId, Overlay, RemoteError, Slot, slot_of
from store.catalog.hinted_handoff import HintedHandoff
from store.catalog.record_store import RecordStore
from store.repair.peer_sync import PeerSync, batches

log = logging.getLogger(__name__)
_DEBT_BATCHES = 16  # for one peer before the next one gets its turn
_DEBTS_AT_ONCE = 8  # peers
Lacks = Callable[[NodeId, Iterable[Slot]], None]


class DebtDelivery:
    """Pays what hinted hand-off remembers."""

    def __init__(
        self, store: RecordStore, overlay: Overlay, sync: PeerSync, handoff: HintedHandoff, lacks: Lacks
    ) -> None:
        """`lacks(peer, slots)` is told of slots of which a peer did not take a copy, and will not get it from here."""
        self._config, self._clock = store.config, store.clock
        self._overlay, self._sync, self._handoff, self._lacks = overlay, sync, handoff, lacks
        self._delivering = asyncio.Semaphore(_DEBTS_AT_ONCE)

    async def deliver(self) -> None:
        """Deliver some batches to each live peer that is owed anything; give up what is too old."""
        async with asyncio.TaskGroup() as tasks:
            for peer in self._handoff.counts():
                if self._overlay.view.is_live(peer):
                    tasks.create_task(self._deliver_to(peer), name="store-deliver")
        for copy in await self._handoff.give_up_old(self._clock().wall):
            self._lacks(copy.peer, [self._slot(copy.key)])

    async def _deliver_to(self, peer: NodeId) -> None:
        try:
            async with self._delivering:
                for _ in range(_DEBT_BATCHES):
                    if not await self._deliver_batch(peer):
                        break
        except RemoteError as error:
            log.debug("debt not paid peer=%s reason=%s", peer.hex(), error)

    async def _deliver_batch(self, peer: NodeId) -> bool:
        """Deliver one batch; return False where nothing is owed."""
        view, due = self._overlay.view, self._handoff.owed_to(peer, self._config.flush_records)
        slots = [self._slot(debt.key) for debt, _ in due]
        owns = [peer in view.owners(slot) or peer in view.ready(slot) for slot in slots]
        alive = [r for (_, r), owner in zip(due, owns, strict=True) if r is not None and owner]
        batch, slot_bits = next(batches(alive, self._config), []), view.strategy.slot_bits
        pushed = await self._sync.push(peer, batch, slot_bits) if batch else set()
        refused = {slot_of(r.key, slot_bits) for r in batch} if pushed is None else pushed
        if refused and slot_bits == view.strategy.slot_bits:  # else all slots are compared anew
            self._lacks(peer, refused)
        sent = {(r.kind, r.id) for r in batch}
        moot = [d for (d, r), owner in zip(due, owns, strict=True) if r is None or not owner]
        await self._handoff.delivered(moot + [d for d, _ in due if (d.kind, d.id) in sent])
        return bool(due)

    def _slot(self, key: Key) -> Slot:
        return slot_of(key, self._overlay.view.strategy.slot_bits)
