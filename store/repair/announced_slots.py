"""The slots that this node says it answers for, and since which change of its store it has all that makes them so."""

import asyncio
from collections.abc import Mapping, Set
from types import MappingProxyType

from dht import Slot, View, resize_inside
from store.catalog.catalog import ChangeLog


class AnnouncedSlots:
    """The ready slots, as others see them.

    They have the numbers of the strategy in force, even before the next look of `ReplicaRepair` at it."""

    def __init__(self, view: View, log: ChangeLog) -> None:
        self._view, self._log = view, log
        self._bits = view.strategy.slot_bits
        self._slots: frozenset[Slot] = frozenset()
        self._level_at: Mapping[Slot, int] = MappingProxyType({})
        self.changed = asyncio.Event()  # set whenever the slots are others; the one that waits clears it

    @property
    def slots(self) -> frozenset[Slot]:
        """The slots that this node answers for: its own, and those that it has yet to hand over."""
        bits = self._view.strategy.slot_bits
        return self._slots if bits == self._bits else resize_inside(self._slots, self._bits, bits)

    @property
    def level_at(self) -> Mapping[Slot, int]:
        """The number of the store's last change when each slot became ready; the same object while it holds."""
        bits = self._view.strategy.slot_bits
        return self._level_at if bits == self._bits else _since_newest(self.slots, self._level_at)

    def announce(self, ready: Set[Slot]) -> None:
        """Take over which slots are ready now."""
        slots = frozenset(ready)
        if slots != self._slots:
            before, sequence = self._level_at, self._log.sequence
            self._slots = slots
            self._level_at = MappingProxyType({slot: before.get(slot, sequence) for slot in slots})
            self.changed.set()

    def renumber(self, slot_bits: int) -> None:
        """Number the slots as a strategy says that has just come into force."""
        self._slots, self._bits = resize_inside(self._slots, self._bits, slot_bits), slot_bits
        self._level_at = _since_newest(self._slots, self._level_at)


def _since_newest(slots: frozenset[Slot], level_at: Mapping[Slot, int]) -> Mapping[Slot, int]:
    """Return when renumbered slots became ready: at the latest when the last of them did."""
    return MappingProxyType(dict.fromkeys(slots, max(level_at.values(), default=0)))
