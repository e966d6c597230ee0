"""Sets of slots as integers, a bit for each slot, and who can answer for which: a plan takes microseconds by these.

Pure: values in, values out. Bitmaps and the slots in them are turned into each other once, and remembered, since most
queries ask the same peers for the same slots.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from dht import NodeId, Slot

REMEMBERED = 128  # sets of slots: of few peers each is asked for few different ones


class Ready(dict[Slot, Sequence[NodeId]]):
    """Ready peers by slot. Nothing in it changes, so what follows from it is found once."""

    @cached_property
    def can(self) -> Mapping[NodeId, int]:
        """The slots for which each peer is ready, the peers sorted."""
        found = defaultdict[NodeId, list[Slot]](list)
        for slot, peers in self.items():
            for peer in peers:
                found[peer].append(slot)
        return {peer: bitmap_of(found[peer]) for peer in sorted(found)}

    @cached_property
    def askable(self) -> int:
        """The slots for which anybody is ready."""
        return bitmap_of(slot for slot, peers in self.items() if peers)

    def within(self, slots: int) -> "Ready":
        """Return the part about these slots: this object where nothing else could be asked."""
        return self if not self.askable & ~slots else Ready({slot: self[slot] for slot in slots_of(slots)})

    def without(self, avoid: Collection[NodeId]) -> "Ready":
        """Return those peers that are not to be avoided, of a slot all where there is nobody else."""
        return Ready({slot: unless(peers, avoid) for slot, peers in self.items()}) if avoid else self


def unless(peers: Sequence[NodeId], avoid: Collection[NodeId]) -> Sequence[NodeId]:
    """Return those of some peers that are not to be avoided, all where there is nobody else."""
    return [peer for peer in peers if peer not in avoid] or peers


def bitmap_of(slots: Iterable[int]) -> int:
    """Return a set of slots as an integer."""
    found = bytearray()
    for slot in slots:
        if slot >> 3 >= len(found):
            found.extend(bytes((slot >> 3) + 1 - len(found)))
        found[slot >> 3] |= 1 << (slot & 7)
    return int.from_bytes(found, "little")


@lru_cache(REMEMBERED)
def slots_of(bitmap: int) -> tuple[Slot, ...]:
    """Return the slots of a bitmap, ascending."""
    digits, found, slot = f"{bitmap:b}"[::-1], list[Slot](), -1
    while (slot := digits.find("1", slot + 1)) >= 0:
        found.append(Slot(slot))
    return tuple(found)
