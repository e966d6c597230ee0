"""What all owners of slots told of the terms whose rows lie in one slot.

Pure: arrays in, a row out. Each owner's word is kept apart: of their levels the greatest counts, so that nobody makes a
slot seem poorer than another owner says, and of their numbers of documents the median, so that no single one among
three moves it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.impact import MOST_LEVEL
from index.directory.impact_table import EMPTY, NAME_BIT, ImpactTable, order_of, places_of
from index.directory.term_row import SlotEntry, SlotTerm, TermRow, merge_row

LEAST_PENDING = 1000  # entries that wait to be sorted in, at least


@dataclass(frozen=True, slots=True, eq=False)
class SlotTeams:
    """Says whose words count. `members`: of each slot the numbers of the sources, -1 where none is; `documents`: how
    many a slot has; `looser`: by what the levels of each source are multiplied."""

    members: NDArray[np.int32]
    documents: NDArray[np.int64]
    looser: NDArray[np.float64]


class ToldTerms:
    """The words of all sources, by their numbers."""

    def __init__(self) -> None:
        self._table, self._sources = EMPTY, np.zeros(0, np.int32)
        self._pending: list[tuple[ImpactTable, int]] = []
        self._pending_count = 0

    def __len__(self) -> int:
        return len(self._table) + self._pending_count

    def take(self, source: int, news: ImpactTable) -> None:
        """Take what is news of a source."""
        if len(news):
            self._pending.append((news, source))
            self._pending_count += len(news)
            if self._pending_count > max(LEAST_PENDING, len(self._table) // 4):
                self._settle()

    def drop(self, source: int) -> None:
        """Forget what a source said."""
        self._settle()
        kept = self._sources != source
        self._table = ImpactTable(self._table.hashes[kept], self._table.words[kept])
        self._sources = self._sources[kept]

    def row(self, number: int, teams: SlotTeams) -> TermRow:
        """Return the row of a term, by its hash as a number."""
        self._settle()
        hashes = self._table.hashes
        begin, end = (int(np.searchsorted(hashes, np.uint64(number), side=side)) for side in ("left", "right"))
        words, sources = self._table.words[begin:end], self._sources[begin:end]
        seats = teams.members[words["slot"]] == sources[:, None]
        counts = seats.any(axis=1)
        return merge_row(
            _said(ImpactTable(hashes[begin:end][counts], words[counts]), sources[counts], seats[counts], teams)
        )

    def _settle(self) -> None:
        if not self._pending:
            return
        hashes = np.concatenate([self._table.hashes, *(news.hashes for news, _ in self._pending)])
        words = np.concatenate([self._table.words, *(news.words for news, _ in self._pending)])
        sources = np.concatenate([self._sources, *(np.full(len(news), n, np.int32) for news, n in self._pending)])
        order = np.argsort(sources, kind="stable")
        order = order[order_of(hashes[order], words[order])]
        hashes, words, sources = hashes[order], words[order], sources[order]
        places = places_of(words)
        is_last = np.ones(len(order), np.bool_)
        is_last[:-1] = (hashes[1:] != hashes[:-1]) | (places[1:] != places[:-1]) | (sources[1:] != sources[:-1])
        kept = is_last & (words["df"] > 0)
        self._table, self._sources = ImpactTable(hashes[kept], words[kept]), sources[kept]
        self._pending, self._pending_count = [], 0


def _said(
    table: ImpactTable, sources: NDArray[np.int32], seats: NDArray[np.bool_], teams: SlotTeams
) -> Iterator[SlotTerm]:
    """What the owners of each slot say together of one term."""
    if not len(table):
        return
    words, places = table.words, places_of(table.words)
    levels = np.minimum(np.ceil(words["level"] * teams.looser[sources]), MOST_LEVEL).astype(np.int64)
    is_first = np.append(True, places[1:] != places[:-1])
    starts, group = np.flatnonzero(is_first), np.cumsum(is_first) - 1
    width = seats.shape[1]
    dfs = np.zeros((len(starts), width), np.int64)
    dfs[group, seats.argmax(axis=1)] = words["df"]
    dfs.sort(axis=1)
    slots = words["slot"][starts]
    voices = (teams.members[slots] >= 0).sum(axis=1)
    medians = dfs[np.arange(len(starts)), width - voices + (voices - 1) // 2]
    level = np.maximum.reduceat(levels, starts)
    marks = np.bitwise_or.reduceat(words["mark"] & np.uint8(NAME_BIT), starts)
    classes = words["mark"][starts] & ~np.uint8(NAME_BIT)
    columns = (each.tolist() for each in (slots, classes, medians, level, marks))
    at, by_class, most, is_name = -1, list[tuple[int, int]](), 0, False
    for slot, stem_class, df, its_level, mark in zip(*columns, strict=True):
        if slot != at:
            if at >= 0:
                yield _term(at, by_class, most, is_name)
            at, by_class, most, is_name, room = slot, [], 0, False, int(teams.documents[slot])
        if df := min(df, room):
            by_class.append((stem_class, df))
            room -= df
        most, is_name = max(most, its_level), is_name or bool(mark)
    yield _term(at, by_class, most, is_name)


def _term(slot: int, by_class: list[tuple[int, int]], level: int, is_name: bool) -> SlotTerm:
    return SlotTerm(SlotEntry(Slot(slot), level, sum(df for _, df in by_class), is_name), tuple(by_class))
