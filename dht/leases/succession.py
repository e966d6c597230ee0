"""The peer that should hold each slot, and when it is this node's turn to ask for one that nobody holds.

Pure: `now` is an argument. A slot has a rendezvous order of its own among the live owners that are ready, so leases
spread evenly; its first is its preferred holder. The others ask only when nobody has held the slot for PATIENCE_S times
their place, by what they promised, what heartbeats say, and what those whom they asked say. Nobody who has the slot's
visits is passed over by one who has not; where nobody has them, because all owners sleep, stand-ins take it in the
same order. A newcomer comes after all who were there before it; the heir of a lease transfer before all. A node without
this node's votes, because second looks contradict its pages, gets no slot while anybody else is there.
"""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

from dht.clock import Now
from dht.keys import NodeId, Slot, slot_start
from dht.leases.lease import LeaseTransfers
from dht.leases.voter import Voter

PATIENCE_S = 12.0
FREED_S = 15.0  # a release is newer than the heartbeats heard for this long after it


class SlotView(Protocol):
    """The questions of the leases to the view, slot by slot."""

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Tell whether a live peer, or this node, announces the slot as ready."""

    def ready(self, slot: Slot) -> Sequence[NodeId]:
        """Return who announces the slot as ready and is believed: owners, and former ones that have yet to hand it
        over."""

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        """Return the live peers, this node never, whose newest heartbeat says that they hold the slot."""

    def seasoned(self, peers: Sequence[NodeId]) -> Sequence[NodeId]:
        """Return those of some peers that are members for as long as the strategy asks (min_age_days)."""


class Succession:
    """Decides when one node asks for which slot. `not_before`: steady time of its first claim."""

    def __init__(
        self, node_id: NodeId, slot_bits: int, voter: Voter, transfers: LeaseTransfers, not_before: float
    ) -> None:
        self._node_id, self._slot_bits, self._not_before = node_id, slot_bits, not_before
        self._voter, self._transfers = voter, transfers
        self.without_votes: frozenset[NodeId] = frozenset()  # who gets no votes of this node's
        self._vacant_since: dict[Slot, float] = {}
        self._retry_at: dict[Slot, float] = {}
        self._freed: dict[Slot, tuple[NodeId, float]] = {}

    def wait_until(self, until: float) -> None:
        """Claim nothing before this steady time."""
        self._not_before = max(self._not_before, until)

    def split(self, slot_bits: int) -> None:
        """Begin to wait for the parts of slots that were split, in place of the whole."""
        self._slot_bits = slot_bits
        self._vacant_since, self._retry_at, self._freed = {}, {}, {}

    def keep_only(self, slots: Collection[Slot]) -> None:
        """Forget what concerns other slots than these."""
        for waits in (self._vacant_since, self._retry_at):
            for slot in [slot for slot in waits if slot not in slots]:
                del waits[slot]

    def holders(self, now: Now, slot: Slot, view: SlotView) -> list[NodeId]:
        """Return the live peers that say they hold the slot and have not released it since."""
        if not (said := view.announced(slot)):
            return []
        freed, until = self._freed.get(slot, (None, 0.0))
        announced = [peer for peer in said if peer not in self.without_votes]
        return [peer for peer in announced if peer != freed or now.steady >= until]

    def note_release(self, now: Now, slot: Slot, peer: NodeId) -> None:
        """Note that a peer holds the slot no longer, whatever its last heartbeat says."""
        self._freed[slot] = (peer, now.steady + FREED_S)

    def note_vacant(self, now: Now, slot: Slot) -> None:
        """Note that nobody holds the slot from now on."""
        self._vacant_since[slot] = now.steady

    def note_taken(self, slot: Slot) -> None:
        """Note that somebody holds the slot, or may still."""
        self._vacant_since.pop(slot, None)

    def postpone(self, slot: Slot, until: float) -> None:
        """Do not ask for the slot before this steady time."""
        self._retry_at[slot] = until

    def is_postponed(self, now: Now, slot: Slot) -> bool:
        """Tell whether it is too early to ask for the slot again."""
        return now.steady < self._retry_at.get(slot, 0.0)

    def is_due(self, now: Now, slot: Slot, view: SlotView) -> bool:
        """Tell whether to ask now for a slot that this node does not hold."""
        promise = self._voter.promise(now, slot)
        holders = [promise.holder] if promise is not None and promise.holder != self._node_id else []
        if holders or (holders := self.holders(now, slot, view)):
            self.note_taken(slot)
            self._transfers.note_holders(now, slot, holders)
            return False
        if self._voter.company(now, slot) is None:
            self.note_vacant(now, slot)  # the preferred owner may not ask yet either
            return False
        since = self._vacant_since.setdefault(slot, now.steady)
        if now.steady < self._not_before or self.is_postponed(now, slot):
            return False
        place = self._turn_place(now, slot, view)
        return place is not None and now.steady - since >= PATIENCE_S * place

    def may_ask(self, peer: NodeId, slot: Slot, view: SlotView) -> bool:
        """Tell whether a peer can get votes for the slot. A newcomer gets none where an older member could hold it. A
        member without a vote gets none at all."""
        if peer in self.without_votes:
            return False
        team = self._voter.team(slot)
        older = view.seasoned([p for p in team if view.is_ready(p, slot)])
        return not older or peer in older

    def preferred(self, slot: Slot, view: SlotView) -> NodeId | None:
        """Return who comes first in the slot's own order, transfers aside."""
        return next(iter(self._order(slot, view)), None)

    def successor(self, now: Now, slot: Slot, view: SlotView) -> NodeId | None:
        """Return who should hold a slot in place of this node, which holds it; None where nobody should.

        A newcomer may be wrong about who is older: to another newcomer it is itself, and they would pass it round."""
        order = self._candidates(now, slot, view)
        best = order[0]
        if self._node_id not in order and best != self._transfers.heir(now, slot):
            best = preference(slot, self._slot_bits, {*order, self._node_id})[0]
        return None if best == self._node_id or not view.is_ready(best, slot) else best

    def meets_better(self, now: Now, slot: Slot, view: SlotView) -> bool:
        """Tell whether a live owner that comes before this node holds the slot too: two networks met, and it keeps
        it."""
        others = self.holders(now, slot, view)
        if not others:
            return False
        order = preference(slot, self._slot_bits, self._voter.team(slot))
        return any(peer in order[: order.index(self._node_id)] for peer in others)

    def _turn_place(self, now: Now, slot: Slot, view: SlotView) -> int | None:
        """How many come before this node; None where it must not ask."""
        am_ready = view.is_ready(self._node_id, slot)
        if view.ready(slot) and not am_ready:
            return None  # who has the slot's visits is there: without them this node would fetch what was fetched
        order = self._candidates(now, slot, view)
        if self._node_id in order:
            return order.index(self._node_id) + (not view.is_ready(order[0], slot))
        if not am_ready:
            return None
        team = preference(slot, self._slot_bits, self._voter.team(slot))
        return len(order) + team.index(self._node_id)  # a newcomer, after all who were there, one by one

    def _candidates(self, now: Now, slot: Slot, view: SlotView) -> list[NodeId]:
        """The peers that should hold the slot, best first: the heir of a move before the others."""
        return self._transfers.apply(now, slot, self._order(slot, view))

    def _order(self, slot: Slot, view: SlotView) -> list[NodeId]:
        """Return the ready candidates in the slot's own order, or all candidates if none is ready. Of the ready ones,
        those that have been members for long enough, if there are any."""
        everybody = self._voter.team(slot)
        team = [peer for peer in everybody if peer not in self.without_votes] or everybody
        ready = [peer for peer in team if view.is_ready(peer, slot)]
        return preference(slot, self._slot_bits, view.seasoned(ready) or ready or team)


def preference(slot: Slot, slot_bits: int, peers: Iterable[NodeId]) -> list[NodeId]:
    """Return peers in the order in which they should hold a slot; independent of the order in which they own it."""
    start = slot_start(slot, slot_bits)
    return sorted(peers, key=lambda peer: blake2b(peer + start, digest_size=8, person=b"lease").digest())
