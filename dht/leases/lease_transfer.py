"""Moves in force: for a while an heir comes before everybody else in the order in which peers should hold a slot.

Pure: `now` is an argument. The holder of a slot makes a move, hands the slot over as it hands one back, and names the
heir in the release; who hears it from the one that has its vote believes it. Votes never depend on a move: a peer
that does not know of it only asks too early. A move ends with its time, and when its heir loses the slot.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dht.clock import Now
from dht.keys import NodeId, Slot
from dht.messages import MAX_MOVE_S, Heir
from dht.slot_resize import children


@dataclass(frozen=True, slots=True)
class LeaseTransfer:
    """Who comes first in a slot's order, and until when (steady seconds)."""

    heir: NodeId
    until: float
    giver: NodeId | None  # who moved it to this node, if it did


class LeaseTransfers:
    """The moves that one node knows of, at most one a slot."""

    def __init__(self, node_id: NodeId) -> None:
        self._node_id = node_id
        self._moves: dict[Slot, LeaseTransfer] = {}
        self._named: dict[Slot, LeaseTransfer] = {}

    def put(self, now: Now, slot: Slot, heir: NodeId, lent_s: float, giver: NodeId | None = None) -> None:
        """From now on, for so long."""
        self._moves[slot] = LeaseTransfer(heir, now.steady + min(lent_s, MAX_MOVE_S), giver)

    def end(self, slot: Slot) -> None:
        """The slot's own order again."""
        self._moves.pop(slot, None)

    def find(self, now: Now, slot: Slot) -> LeaseTransfer | None:
        """The move in force."""
        move = self._moves.get(slot)
        if move is not None and now.steady >= move.until:
            self.end(slot)
            return None
        return move

    def heir(self, now: Now, slot: Slot) -> NodeId | None:
        """Who comes first because of a move in force."""
        move = self.find(now, slot)
        return move.heir if move is not None else None

    def apply(self, now: Now, slot: Slot, order: Sequence[NodeId]) -> list[NodeId]:
        """The order with the heir, if it is there at all, before the others."""
        heir = self.heir(now, slot)
        return sorted(order, key=lambda peer: peer != heir)

    def note_holders(self, now: Now, slot: Slot, holders: Sequence[NodeId]) -> None:
        """These hold the slot: where the heir is not among them, it was lost on the way or since."""
        if self.heir(now, slot) not in holders:
            self.end(slot)

    def keep_only(self, slots: set[Slot]) -> None:
        """Forget the moves of all other slots."""
        self._moves = {slot: move for slot, move in self._moves.items() if slot in slots}

    def split(self, doublings: int) -> None:
        """Move all parts of slots that were split, each doubled so many times, where the whole was moved."""
        self._moves = {part: move for slot, move in self._moves.items() for part in children(slot, doublings)}
        self._named = {part: move for slot, move in self._named.items() for part in children(slot, doublings)}

    def name_heir(self, slot: Slot, move: LeaseTransfer) -> None:
        """The slot is free for the heir: the next releases say so."""
        self._moves[slot] = self._named[slot] = move

    def take_named(self, now: Now) -> Mapping[Slot, Heir]:
        """What the next releases have to say, by slot."""
        told = {s: (int(s), bytes(m.heir), max(0, int(m.until - now.steady))) for s, m in self._named.items()}
        self._named = {}
        return told

    def lent(self, now: Now) -> Mapping[Slot, NodeId]:
        """Slots that were moved to others as far as this node was told, each with its heir."""
        heirs = {slot: self.heir(now, slot) for slot in list(self._moves)}
        return {slot: heir for slot, heir in heirs.items() if heir is not None and heir != self._node_id}
