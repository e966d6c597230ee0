"""Lists what a change of strategy moves: which slots get new owners.

Pure: two placements in, moves out. The slots are those of the larger of the two numbers of slots, so that a doubling
is compared with what was before it.
"""

from collections.abc import Iterator
from typing import NamedTuple

from dht.keys import NodeId, Slot
from dht.ownership.rendezvous import Placement


class SlotMove(NamedTuple):
    """One slot, in the larger of two numbers of slots: its owners before and after, highest weight first."""

    slot: Slot
    before: tuple[NodeId, ...]
    after: tuple[NodeId, ...]

    @property
    def gained(self) -> tuple[NodeId, ...]:
        """Owners that must be sent what lies in the slot."""
        return tuple(owner for owner in self.after if owner not in self.before)


def placement_diff(before: Placement, after: Placement, bits_before: int, bits_after: int) -> Iterator[SlotMove]:
    """Yield every slot in order, in the larger number of slots, with its owners in two placements."""
    bits = max(bits_before, bits_after)
    for number in range(1 << bits):
        old, new = Slot(number >> (bits - bits_before)), Slot(number >> (bits - bits_after))
        yield SlotMove(Slot(number), before.owners(old), after.owners(new))
