"""Follows the documents of an index, for what they say of their terms; all on the thread that writes the index.

When a table is to be made anew, it is made beside the one that counts, a few documents at a time, and takes its place
once it has all.
"""

from collections.abc import Iterable, Sequence

from dht import Slot
from index.directory.own_impacts import OwnImpacts
from index.engine.forward_table import ForwardRow, ForwardTable
from index.query.collection_statistics import CELL_BITS
from index.query.ranking_rules import RankingRules
from index.text.forward_index import decode_forward

AT_ONCE = 128  # documents: some 80 ms


class _Making:
    """A table in the making. `upto`: the number of the last document that is in it; infinite once it has all."""

    def __init__(self, impacts: OwnImpacts, slot_bits: int) -> None:
        self.impacts, self._slot_bits = impacts, slot_bits
        self.upto = 0.0

    def count(self, rows: Iterable[ForwardRow], sign: int) -> None:
        for row in rows:
            if row.number <= self.upto:  # others are read when it is their turn
                slot = Slot(row.cell >> CELL_BITS - self._slot_bits)
                self.impacts.count(slot, decode_forward(row.record), sign)

    def read(self, table: ForwardTable) -> None:
        rows = table.following(int(self.upto), AT_ONCE)
        self.upto = rows[-1].number if rows else float("inf")
        self.count(rows, 1)


class ImpactFollower:
    """The impacts of one index's documents. `is_full`: they are too many, and nothing is said of them."""

    def __init__(self, rules: RankingRules, slot_bits: int) -> None:
        self._rules, self._slot_bits = rules, slot_bits
        self._now: _Making | None = None
        self._next: _Making | None = None
        self.is_full = False

    @property
    def now(self) -> OwnImpacts | None:
        """What the documents say, None where not all were read yet, or they are too many."""
        return self._now.impacts if self._now else None

    @property
    def is_making(self) -> bool:
        """Whether a table is in the making."""
        return self._next is not None

    def begin(self, average: float) -> None:
        """Make a table anew, by another mean length of documents."""
        if not self.is_full:
            self._next = _Making(OwnImpacts(self._rules, average), self._slot_bits)

    def step(self, table: ForwardTable) -> None:
        """Read some documents for the table in the making."""
        if (made := self._next) is None:
            return
        made.read(table)
        if made.upto == float("inf"):
            if self._now is not None:
                made.impacts.follow(self._now.impacts)
            self._now, self._next = made, None
        self._check()

    def changed(self, gone: Sequence[ForwardRow], added: Sequence[ForwardRow]) -> None:
        """Take documents that the index forgot, and new ones."""
        for each in filter(None, (self._now, self._next)):
            each.count(gone, -1)
            each.count(added, 1)
        self._check()

    def forget(self) -> None:
        """Begin with nothing, as the index does; what counted until now is gone, and that is told."""
        if self._now is not None:
            self.begin(self._now.impacts.average)
        elif self._next is not None:
            self.begin(self._next.impacts.average)

    def _check(self) -> None:
        if any(each.impacts.is_full for each in filter(None, (self._now, self._next))):
            self._now, self._next, self.is_full = None, None, True
