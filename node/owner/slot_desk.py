"""Shows the teams of the slots, and what lies of these on this node's disk."""

from collections.abc import Sequence

from dht import NodeId, OverlayService, Slot, slot_range
from node.api.slots import NamedMember, SlotEntry, SlotTable
from node.owner.slot_page import SlotWish, slot_page
from store import RecordStore, Replicator

ADDED_UP = 1000  # records of a slot whose bytes are added up; where it has more, they stand for the others


class SlotDesk:
    """Lists slots with owners, holder and copies, as this node hears of them."""

    def __init__(self, overlay: OverlayService, store: RecordStore, replicator: Replicator) -> None:
        self._overlay, self._store, self._replicator = overlay, store, replicator

    async def slots(self, member: str, few: bool, number: int | None, start: int, most: int) -> SlotTable:
        """Return a page of slots. `member`: only those of members whose names or ids hold this text."""
        view = self._overlay.view
        ready, owners = view.ready_by_slot(), view.owners_by_slot()
        owned, leases = view.owned(), view.leases()

        def holder(slot: Slot) -> NodeId | None:
            return view.node_id if slot in leases else next(iter(view.announced(slot)), None)

        wish = SlotWish(self._called(member) if member else None, few, number)
        page = slot_page(owners, ready, holder, wish, start, most)
        sizes = await self._bytes(page.slots)
        mine = self._replicator.ready_slots()
        rows = [
            SlotEntry(
                slot=slot,
                owners=list(map(self._member, owners[slot])),
                holder=None if (peer := holder(slot)) is None else self._member(peer),
                copies=len(ready[slot]),
                owned=slot in owned,
                ready=slot in mine,
                leased=slot in leases,
                documents=documents,
                bytes=size,
            )
            for slot, (documents, size) in zip(page.slots, sizes, strict=True)
        ]
        return SlotTable(slots=rows, matching=page.matching, all=len(owners), next=page.after)

    def _called(self, text: str) -> frozenset[NodeId]:
        """Return the members whose names or ids hold a text."""
        sought = text.casefold()
        named = [(peer, self._member(peer)) for peer in self._overlay.view.members()]
        return frozenset(peer for peer, each in named if sought in each.name.casefold() or sought in each.node_id)

    def _member(self, peer: NodeId) -> NamedMember:
        return named_member(self._overlay, peer)

    async def _bytes(self, slots: Sequence[Slot]) -> list[tuple[int, int]]:
        """Count the pages of slots here, and the bytes of all their records."""
        bits = self._overlay.view.strategy.slot_bits
        ranges = [slot_range(slot, bits) for slot in slots]
        held = [self._store.summary(*each) for each in ranges]
        added = await self._store.read_ranges(lambda catalog: [catalog.bytes_in(*each, ADDED_UP) for each in ranges])
        return [
            (kept.documents, round(size * max(1.0, (kept.documents + kept.visits) / records)) if records else 0)
            for kept, (size, records) in zip(held, added, strict=True)
        ]


def named_member(overlay: OverlayService, peer: NodeId) -> NamedMember:
    """Return a member as its name and id; the name is "" where it says none."""
    view = overlay.view
    heartbeat = None if peer == view.node_id else view.peers.heartbeat(peer)
    name = overlay.report.own_name if peer == view.node_id else heartbeat.name if heartbeat else ""
    return NamedMember(peer.hex(), name, view.is_live(peer))
