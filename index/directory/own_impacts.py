"""What a node's own documents say of their terms in one epoch, slot by slot, and what of it is news.

Pure: documents in, levels out, kept in blocks. While the table is made all documents are counted; then its numbers are
those of the epoch and stay, and what comes later raises levels alone: so all whom it is told have the same numbers, and
a document that goes changes nothing before the next epoch. Each batch of changes has a number, so that it is known
which of them a keeper was told. With each level stands its *witness*, the document that has it, by the first bytes of
its id: nobody is told of it who does not ask (`witness_check.py`).
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from dht import DocumentId, Slot
from index.directory.block_table import Blocks, BlockTable
from index.directory.impact import impacts_in
from index.directory.impact_table import (
    NAME_BIT,
    WITNESSED,
    ImpactTable,
    first_of,
    hashes_of,
    joined,
    order_of,
    span_of,
)
from index.query.ranking_rules import RankingRules
from index.text.forward_index import Counts, ForwardRecord

MOST_ENTRIES = 16_000_000  # some 5 bytes each on the disk; of some 400,000 pages in 50 slots
MOST_PENDING = 400_000  # entries of documents that are not joined in yet, 24 bytes each
PAGE_BYTES = 3  # of a document's id: of the 8,000 of a slot one in 2,000 shares them with another, and is no witness


NOT_YET = -1.0


class MadeTable(msgspec.Struct):
    """Says what a table is of, beside its entries. `run`: its name among all tables of a node; `average`: the mean
    length by which its levels are computed; `made_at`: when all documents were counted (Unix seconds).
    `counts`: of each slot how many documents it had then, and their lengths."""

    run: int
    epoch: int
    average: float
    made_at: float = NOT_YET
    change: int = 0
    counts: dict[int, tuple[int, Counts]] = {}

    @property
    def is_made(self) -> bool:
        """Whether all documents were counted."""
        return self.made_at > NOT_YET

    @property
    def documents(self) -> int:
        """How many documents were counted."""
        return sum(count for count, _ in self.counts.values())


class OwnImpacts:
    """Sums up the documents of a node's slots for one epoch."""

    def __init__(self, rules: RankingRules, made: MadeTable, blocks: Blocks) -> None:
        self._rules, self.made, self._table = rules, made, BlockTable(blocks, WITNESSED)
        self._pending: list[ImpactTable] = []
        self._pending_count = 0

    def __len__(self) -> int:
        return len(self._table) + self._pending_count

    @property
    def is_full(self) -> bool:
        """Whether it holds more than it may: then it says nothing."""
        return len(self) > MOST_ENTRIES

    def count(self, slot: Slot, document: DocumentId, forward: ForwardRecord, sign: int) -> None:
        """Take a document of a slot, or, sign -1, take it away; sign 0: it may have been taken before. Once the table
        is made, of the slots that it was made of only levels rise."""
        is_settled = self.made.is_made and slot in self.made.counts
        if is_settled and sign < 0:
            return
        terms, impacts = impacts_in(forward, self._rules, self.made.average)
        words = np.zeros(len(terms), WITNESSED)
        words["df"], words["slot"] = 0 if is_settled else sign, slot
        words["level"] = impacts.levels if sign >= 0 else 0
        words["page"] = int.from_bytes(document[:PAGE_BYTES], "big") if sign >= 0 else 0
        words["mark"] = forward.stem_class + NAME_BIT * (impacts.is_name & (sign >= 0))
        self._pending.append(ImpactTable(hashes_of(terms), words))
        self._pending_count += len(terms)
        if self._pending_count > MOST_PENDING:
            self.settle()

    def finish(self, now: float, counts: Mapping[int, tuple[int, Counts]]) -> None:
        """Note that all documents are counted, of each slot so many."""
        self.settle()
        self.made.made_at, self.made.counts = now, dict(counts)

    def settle(self) -> None:
        """Join in what came; what changed by it has the next number."""
        if self._pending:
            news = joined(self._pending, WITNESSED)
            news = _added_up(news[order_of(news)])
            self.made.change += 1
            news.words["note"] = self.made.change
            self._table.merge(news, _joined)
            self._pending, self._pending_count = [], 0

    def news(self, slots: Sequence[Slot], slot_bits: int, since: Sequence[int]) -> tuple[ImpactTable, list[int]]:
        """Return what changed of some slots' terms, each after a change by its number (all that there is since 0), and
        how many entries are of each slot. Slots ascend."""
        found, counts = self._table.read_each([span_of(slot, slot_bits) for slot in slots])
        places = np.repeat(np.arange(len(slots)), counts)
        is_new = found.words["note"] > np.array(since, np.int64)[places]
        return found[is_new].bare(), np.bincount(places[is_new], minlength=len(slots)).tolist()

    def witness(self, slot: Slot, term: int) -> bytes:
        """Return what the id begins with of the document that has the greatest level of a term (its hash as a number)
        in a slot, as far as it was told; b"" where none has."""
        words = self._table.read(term, term + 1).words
        words = words[(words["slot"] == slot) & (words["level"] > 0)]
        return int(words["page"][words["level"].argmax()]).to_bytes(PAGE_BYTES, "big") if len(words) else b""

    def clear(self) -> None:
        """Forget all entries, and free their blocks."""
        self._table.clear()
        self._pending, self._pending_count = [], 0


def _joined(known: ImpactTable, news: ImpactTable) -> ImpactTable:
    """Add up what was said before and what is new; what stays as it was keeps the number of its change."""
    both = joined([known, news], WITNESSED)
    both = both[order_of(both)]
    found, is_first = _added_up(both), first_of(both)
    before = both.words[is_first]
    is_same = np.logical_and.reduce([found.words[name] == before[name] for name in ("df", "level", "mark")])
    last = np.append(np.flatnonzero(is_first)[1:], len(both)) - 1
    found.words["note"] = np.where(is_same, before["note"], both.words["note"][last])
    return found


def _added_up(table: ImpactTable) -> ImpactTable:
    """Make one entry of all of one hash, slot and class."""
    starts = np.flatnonzero(first_of(table))
    words = table.words[starts].copy()
    if len(starts):
        words["df"] = np.add.reduceat(table.words["df"], starts)
        best = table.words["level"].astype(np.uint64) << np.uint64(32) | table.words["page"]
        best = np.maximum.reduceat(best, starts)
        words["level"], words["page"] = best >> np.uint64(32), best & np.uint64((1 << 32) - 1)
        words["mark"] = np.bitwise_or.reduceat(table.words["mark"], starts)
    return ImpactTable(table.hashes[starts], words)
