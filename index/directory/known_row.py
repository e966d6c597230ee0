"""What an asker knows of a term once some of its keepers have answered.

Pure: rows in, a row out. Of what keepers say of a slot the greatest level counts, so that none hides a slot that
another names; of numbers of documents, of instants and of epochs the median does.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median_low

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.impact import MOST_LEVEL, DirectoryEpoch, looser_by
from index.directory.term_row import IS_NAME, MOST_DF, RestOfSlots, TermRow


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
    slots = np.unique(np.concatenate([row.entries["slot"] for row in rows]))
    named = _greatest(np.stack([row.at(slots) for row in rows]))
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
    entries = row.entries.copy()
    entries["level"] = np.minimum(np.ceil(row.entries["level"] * looser), MOST_LEVEL)
    rest = replace(row.rest, level=min(math.ceil(row.rest.level * looser), MOST_LEVEL)) if row.rest else None
    return replace(row, entries=entries, rest=rest)


def _loosest(rests: Sequence[RestOfSlots]) -> RestOfSlots:
    slots, level = max(each.slots for each in rests), max(each.level for each in rests)
    return RestOfSlots(slots, level, any(each.is_name for each in rests))


def _greatest(said: NDArray[np.void]) -> NDArray[np.void]:
    """What several say of the same slots, a line each: the greatest level, and the lower median of the documents."""
    found: NDArray[np.void] = said[0].copy()
    found["level"] = said["level"].max(axis=0)
    df = np.sort(said["mark"] & MOST_DF, axis=0)[(len(said) - 1) // 2]
    found["mark"] = df | (said["mark"] & IS_NAME).max(axis=0)
    return found
