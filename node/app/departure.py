"""Takes a node out of its network for good, and says how far that is and what its going would put at risk.

This node's records go to the owners that its slots have without it. A slot is dropped here when all of them have it, so
the node has left when nothing lies here any more. A note outlives a restart, which goes on with it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from dht import NodeId, OverlayService, Slot, slot_range
from node.api.operation import LeaveProgress, LeaveState
from node.api.status import Leaving
from node.app.wiring import StoreParts
from node.errors import NobodyElse

LOOK_S = 1.0
LINGER_S = 3.0  # in which who waits for the end hears of it
SHOWN = 20  # silent owners that are named


class Departure:
    """One node's way out. `note`: a file that says that it is on its way, None: nothing is remembered."""

    def __init__(self, overlay: OverlayService, parts: StoreParts, note: Path | None) -> None:
        self._overlay, self._parts, self._note = overlay, parts, note
        self._is_leaving = self._is_over = False
        self._at_once = asyncio.Event()
        if note is not None and note.exists():
            self._leave()

    def leave(self, *, at_once: bool, is_sure: bool) -> LeaveProgress:
        """Begin to leave, and say how far it is. `at_once`: end without handing anything over; only who `is_sure`
        begins that. Raises NobodyElse where nobody can take what lies here."""
        if at_once and is_sure:
            self._at_once.set()
        if not self._is_leaving and (is_sure or not at_once):
            self._begin()
        return self.progress()

    def progress(self) -> LeaveProgress:
        """Return how far this node is on its way out."""
        view, bits = self._overlay.view, self._overlay.view.strategy.slot_bits
        documents = at_risk = 0
        silent = set[NodeId]()
        slots = list(self._slots())
        for slot in slots:
            count = self._parts.records.summary(*slot_range(slot, bits)).documents
            documents += count
            at_risk += 0 if any(peer != view.node_id for peer in view.ready(slot)) else count
            silent |= {peer for peer in view.owners(slot) if not view.is_live(peer)}
        state: LeaveState = "gone" if self._is_over else "leaving" if self._is_leaving else "here"
        named = sorted(peer.hex() for peer in silent)[:SHOWN]
        return LeaveProgress(state, len(slots), documents, at_risk, named)

    def leaving(self) -> Leaving | None:
        """Return in how many slots anything lies here still; None where this node stays. Cheap to ask."""
        return Leaving(sum(1 for _ in self._slots())) if self._is_leaving else None

    async def run(self) -> None:
        """Return when this node has left, and who waits for that has had time to hear it."""
        while not (self._at_once.is_set() or (self._is_leaving and self._is_empty())):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_S):
                    await self._at_once.wait()
        self._is_over = True
        if self._note is not None:
            self._note.unlink(missing_ok=True)
        await asyncio.sleep(LINGER_S)

    def _begin(self) -> None:
        view = self._overlay.view
        if not self._at_once.is_set() and self._parts.records.occupied(0) and set(view.members()) <= {view.node_id}:
            raise NobodyElse()
        if self._note is not None:
            self._note.touch(0o600)
        self._leave()

    def _leave(self) -> None:
        self._is_leaving = True
        self._overlay.leave_for_good()

    def _slots(self) -> Iterator[Slot]:
        """The slots in which anything lies here."""
        return map(Slot, sorted(self._parts.records.occupied(self._overlay.view.strategy.slot_bits)))

    def _is_empty(self) -> bool:
        kept = self._parts.replicator.status()
        return not (kept.handing_over or kept.owed_now or kept.writing_bytes or self._parts.records.occupied(0))
