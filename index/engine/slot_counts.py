"""How many documents match, by slot, as rows of numbers: a tenth of the size of a dictionary; and a memory of such.

Pure: values only.
"""

import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROW = 64  # numbers of slots take as much memory as all else of one count
Row = NDArray[np.int64]


class SlotCounts(NamedTuple):
    """The slots that hold any match, ascending, and how many each holds."""

    slots: NDArray[np.uint16]
    numbers: NDArray[np.uint32]

    @property
    def total(self) -> int:
        """How many documents match in all slots."""
        return int(self.numbers.sum())

    def of(self, slots: Sequence[int] | Row) -> Row:
        """Return how many documents match in each of some slots."""
        asked = np.asarray(slots, np.int64)
        row = np.zeros(1 + max(asked.max(initial=0), self.slots.max(initial=0)), np.int64)
        row[self.slots] = self.numbers
        found: Row = row[asked]
        return found

    def are_within(self, slots: Collection[int]) -> bool:
        """Tell whether all matches are in these slots."""
        return all(slot in slots for slot in self.slots.tolist())


def counts_of(slots: Sequence[int], numbers: Sequence[int]) -> SlotCounts:
    """Return the counts of some slots, ascending."""
    return SlotCounts(np.array(slots, np.uint16), np.array(numbers, np.uint32))


def counted(slots: Iterable[int]) -> SlotCounts:
    """Count documents by their slots."""
    found, numbers = np.unique(np.fromiter(slots, np.int64), return_counts=True)
    return SlotCounts(found.astype(np.uint16), numbers.astype(np.uint32))


class CountMemory:
    """Remembers what was counted of the words that were asked for last, in up to `most` numbers of slots; threads may
    use it at the same time."""

    def __init__(self, most: int) -> None:
        self._most, self._left, self._turn = most, most, threading.Lock()
        self._known: OrderedDict[Hashable, SlotCounts] = OrderedDict()

    def find(self, asked: Hashable) -> SlotCounts | None:
        """Return what was counted, None where that is not remembered."""
        with self._turn:
            if (found := self._known.get(asked)) is not None:
                self._known.move_to_end(asked)
            return found

    def remember(self, asked: Hashable, found: SlotCounts) -> None:
        """Remember what was counted, and forget what was asked for longest ago where there is no room."""
        with self._turn:
            if (before := self._known.pop(asked, None)) is not None:
                self._left += _size(before)
            self._known[asked] = found
            self._left -= _size(found)
            while self._left < 0:
                self._left += _size(self._known.popitem(last=False)[1])


def _size(found: SlotCounts) -> int:
    return len(found.slots) + ROW
