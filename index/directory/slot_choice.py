"""Which slots are asked for a query, in waves, and what the answer then proves.

Pure: bounds in, slots out. The first wave is of those that may hold the best documents; each other is asked only where
its bound reaches the last of the best found so far. What is left out then cannot stand among them: the answer is
proven exact, as of the rows that the bounds were told by. The last wave asks all that are left, where these are not too
many; else nothing would be proven by it, and the answer says how many may hold something better and were not asked.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dht import Slot
from index.directory.slot_bounds import Bits, SlotBounds

FIRST_SLOTS = 32  # in a network of a thousand, some 30 peers
PART = 4  # of all slots: who asks for more may as well ask for all, and who wants to says so


@dataclass(frozen=True, slots=True)
class DirectoryVerdict:
    """Says what an answer by the directory is worth. `not_asked`: slots that may hold what belongs into it."""

    not_asked: int

    @property
    def proven(self) -> bool:
        """Whether nothing better lies anywhere."""
        return not self.not_asked


@dataclass(frozen=True, slots=True)
class WaveSizes:
    """How many slots are asked: `each` at a time as far as `few`, whether or not that will prove anything; then all
    that are left, where that makes no more than `most`."""

    each: int = FIRST_SLOTS
    few: int = 64
    most: int = 256


class SlotChoice:
    """Chooses the slots of one query."""

    def __init__(self, bounds: SlotBounds, sizes: WaveSizes | None = None) -> None:
        self._bounds, self._sizes = bounds, sizes or WaveSizes()
        order = np.argsort(-bounds.most, kind="stable")  # equal ones by number, so that two askers ask alike
        self._order = order[bounds.may_match[order]]

    def first(self) -> list[Slot]:
        """Return the slots of the first wave, the greatest bound first."""
        return list(map(Slot, self._order[: self._sizes.each].tolist()))

    def next(self, last_score: float | None, asked: Collection[Slot]) -> list[Slot]:
        """Return which of the slots that still may hold something better are asked next, the greatest bound first; none
        where they are too many. `last_score`: of the last of the best k; None while fewer than k were found."""
        left = self._order[self._left(last_score, asked)[self._order]]
        sizes, count = self._sizes, len(asked)
        if count < sizes.few:
            left = left[: min(sizes.each, sizes.few - count)]
        elif count + len(left) > min(sizes.most, len(self._bounds.most) // PART):
            left = left[:0]
        return list(map(Slot, left.tolist()))

    def verdict(self, last_score: float | None, asked: Collection[Slot]) -> DirectoryVerdict:
        """Say what the answer is worth once these slots have answered."""
        return DirectoryVerdict(int(self._left(last_score, asked).sum()))

    def _left(self, last_score: float | None, asked: Collection[Slot]) -> Bits:
        """Which slots may hold something better: equal scores go by the documents' ids, which no bound knows."""
        left = self._bounds.may_match.copy()
        if last_score is not None:
            left &= self._bounds.most >= last_score
        left[list(asked)] = False
        return left
