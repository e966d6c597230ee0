"""What a change of strategy moves: which parts of the key space get new owners.

Pure: two placements in, moves out. Parts are slots of the finer of the two slot numbers, so that a doubling of slots
is compared with what was before it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dht.keys import NodeId, Slot
from dht.ownership.rendezvous import Placement


class SlotMove(NamedTuple):
    """One slot of the finer numbering: its owners before and after, highest weight first."""

    slot: Slot
    before: tuple[NodeId, ...]
    after: tuple[NodeId, ...]

    @property
    def gained(self) -> tuple[NodeId, ...]:
        """Owners that must be sent what lies there."""
        return tuple(owner for owner in self.after if owner not in self.before)


def placement_diff(before: Placement, after: Placement, bits_before: int, bits_after: int) -> Iterator[SlotMove]:
    """Every part of the key space, in order: 2**max(bits) of them."""
    bits = max(bits_before, bits_after)
    for number in range(1 << bits):
        old, new = Slot(number >> (bits - bits_before)), Slot(number >> (bits - bits_after))
        yield SlotMove(Slot(number), before.owners(old), after.owners(new))
