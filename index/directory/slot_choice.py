"""Which slots are asked for a query, in waves, and what the answer then proves.

Pure: bounds in, slots out. The first wave is of those that may hold the best documents; each other is asked only where
its bound reaches the last of the best found so far. What is left out then cannot stand among them: the answer is
proven exact, as of the rows that the bounds were told by. Where that would ask too many, the answer says how many may
hold something better and were not asked.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dht import Slot
from index.directory.slot_bounds import Bits, SlotBounds

FIRST_SLOTS = 32  # of 64 that a row names; in a network of a thousand, some 30 peers


@dataclass(frozen=True, slots=True)
class DirectoryVerdict:
    """Says what an answer by the directory is worth. `not_asked`: slots that may hold what belongs into it."""

    not_asked: int

    @property
    def proven(self) -> bool:
        """Whether nothing better lies anywhere."""
        return not self.not_asked


class SlotChoice:
    """Chooses the slots of one query."""

    def __init__(self, bounds: SlotBounds) -> None:
        self._bounds = bounds
        order = np.argsort(-bounds.most, kind="stable")  # equal ones by number, so that two askers ask alike
        self._order = order[bounds.may_match[order]]

    def first(self, most: int = FIRST_SLOTS) -> list[Slot]:
        """Return the slots of the first wave, the greatest bound first."""
        return list(map(Slot, self._order[:most].tolist()))

    def next(self, last_score: float | None, asked: Collection[Slot], most: int) -> list[Slot]:
        """Return at most so many of the slots that still may hold something better, the greatest bound first.
        `last_score`: of the last of the best k; None while fewer than k were found."""
        left = self._left(last_score, asked)
        return list(map(Slot, self._order[left[self._order]][:most].tolist()))

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
