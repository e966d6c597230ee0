"""What a node's own documents say of their terms, slot by slot, as they come and go, and what of it is news.

Pure: documents in, levels out. A level only rises: what a document that went leaves too high is mended when the table
is made anew, once an epoch. Each change has a number, so that it is known which of them a peer was told.
"""

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.impact import impacts_in
from index.directory.impact_table import EMPTY, NAME_BIT, WORD, ImpactTable, first_of, hashes_of, order_of
from index.query.ranking_rules import RankingRules
from index.text.forward_index import ForwardRecord

MOST_ENTRIES = 4_000_000  # 20 bytes each; some 100,000 pages in 50 slots
MOST_PENDING = 200_000  # entries of documents that are not sorted in yet


class OwnImpacts:
    """Sums up the documents of a node's slots. `average`: the mean length by which their levels are computed."""

    def __init__(self, rules: RankingRules, average: float, change: int = 1) -> None:
        """`change`: the number of what changes now."""
        self._rules, self.average, self.change = rules, average, change
        self._table, self._changed = EMPTY, np.zeros(0, np.uint32)
        self._pending: list[ImpactTable] = []
        self._pending_count = 0

    def __len__(self) -> int:
        return len(self._table) + self._pending_count

    @property
    def is_full(self) -> bool:
        """Whether it holds more than it may: then it says nothing."""
        return len(self) > MOST_ENTRIES

    def count(self, slot: Slot, forward: ForwardRecord, sign: int) -> None:
        """Take a document of a slot (or, sign -1, take it away)."""
        terms, impacts = impacts_in(forward, self._rules, self.average)
        words = np.zeros(len(terms), WORD)
        words["df"], words["slot"] = sign, slot
        words["level"] = impacts.levels if sign > 0 else 0
        words["mark"] = forward.stem_class + NAME_BIT * (impacts.is_name & (sign > 0))
        self._pending.append(ImpactTable(hashes_of(terms), words))
        self._pending_count += len(terms)
        if self._pending_count > MOST_PENDING:
            self.settle()

    def settle(self) -> ImpactTable:
        """Sort in what came; return all that is said now. What no document holds any more has a df of 0."""
        if not self._pending:
            return self._table
        before = self._table
        hashes = np.concatenate([before.hashes, *(each.hashes for each in self._pending)])
        words = np.concatenate([before.words, *(each.words for each in self._pending)])
        changed = np.concatenate((self._changed, np.zeros(len(words) - len(before), np.uint32)))  # 0: new
        order = order_of(hashes, words)
        hashes, words, changed = hashes[order], words[order], changed[order]
        starts = np.flatnonzero(first_of(hashes, words))
        found = words[starts].copy()
        found["df"] = np.add.reduceat(words["df"], starts)
        found["level"] = np.maximum.reduceat(words["level"], starts)
        found["mark"] = np.bitwise_or.reduceat(words["mark"], starts)
        is_other = (changed[starts] == 0) | (found != words[starts])
        self._changed = np.where(is_other, np.uint32(self.change), changed[starts]).astype(np.uint32)
        self._table = ImpactTable(hashes[starts], found)
        self._pending, self._pending_count = [], 0
        return self._table

    def follow(self, former: "OwnImpacts") -> None:
        """Go on in the place of a former table: what both say is no news, what only that one said is gone."""
        self.change = former.change + 1
        mine, its = self.settle(), former.settle()
        gone = its.words.copy()
        gone["df"], gone["level"] = 0, 0
        gone["mark"] &= ~np.uint8(NAME_BIT)
        hashes, words = np.concatenate((its.hashes, mine.hashes)), np.concatenate((its.words, mine.words))
        order = order_of(hashes, words)
        is_first = first_of(hashes[order], words[order])
        last = np.flatnonzero(np.append(is_first[1:], True)) if len(order) else order
        at, before = order[last], order[last - 1]  # of both tables, this one comes last
        is_former, is_both = at < len(its), ~is_first[last]
        since = np.concatenate((former._changed, np.full(len(mine), self.change, np.uint32)))
        is_old = np.where(is_both, words[at] == words[before], is_former & (words["df"][at] == 0))
        self._changed = np.where(is_old, since[np.where(is_both, before, at)], np.uint32(self.change)).astype(np.uint32)
        self._table = ImpactTable(hashes[at], np.concatenate((gone, mine.words))[at])

    def news(self, part: slice, since: int) -> ImpactTable:
        """Return what of a part of the table changed after a change, by its number; all that is there since 0."""
        hashes, words = self._table.hashes[part], self._table.words[part]
        is_new: NDArray[np.bool_] = self._changed[part] > since if since else words["df"] > 0
        return ImpactTable(hashes[is_new], words[is_new])
