"""What all owners of slots told of the terms whose rows lie in one slot.

Pure: arrays in, a row out. Each owner's words are kept apart, under a number that they share: of their levels the
greatest counts, so that nobody makes a slot seem poorer than another owner says, and of their numbers of documents the
median, so that no single one among three moves it. Words whose number counts no more are forgotten when their block is
written next.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.directory.block_table import Blocks, BlockTable
from index.directory.impact import MOST_LEVEL
from index.directory.impact_table import NAME_BIT, NOTED, ImpactTable, joined, places_of
from index.directory.level_doubts import ToldLevels
from index.directory.speaker_sets import SpeakerSets
from index.directory.term_row import ENTRY, IS_NAME, MOST_DF, MOST_NAMED, NOWHERE, RestOfSlots, TermRow
from index.text.stem_classes import CLASSES

MOST_PIECES = 64  # that wait to be joined in, before they become one


@dataclass(frozen=True, slots=True, eq=False)
class SlotTeams:
    """Says whose words count, by slot and seat of an owner. `numbers`: of their words, -1 where there are none;
    `looser`: by what their levels are multiplied; `believed`: whether these count; `votes`: whether their numbers of
    documents do; `documents`: how many a slot has."""

    numbers: NDArray[np.int64]
    looser: NDArray[np.float64]
    believed: NDArray[np.bool_]
    votes: NDArray[np.bool_]
    documents: NDArray[np.int64]


class ToldTerms:
    """The words of all owners, by their numbers."""

    def __init__(self, blocks: Blocks, sets: SpeakerSets) -> None:
        """`sets`: of those who say the same; what is joined in stands for a set, what waits for one owner."""
        self._table, self._sets = BlockTable(blocks), sets
        self._pending: list[ImpactTable] = []
        self.waiting = 0  # entries that are not joined in yet

    def __len__(self) -> int:
        return len(self._table) + self.waiting

    def take(self, number: int, news: ImpactTable) -> None:
        """Take what is news under a number."""
        if len(news):
            piece = news.noted(number)
            self._pending.append(ImpactTable(piece.hashes.copy(), piece.words))  # it is part of a whole message
            self.waiting += len(news)
            if len(self._pending) > MOST_PIECES:
                self._pending = [_last(joined(self._pending, NOTED))]
                self.waiting = len(self._pending[0])

    def settle(self, counted: Collection[int]) -> None:
        """Join in what waits, and forget words whose number is not among these."""
        if self._pending:
            numbers = np.array(sorted(counted), np.uint32)

            def join(known: ImpactTable, news: ImpactTable) -> ImpactTable:
                both = _last(joined([self._sets.spoken(known), news], NOTED))
                return self._sets.kept(_by_what_they_say(both[np.isin(both.words["note"], numbers)]))

            self._table.merge(_last(joined(self._pending, NOTED)), join)
            self._pending, self.waiting = [], 0

    def row(self, number: int, teams: SlotTeams, most: int = MOST_NAMED) -> TermRow:
        """Return the row of a term, by its hash as a number, with so many slots named at most."""
        words, seats = self._counting(number, teams)
        return _row_of(words, seats, teams, most) if len(words) else NOWHERE

    def levels(self, number: int, teams: SlotTeams) -> ToldLevels:
        """Return what each owner told of the levels of a term."""
        words, seats = self._counting(number, teams)
        slots, group = np.unique(words["slot"].astype(np.int64), return_inverse=True)
        told, counted = (np.zeros((len(slots), teams.numbers.shape[1]), np.int64) for _ in range(2))
        np.maximum.at(told, (group, seats), words["level"])
        np.maximum.at(counted, (group, seats), _levels(words, seats, teams))
        return ToldLevels(slots, told, counted)

    def _counting(self, number: int, teams: SlotTeams) -> tuple[NDArray[np.void], NDArray[np.intp]]:
        """The words on a term that count, in their order, and whose they are, by seat."""
        parts = [self._sets.spoken(self._table.read(number, number + 1))]
        for piece in self._pending:
            begin = int(np.searchsorted(piece.hashes, np.uint64(number)))
            parts.append(piece[begin : int(np.searchsorted(piece.hashes, np.uint64(number), side="right"))])
        words = _last(joined(parts, NOTED)).words
        seats = teams.numbers[words["slot"]] == words["note"][:, None]
        counts = seats.any(axis=1)
        return words[counts], seats[counts].argmax(axis=1)

    def clear(self) -> None:
        """Forget all, and free the blocks."""
        self._table.clear()
        self._pending, self.waiting = [], 0


def _last(table: ImpactTable) -> ImpactTable:
    """Order entries by hash, slot, class and number; of equal ones the last counts."""
    places, notes = places_of(table.words), table.words["note"]
    order = np.lexsort((notes, places, table.hashes))
    hashes, places, notes = table.hashes[order], places[order], notes[order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (hashes[1:] != hashes[:-1]) | (places[1:] != places[:-1]) | (notes[1:] != notes[:-1])
    return table[order[is_last]]


def _by_what_they_say(table: ImpactTable) -> ImpactTable:
    words = table.words
    columns = words["note"], words["mark"], words["level"], words["df"], places_of(words), table.hashes
    return table[np.lexsort(columns)]


def _levels(words: NDArray[np.void], seats: NDArray[np.intp], teams: SlotTeams) -> NDArray[np.int64]:
    """The levels of words as they count."""
    slots = words["slot"]
    levels = np.minimum(np.ceil(words["level"] * teams.looser[slots, seats]), MOST_LEVEL).astype(np.int64)
    return np.where(teams.believed[slots, seats], levels, 0)


def _row_of(words: NDArray[np.void], seats: NDArray[np.intp], teams: SlotTeams, most: int) -> TermRow:
    """What the owners of each slot say together of one term, by ascending slot and class."""
    places, slots = places_of(words), words["slot"]
    levels, believed = _levels(words, seats, teams), teams.believed[slots, seats]
    starts = np.flatnonzero(np.append(True, places[1:] != places[:-1]))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(words))))
    told = np.zeros((len(starts), teams.numbers.shape[1]), np.int64)
    told[group, seats] = words["df"]
    in_class, classes = slots[starts].astype(np.int64), words["mark"][starts] & ~np.uint8(NAME_BIT)
    firsts = np.flatnonzero(np.append(True, in_class[1:] != in_class[:-1]))
    at = in_class[firsts]
    df = _clipped(_medians(told, teams.votes[in_class]), firsts, teams.documents[at])
    by_slot = np.add.reduceat(df, firsts)
    level = np.maximum.reduceat(levels, starts[firsts])
    is_name = np.logical_or.reduceat((words["mark"] & np.uint8(NAME_BIT) > 0) & believed, starts[firsts])
    is_said = np.logical_or.reduceat(believed, starts[firsts]) | (by_slot > 0)
    order = np.lexsort((at, -by_slot, -level))
    order = order[is_said[order]]
    named, others = np.sort(order[:most]), order[most:]
    entries = np.zeros(len(named), ENTRY)
    entries["slot"], entries["level"] = at[named], level[named]
    entries["mark"] = np.minimum(by_slot[named], MOST_DF) | IS_NAME * is_name[named]
    rest = RestOfSlots(len(others), int(level[others].max()), bool(is_name[others].any())) if len(others) else None
    sums = np.bincount(classes, df, len(CLASSES)).astype(np.int64).tolist()
    return TermRow(entries, rest, tuple((number, count) for number, count in enumerate(sums) if count))


def _medians(told: NDArray[np.int64], votes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The median of each line's numbers that count, the lower one of two."""
    told = np.sort(np.where(votes, told, -1), axis=1)  # those that do not count come first
    voices, width = votes.sum(axis=1), told.shape[1]
    places = np.minimum(width - voices + np.maximum(voices - 1, 0) // 2, width - 1)
    found: NDArray[np.int64] = np.maximum(told[np.arange(len(told)), places], 0)
    return found


def _clipped(df: NDArray[np.int64], firsts: NDArray[np.intp], documents: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of documents by class, of no slot together more than it has."""
    upto = np.cumsum(df)
    before = upto[firsts] - df[firsts]
    sizes = np.diff(np.append(firsts, len(df)))
    within = np.minimum(upto - np.repeat(before, sizes), np.repeat(documents, sizes))
    found = np.diff(within, prepend=0)
    found[firsts] = within[firsts]
    return found
