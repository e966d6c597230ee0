"""Names the slots of which an index holds more than ids. Pure."""

from typing import NamedTuple

from dht import MAX_SLOT_BITS, Key, Slot, slot_of


class IndexedSlots(NamedTuple):
    """Names the slots that are indexed, of 2**`slot_bits`. `slots`: None where all are that this node holds."""

    slots: frozenset[Slot] | None = None
    slot_bits: int = 0

    def holds(self, key: Key) -> bool:
        """Tell whether a document of this key is indexed."""
        return self.slots is None or slot_of(key, self.slot_bits) in self.slots

    def holds_cell(self, cell: int) -> bool:
        """Tell whether documents are indexed whose keys begin with these 16 bits."""
        return self.slots is None or cell >> (MAX_SLOT_BITS - self.slot_bits) in self.slots

    def lacks_some_of(self, before: "IndexedSlots") -> bool:
        """Tell whether slots may be indexed no more that were before."""
        if self.slots is None:
            return False
        return before.slots is None or before.slot_bits != self.slot_bits or not before.slots <= self.slots


ALL_SLOTS = IndexedSlots()
