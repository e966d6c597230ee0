"""Transfers of leases: for a while an heir comes first in the order in which peers should hold a slot.

Pure: `now` is an argument. The holder of a slot makes a transfer, hands the slot over as it hands one back, and names
the heir in the release; who hears it from the one that has its vote believes it. Votes never depend on a transfer: a
peer that does not know of it only asks too early. It ends with its time, and when its heir loses the slot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.messages import MAX_MOVE_S, Heir
from dht.slot_set import children


@dataclass(frozen=True, slots=True)
class LeaseTransfer:
    """Names the peer that comes first in a slot's order, and until when (steady seconds)."""

    heir: NodeId
    until: float
    giver: NodeId | None  # who moved it to this node, if it did


class LeaseTransfers:
    """The transfers that one node knows of, at most one a slot."""

    def __init__(self, node_id: NodeId) -> None:
        self._node_id = node_id
        self._moves: dict[Slot, LeaseTransfer] = {}
        self._named: dict[Slot, LeaseTransfer] = {}

    def put(self, now: Now, slot: Slot, heir: NodeId, lent_s: float, giver: NodeId | None = None) -> None:
        """Put an heir first in a slot's order for so many seconds; `giver`: who lent the slot to this node, if it was
        lent."""
        self._moves[slot] = LeaseTransfer(heir, now.steady + min(lent_s, MAX_MOVE_S), giver)

    def end(self, slot: Slot) -> None:
        """Go back to the slot's own order."""
        self._moves.pop(slot, None)

    def find(self, now: Now, slot: Slot) -> LeaseTransfer | None:
        """Return the slot's transfer that is in force, if there is one."""
        move = self._moves.get(slot)
        if move is not None and now.steady >= move.until:
            self.end(slot)
            return None
        return move

    def heir(self, now: Now, slot: Slot) -> NodeId | None:
        """Return who comes first in the slot's order because of a transfer in force."""
        move = self.find(now, slot)
        return move.heir if move is not None else None

    def apply(self, now: Now, slot: Slot, order: Sequence[NodeId]) -> list[NodeId]:
        """Return an order of peers with the heir, if it is among them, before the others."""
        heir = self.heir(now, slot)
        return sorted(order, key=lambda peer: peer != heir)

    def note_holders(self, now: Now, slot: Slot, holders: Sequence[NodeId]) -> None:
        """End the slot's transfer where its heir is not among these holders: it was lost on the way or since."""
        if self.heir(now, slot) not in holders:
            self.end(slot)

    def keep_only(self, slots: set[Slot]) -> None:
        """Forget the transfers of all other slots."""
        self._moves = {slot: move for slot, move in self._moves.items() if slot in slots}

    def split(self, doublings: int) -> None:
        """Transfer all parts of slots that were split, each doubled so many times, where the whole was transferred."""
        self._moves = {part: move for slot, move in self._moves.items() for part in children(slot, doublings)}
        self._named = {part: move for slot, move in self._named.items() for part in children(slot, doublings)}

    def name_heir(self, slot: Slot, move: LeaseTransfer) -> None:
        """Have the next releases say that the slot is free for the heir."""
        self._moves[slot] = self._named[slot] = move

    def take_named(self, now: Now) -> Mapping[Slot, Heir]:
        """Return the heirs that the next releases have to name, by slot, and forget that they are to be named."""
        told = {s: (int(s), bytes(m.heir), max(0, int(m.until - now.steady))) for s, m in self._named.items()}
        self._named = {}
        return told

    def lent(self, now: Now) -> Mapping[Slot, NodeId]:
        """Return the slots that were lent to others as far as this node was told, each with its heir."""
        heirs = {slot: self.heir(now, slot) for slot in list(self._moves)}
        return {slot: heir for slot, heir in heirs.items() if heir is not None and heir != self._node_id}
