"""Levels that signed pages were seen to have, and no owner of their slots told.

Pure: values only; instants are Unix seconds. They count beside what owners tell, for a day, so that a slot whose owners
make it seem poorer is asked all the same. They are not kept over a restart: whoever shows such a page again says so.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from math import ceil

import numpy as np

from dht import Slot
from index.directory.impact import MOST_LEVEL, looser_by
from index.directory.term_row import RestOfSlots, SlotEntry, TermRow, entries_of
from index.directory.told_epoch import EPOCH_S

MOST_TERMS, MOST_OF_ONE = 256, 16  # slots of one; 200 B each


@dataclass(frozen=True, slots=True)
class SeenLevel:
    """A level that a page had, by a mean length of documents."""

    level: int
    is_name: bool
    average: float
    until: float

    def by(self, average: float) -> int:
        """Return what bounds it by another mean length."""
        return min(ceil(self.level * looser_by(average, self.average)), MOST_LEVEL)


class BetterPages:
    """What one keeper of rows has seen of pages, by the hashes of their terms as numbers."""

    def __init__(self) -> None:
        self._seen = OrderedDict[int, dict[Slot, SeenLevel]]()

    def note(self, term: int, slot: Slot, seen: SeenLevel) -> None:
        """Remember a level."""
        found = self._seen.pop(term, {})
        found.pop(slot, None)
        found[slot] = seen
        if len(found) > MOST_OF_ONE:
            del found[next(iter(found))]
        self._seen[term] = found
        if len(self._seen) > MOST_TERMS:
            self._seen.popitem(last=False)

    def raised(self, term: int, row: TermRow, most: int, average: float, now: float) -> TermRow:
        """Return a term's row, with so many slots named at most, and with what was seen of its slots."""
        for slot, seen in self._seen.get(term, {}).items():
            if now < seen.until:
                row = _with(row, most, SlotEntry(slot, seen.by(average), 0, seen.is_name))
        return row


def seen_level(level: int, is_name: bool, average: float, now: float) -> SeenLevel:
    """Return what is remembered of a page that was read just now."""
    return SeenLevel(level, is_name, average, now + EPOCH_S)


def _with(row: TermRow, most: int, seen: SlotEntry) -> TermRow:
    said, others = row.said_of(seen.slot), row.entries[row.entries["slot"] != seen.slot]
    both = SlotEntry(seen.slot, max(said.level, seen.level), said.df, said.is_name or seen.is_name)
    if len(others) < len(row.entries) or len(others) < most:
        entries = np.concatenate((others, entries_of([both])))
        return replace(row, entries=entries[np.argsort(entries["slot"])])
    slots = row.rest.slots if row.rest else 1
    return replace(row, rest=RestOfSlots(slots, both.level, both.is_name))
