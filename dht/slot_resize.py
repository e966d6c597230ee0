"""Sets of slots are resized: told in another number of slots, each slot being a range of keys.

Pure: sets in, sets out. Doubling splits every slot into an even and an odd child; halving joins them again.
"""

from collections.abc import Set

from dht.keys import Slot


def resize_inside(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """Return the slots of 2**new_bits that lie wholly inside slots of 2**bits: for what is true of every key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    ratio = 1 << (bits - new_bits)
    parents = {Slot(slot // ratio) for slot in slots}
    return frozenset(p for p in parents if all(p * ratio + n in slots for n in range(ratio)))


def resize_overlapping(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """Return the slots of 2**new_bits that share a key with slots of 2**bits: for what is true of some key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    return frozenset(Slot(slot >> (bits - new_bits)) for slot in slots)


def children(slot: Slot, doublings: int) -> list[Slot]:
    """Return the slots that a slot is split into when the number of slots is doubled so many times."""
    return [Slot((slot << doublings) + n) for n in range(1 << doublings)]


def _split(slots: Set[Slot], doublings: int) -> frozenset[Slot]:
    if not doublings:
        return frozenset(slots)
    return frozenset(child for slot in slots for child in children(slot, doublings))
