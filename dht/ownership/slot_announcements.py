"""The announcements of live peers: the slots for which they are ready, and those that they lease.

Pure: heartbeats in, changes out. Peers may count by another number of slots; all is told here in this node's.
"""

from bisect import bisect_left, insort
from typing import NamedTuple

from dht.keys import NodeId, Slot
from dht.slot_resize import resize_inside, resize_overlapping
from dht.wire.heartbeat import VerifiedHeartbeat


class Announced(NamedTuple):
    """Holds the words of one heartbeat: slots of which all is ready, and slots of which any part is leased."""

    ready: frozenset[Slot]
    leased: frozenset[Slot]


class LastWord(NamedTuple):
    """What a peer that may be silent by now said last: whether it is a stable machine, and of which slots all lay
    there."""

    is_stable: bool
    ready: frozenset[Slot]


NOTHING = Announced(frozenset(), frozenset())


class SlotAnnouncements:
    """The announcements of the live peers, in 2**`slot_bits` slots.

    `by_peer`: what each announces; `holders`: who announces a slot's lease, sorted. Both stay the same objects."""

    def __init__(self, slot_bits: int) -> None:
        self.by_peer: dict[NodeId, Announced] = {}
        self.holders: dict[Slot, list[NodeId]] = {}
        self._slot_bits = slot_bits
        self._heard: dict[NodeId, VerifiedHeartbeat] = {}

    def update(self, heard: list[tuple[NodeId, VerifiedHeartbeat]], slot_bits: int) -> set[Slot] | None:
        """Take the heartbeats of all live peers; return the slots for which other peers are ready now, None for all."""
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
        ready = resize_inside(said.ready_slots, said.slot_bits, bits)
        return Announced(ready, resize_overlapping(said.leased_slots, said.slot_bits, bits))

    def _replace(self, peer: NodeId, said: Announced) -> frozenset[Slot]:
        """Note that a peer announces this from now on; return the slots for which it became, or is no longer, ready."""
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
        return old.ready ^ said.ready


def _words(beat: VerifiedHeartbeat) -> tuple[bytes, bytes, int]:
    said = beat.heartbeat
    return said.ready, said.leased, said.slot_bits
