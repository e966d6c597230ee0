"""`ReadyPeers` knows which peers are ready for which slot, by their word and by whose word counts there.

Pure: heartbeats and placements in, ids out. Any peer may announce any slot. Its word counts where it is a candidate of
the slot, was one before slots were resized lately, or would be one if nobody were leaving.

The announcements of live peers: the slots for which they are ready, and those that they lease.

Pure: heartbeats in, changes out. Peers may count by another number of slots; all is told here in this node's.
"""

from bisect import bisect_left, insort
from collections.abc import Collection, Sequence
from typing import NamedTuple

from dht.keys import NodeId, Slot
from dht.ownership.rendezvous import Placement
from dht.slot_set import decode_positions, resize_inside, resize_overlapping
from dht.wire.heartbeat import Load, VerifiedHeartbeat


class Announced(NamedTuple):
    """Holds the slots that one heartbeat announces: those that are ready, those of them that are indexed whole, and
    those of which any part is leased."""

    ready: frozenset[Slot]
    answering: frozenset[Slot]
    leased: frozenset[Slot]


class LastWord(NamedTuple):
    """A peer's last report, though it may be silent by now: whether it is a stable machine, and the slots for which it
    was ready."""

    is_stable: bool
    ready: frozenset[Slot]


NOTHING = Announced(frozenset(), frozenset(), frozenset())


class SlotAnnouncements:
    """The announcements of the live peers, in 2**`slot_bits` slots.

    `by_peer`: what each announces; `holders`: who announces a slot's lease, sorted. Both stay the same objects."""

    def __init__(self, slot_bits: int) -> None:
        self.by_peer: dict[NodeId, Announced] = {}
        self.holders: dict[Slot, list[NodeId]] = {}
        self._slot_bits = slot_bits
        self._heard: dict[NodeId, VerifiedHeartbeat] = {}

    def update(self, heard: list[tuple[NodeId, VerifiedHeartbeat]], slot_bits: int) -> set[Slot] | None:
        """Take the heartbeats of all live peers; return the slots for which other peers are ready, or answer, now, None
        for all."""
        before, now, changed = self._heard, dict(heard), set[Slot]()
        is_resized = slot_bits != self._slot_bits
        if is_resized:
            self._slot_bits, before = slot_bits, {}
            self.by_peer.clear()
            self.holders.clear()
        for peer in before.keys() - now.keys():
            changed |= self._replace(peer, NOTHING)
        for peer, beat in now.items():
            old = before.get(peer)
            if old is not beat and (old is None or _words(old) != _words(beat)):
                changed |= self._replace(peer, self._read(beat))
        self._heard = now
        return None if is_resized else changed

    def _read(self, beat: VerifiedHeartbeat) -> Announced:
        said, bits = beat.heartbeat, self._slot_bits
        ready = said.ready_slots
        leased = resize_overlapping(decode_positions(said.leased, ready, said.slot_bits), said.slot_bits, bits)
        whole = resize_inside(ready, said.slot_bits, bits)
        if not said.stored_only:
            return Announced(whole, whole, leased)
        answering = resize_inside(ready - said.stored_only_slots, said.slot_bits, bits)
        return Announced(whole, answering, leased)

    def _replace(self, peer: NodeId, said: Announced) -> frozenset[Slot]:
        """Note that a peer announces this from now on; return the slots for which it begins or ends to be ready or to
        answer."""
        old = self.by_peer.pop(peer, NOTHING)
        if said is not NOTHING:
            self.by_peer[peer] = said
        for slot in said.leased - old.leased:
            insort(self.holders.setdefault(slot, []), peer)
        for slot in old.leased - said.leased:
            holders = self.holders[slot]
            del holders[bisect_left(holders, peer)]
            if not holders:
                del self.holders[slot]
        return (old.ready ^ said.ready) | (old.answering ^ said.answering)


def _words(beat: VerifiedHeartbeat) -> tuple[bytes, bytes, bytes, int]:
    said = beat.heartbeat
    return said.ready, said.leased, said.stored_only, said.slot_bits


FULL_PERCENT = 99  # of its quota: a node with so much keeps nothing for others


class ReadyPeers:
    """Holds the announcements of one node and its live peers. `own`: the slots for which this node is ready.
    `own_stored_only`: those of them that it does not index. `is_full`: whether it has no room."""

    def __init__(self, node_id: NodeId, slot_bits: int) -> None:
        self._node_id, self._slot_bits = node_id, slot_bits
        self.own: frozenset[Slot] = frozenset()
        self.own_stored_only: frozenset[Slot] = frozenset()
        self.is_full = False
        self._placement = Placement((), slot_bits, 1)
        self._formers: tuple[tuple[int, Placement], ...] = ()
        self._announcements = SlotAnnouncements(slot_bits)
        self._announced, self._holders = self._announcements.by_peer, self._announcements.holders
        self._ready: dict[Slot, tuple[NodeId, ...]] = {}
        self._by_slot: tuple[tuple[NodeId, ...], ...] = ()  # empty where one of them is not known
        self._answering_by_slot: tuple[tuple[NodeId, ...], ...] = ()

    def set_own(self, slots: frozenset[Slot], load: Load, stored_only: frozenset[Slot] = frozenset()) -> bool:
        """Set for which slots this node is ready, which of them it only stores, and how busy it is; tell whether it has
        another answer to `is_full`. The slots are numbered by the strategy that the view showed last."""
        self._forget((self.own ^ slots) | (self.own_stored_only ^ stored_only))
        self.own, self.own_stored_only, was_full = slots, stored_only, self.is_full
        self.is_full = load.disk >= FULL_PERCENT
        return was_full != self.is_full

    def resize(self, slot_bits: int) -> None:
        """Count by another number of slots from now on."""
        self.own = resize_inside(self.own, self._slot_bits, slot_bits)
        self.own_stored_only = resize_overlapping(self.own_stored_only, self._slot_bits, slot_bits) & self.own
        self._slot_bits = slot_bits

    def place(self, placement: Placement, formers: tuple[tuple[int, Placement], ...]) -> None:
        """Believe the candidates of this placement from now on, and of former ones, each with its slot_bits."""
        self._placement, self._formers = placement, formers
        self._forget(None)

    def hear(self, heard: list[tuple[NodeId, VerifiedHeartbeat]]) -> None:
        """Take the newest heartbeats of all live peers."""
        self._forget(self._announcements.update(heard, self._slot_bits))

    def of(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the nodes that announce a slot as ready and are believed, sorted."""
        found = self._ready.get(slot)
        if found is None:
            bits, peers = self._slot_bits, set(self._placement.ranking(slot))
            for former_bits, former in self._formers:
                peers.update(former.ranking(Slot(slot >> (bits - former_bits))))
            found = self._ready[slot] = tuple(sorted(peer for peer in peers if self.is_ready(peer, slot)))
        return found

    def by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return `of` every slot, by its number; the same object until one changes."""
        if not self._by_slot:
            self._by_slot = tuple(map(self.of, map(Slot, range(1 << self._slot_bits))))
        return self._by_slot

    def answering(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return those of `of` a slot that index it, and so answer queries, sorted."""
        return tuple(peer for peer in self.of(slot) if self._answers(peer, slot))

    def answering_by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return `answering` of every slot, by its number; the same object until one changes."""
        by_slot = self.by_slot()
        if not self._answering_by_slot:
            found = tuple(map(self.answering, map(Slot, range(len(by_slot)))))
            self._answering_by_slot = self._by_slot if found == by_slot else found
        return self._answering_by_slot

    def _answers(self, peer: NodeId, slot: Slot) -> bool:
        if peer == self._node_id:
            return slot in self.own and slot not in self.own_stored_only
        announced = self._announced.get(peer)
        return announced is not None and slot in announced.answering

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Tell whether a live peer, or this node, announces the slot as ready."""
        if peer == self._node_id:
            return slot in self.own
        announced = self._announced.get(peer)
        return announced is not None and slot in announced.ready

    def holders(self, slot: Slot) -> Sequence[NodeId]:
        """Return the live peers whose newest heartbeat says that they hold the slot, sorted."""
        return self._holders.get(slot, ())

    def _forget(self, slots: Collection[Slot] | None) -> None:
        """Compute anew who is ready for these slots, None for all, when it is asked for."""
        for slot in tuple(self._ready) if slots is None else slots:
            self._ready.pop(slot, None)
            self._by_slot = self._answering_by_slot = ()
