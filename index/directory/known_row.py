"""What an asker knows of a term once some of its keepers have answered.

Pure: rows in, a row out. Of what keepers say of a slot the greatest level counts, so that none hides a slot that
another names; of numbers of documents, of instants and of epochs the median does.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

from dht import Slot
from index.directory.impact import MOST_LEVEL, DirectoryEpoch, looser_by
from index.directory.term_row import RestOfSlots, SlotEntry, TermRow


@dataclass(frozen=True, slots=True)
class KnownRow:
    """A row with what belongs to it: the epoch that its levels are right by, the slots that may hold anything, and as
    of when it is right of all others, Unix seconds."""

    row: TermRow
    epoch: DirectoryEpoch
    unknown: frozenset[Slot]
    as_of: float


def agreed(told: Sequence[KnownRow]) -> KnownRow:
    """Return what one keeper or more say together of a term. A slot is known where most of them know it."""
    epoch = median_epoch(each.epoch for each in told)
    rows = [raised(each, epoch) for each in told]
    entries = [{each.slot: each for each in row.entries} for row in rows]
    said = [(own, _elsewhere(row)) for own, row in zip(entries, rows, strict=True)]
    slots = sorted(set[Slot]().union(*entries))
    named = tuple(_greatest(slot, [own.get(slot, other) for own, other in said]) for slot in slots)
    rests = [row.rest for row in rows if row.rest]
    rest = _loosest(rests) if rests else None
    classes = sorted({number for row in rows for number, _ in row.by_class})
    by_class = ((number, median_low(dict(row.by_class).get(number, 0) for row in rows)) for number in classes)
    unknown = Counter(slot for each in told for slot in each.unknown)
    doubted = frozenset(slot for slot, count in unknown.items() if 2 * (len(told) - count) <= len(told))
    row = TermRow(named, rest, tuple((number, df) for number, df in by_class if df))
    return KnownRow(row, epoch, doubted, median_low(each.as_of for each in told))


def median_epoch(epochs: Iterable[DirectoryEpoch]) -> DirectoryEpoch:
    """Return the epoch with the median of documents, the lower one of two."""
    found = sorted(epochs, key=lambda each: (each.documents, each.lengths, each.number))
    return found[(len(found) - 1) // 2]


def raised(known: KnownRow, epoch: DirectoryEpoch) -> TermRow:
    """Return a row with levels that are right by another epoch's mean length."""
    row, looser = known.row, looser_by(epoch.average, known.epoch.average)
    if looser == 1:
        return row
    entries = tuple(replace(each, level=_raised(each.level, looser)) for each in row.entries)
    rest = replace(row.rest, level=_raised(row.rest.level, looser)) if row.rest else None
    return replace(row, entries=entries, rest=rest)


def _raised(level: int, looser: float) -> int:
    return min(math.ceil(level * looser), MOST_LEVEL)


def _elsewhere(row: TermRow) -> SlotEntry:
    """What a row says of a slot that it does not name."""
    rest = row.rest
    return SlotEntry(Slot(0), rest.level, 0, rest.is_name) if rest else SlotEntry(Slot(0), 0, 0)


def _loosest(rests: Sequence[RestOfSlots]) -> RestOfSlots:
    slots, df = max(each.slots for each in rests), max(each.df for each in rests)
    return RestOfSlots(slots, max(each.level for each in rests), df, any(each.is_name for each in rests))


def _greatest(slot: Slot, said: Collection[SlotEntry]) -> SlotEntry:
    level, df = max(each.level for each in said), median_low(each.df for each in said)
    return SlotEntry(slot, level, df, any(each.is_name for each in said))
