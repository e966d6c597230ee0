"""A set of slots told in another number of slots: a slot is a range of keys, whatever it is numbered by.

Pure: sets in, sets out. Doubling splits every slot into an even and an odd child; halving joins them again.
"""

from collections.abc import Set

from dht.keys import Slot


def resize_inside(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """The slots of 2**new_bits that lie wholly inside these slots of 2**bits: for what is true of every key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    ratio = 1 << (bits - new_bits)
    parents = {Slot(slot // ratio) for slot in slots}
    return frozenset(p for p in parents if all(p * ratio + n in slots for n in range(ratio)))


def resize_overlapping(slots: Set[Slot], bits: int, new_bits: int) -> frozenset[Slot]:
    """The slots of 2**new_bits that share a key with these slots of 2**bits: for what is true of some key."""
    if new_bits >= bits:
        return _split(slots, new_bits - bits)
    return frozenset(Slot(slot >> (bits - new_bits)) for slot in slots)


def _split(slots: Set[Slot], doublings: int) -> frozenset[Slot]:
    if not doublings:
        return frozenset(slots)
    return frozenset(Slot((slot << doublings) + n) for slot in slots for n in range(1 << doublings))
