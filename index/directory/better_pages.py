"""Levels that signed pages were seen to have, and no owner of their slots told.

Pure: values only; instants are Unix seconds. They count beside what owners tell, for a day, so that a slot whose owners
make it seem poorer is asked all the same. They are not kept over a restart: whoever shows such a page again says so.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from math import ceil

from dht import Slot
from index.directory.impact import MOST_LEVEL, looser_by
from index.directory.term_row import MOST_SLOTS, RestOfSlots, SlotEntry, TermRow
from index.directory.told_epoch import EPOCH_S

MOST_TERMS = 1024


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
        """Remember a level; of as many slots as a row names."""
        found = self._seen.pop(term, {})
        found.pop(slot, None)
        found[slot] = seen
        if len(found) > MOST_SLOTS:
            del found[next(iter(found))]
        self._seen[term] = found
        if len(self._seen) > MOST_TERMS:
            self._seen.popitem(last=False)

    def raised(self, term: int, row: TermRow, average: float, now: float) -> TermRow:
        """Return a term's row with what was seen of its slots."""
        for slot, seen in self._seen.get(term, {}).items():
            if now < seen.until:
                row = _with(row, SlotEntry(slot, seen.by(average), 0, seen.is_name))
        return row


def seen_level(level: int, is_name: bool, average: float, now: float) -> SeenLevel:
    """Return what is remembered of a page that was read just now."""
    return SeenLevel(level, is_name, average, now + EPOCH_S)


def _with(row: TermRow, seen: SlotEntry) -> TermRow:
    said = row.said_of(seen.slot)
    level, is_name = max(said.level, seen.level), said.is_name or seen.is_name
    entries = {each.slot: each for each in row.entries}
    if seen.slot in entries or len(entries) < MOST_SLOTS:
        df = entries[seen.slot].df if seen.slot in entries else 0
        entries[seen.slot] = SlotEntry(seen.slot, level, df, is_name)
        return replace(row, entries=tuple(entries[slot] for slot in sorted(entries)))
    rest = row.rest or RestOfSlots(1, 0, 0)
    return replace(row, rest=replace(rest, level=level, is_name=is_name))
