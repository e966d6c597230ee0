"""Asks a few members for the sums of their slots, where nothing else tells how many pages the network has.

A node that serves few slots and has not been searched knows no count otherwise; a client neither.
"""

import asyncio
from collections.abc import Mapping, Sequence

from dht import Clock, NodeId, OverlayService, RemoteError, Slot
from node.service.network_size import LEAST_SLOTS, rounded
from store import SlotReport, SlotReportReply

ASKED, SLOTS_ASKED = 8, 1024  # members, and slots of each
WITHIN_S, FRESH_S, AGAIN_S = 1.0, 600.0, 30.0  # of asking; of an estimate; of none


class SlotSample:
    """Estimates the network's documents by slots of members near to this node in the order of ids."""

    def __init__(self, overlay: OverlayService, clock: Clock) -> None:
        self._overlay, self._clock = overlay, clock
        self._found: int | None = None
        self._until = 0.0  # steady
        self._asking = asyncio.Lock()

    async def documents(self) -> int | None:
        """Return the estimate, at most FRESH_S old; None where too few slots are told."""
        async with self._asking:
            if self._clock().steady >= self._until:
                self._found = await self._estimate()
                self._until = self._clock().steady + (AGAIN_S if self._found is None else FRESH_S)
            return self._found

    async def _estimate(self) -> int | None:
        slots, told = 2**self._overlay.view.strategy.slot_bits, dict[Slot, int]()
        try:
            async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as tasks:
                for peer, wanted in self._parts().items():
                    tasks.create_task(self._ask(peer, wanted, told), name="sample-slots")
        except TimeoutError:
            pass
        return rounded(sum(told.values()) * slots / len(told)) if len(told) >= min(LEAST_SLOTS, slots) else None

    def _parts(self) -> Mapping[NodeId, Sequence[Slot]]:
        """Return the slots to ask of each member, every slot once."""
        view, taken, parts = self._overlay.view, set[Slot](), dict[NodeId, Sequence[Slot]]()
        others = [peer for peer in view.members() if view.is_live(peer) and view.peers.heartbeat(peer)]
        for peer in sorted(others, key=lambda peer: (peer < view.node_id, peer))[:ASKED]:
            heartbeat = view.peers.heartbeat(peer)
            serves = heartbeat.ready_slots if heartbeat else frozenset[Slot]()
            if wanted := sorted(slot for slot in serves if slot not in taken)[:SLOTS_ASKED]:
                parts[peer] = wanted
                taken.update(wanted)
        return parts

    async def _ask(self, peer: NodeId, wanted: Sequence[Slot], told: dict[Slot, int]) -> None:
        message = SlotReport(self._overlay.view.strategy.slot_bits, tuple(wanted))
        try:
            reply = await self._overlay.ask(peer, message, SlotReportReply, timeout_s=WITHIN_S)
        except RemoteError:
            return
        told.update(
            {Slot(each.slot): max(0, each.documents) for each in reply.states if each.ready and each.slot in wanted}
        )
