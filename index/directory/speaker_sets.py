"""Which owners say the same of a term, as one small number: mostly all of a slot's do, and it is kept once.

Pure: arrays in, arrays out. A word's number stands for a set of numbers of owners' words (`told_terms.py`); each slot
of documents counts its own sets, so that the same small number stands with nearly all entries. A set is forgotten when
none of its numbers counts any more, and its own number is not given out again.
"""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from index.directory.impact_table import ImpactTable

WIDTH = 6  # numbers of a set; where more say the same, it is kept more than once
_Numbers = NDArray[np.int64]
_SLOT, _SET = 0, 1  # columns, before those of the numbers; 0 where there is none


class SpeakerSets:
    """The sets of all slots. `noted`: what `note` returned."""

    def __init__(self, noted: bytes = b"") -> None:
        rows = np.frombuffer(noted, "<i8").reshape(-1, 2 + WIDTH)
        self._rows: _Numbers = rows.astype(np.int64)  # by ascending slot and set

    def note(self) -> bytes:
        """Return all sets as bytes."""
        return self._rows.astype("<i8").tobytes()

    def spoken(self, kept: ImpactTable) -> ImpactTable:
        """Write entries that stand for sets as one entry for each number of their sets."""
        slots, sets = kept.words["slot"].astype(np.int64), kept.words["note"].astype(np.int64)
        keys = self._rows[:, _SLOT] << 32 | self._rows[:, _SET]
        if not len(keys):
            return kept[:0]
        wanted = slots << 32 | sets
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        numbers = np.where((keys[at] == wanted)[:, None], self._rows[at, 2:], 0)
        entry, column = np.nonzero(numbers)
        found = ImpactTable(kept.hashes[entry], kept.words[entry])
        found.words["note"] = numbers[entry, column]
        return found

    def kept(self, spoken: ImpactTable) -> ImpactTable:
        """Write entries with numbers, ordered by hash, slot, class, what they say, and number, as one for all who say
        the same."""
        words = spoken.words
        is_other = np.ones(len(words), np.bool_)
        same = [spoken.hashes[1:] == spoken.hashes[:-1]]
        same += [words[name][1:] == words[name][:-1] for name in ("slot", "df", "level", "mark")]
        is_other[1:] = ~np.logical_and.reduce(same)
        starts = np.flatnonzero(is_other)
        rank = np.arange(len(words)) - np.repeat(starts, np.diff(np.append(starts, len(words))))
        begins = np.flatnonzero(rank % WIDTH == 0)
        group = np.cumsum(rank % WIDTH == 0) - 1
        rows = np.zeros((len(begins), 1 + WIDTH), np.int64)
        rows[:, 0] = words["slot"][begins]
        rows[group, 1 + rank % WIDTH] = words["note"]
        found = ImpactTable(spoken.hashes[begins], words[begins].copy())
        found.words["note"] = self._sets_of(rows)
        return found

    def forget(self, counted: Collection[int]) -> None:
        """Forget the sets none of whose numbers is among these; each slot's last one stays, for counting."""
        is_last = np.append(self._rows[1:, _SLOT] != self._rows[:-1, _SLOT], True)[: len(self._rows)]
        known = np.array(sorted(counted), np.int64)
        self._rows = self._rows[np.isin(self._rows[:, 2:], known).any(axis=1) | is_last]

    def _sets_of(self, rows: _Numbers) -> _Numbers:
        """Return the number of each row's set, slot first; new ones are noted."""
        asked, places = np.unique(rows, axis=0, return_inverse=True)
        known = self._rows[np.isin(self._rows[:, _SLOT], asked[:, 0])]
        both = np.concatenate((np.delete(known, _SET, axis=1), asked))
        _, first, which = np.unique(both, axis=0, return_index=True, return_inverse=True)
        first = first[which.reshape(-1)[len(known) :]]
        sets = np.zeros(len(asked), np.int64)
        is_known = first < len(known)
        sets[is_known] = known[first[is_known], _SET]
        new = asked[~is_known]
        if len(new):
            sets[~is_known] = self._numbered(new)
        return sets[places.reshape(-1)]

    def _numbered(self, new: _Numbers) -> _Numbers:
        """Note sets, ascending by slot; return their numbers."""
        slots = new[:, 0]
        last = np.searchsorted(self._rows[:, _SLOT], slots, side="right") - 1
        has = (last >= 0) & (self._rows[last, _SLOT] == slots) if len(self._rows) else np.zeros(len(new), np.bool_)
        highest = np.where(has, self._rows[last, _SET] if len(self._rows) else 0, 0)
        starts = np.searchsorted(slots, slots)  # of equal ones the first
        numbers: _Numbers = highest + 1 + np.arange(len(new)) - starts
        rows = np.concatenate((self._rows, np.column_stack((slots, numbers, new[:, 1:]))))
        self._rows = rows[np.lexsort((rows[:, _SET], rows[:, _SLOT]))]
        return numbers
