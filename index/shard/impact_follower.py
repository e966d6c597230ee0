"""Follows the documents of an index, for what they say of their terms; all on the thread that writes the index.

Tables are kept on disk, one for each epoch: that which counts, and ahead of time the next one. A table is made from all
documents, a few at a time; then what comes raises its levels. After a restart all documents are read once more, in case
some came unnoticed: that raises levels, too, and moves no number.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

import msgspec

from dht import BrokenFile, Slot
from index.directory.own_impacts import NOT_YET, MadeTable, OwnImpacts
from index.engine.forward_table import ForwardRow
from index.engine.index_files import IndexFiles
from index.query.collection_statistics import CELL_BITS, SlotTotals
from index.query.search_rules import SearchRules
from index.shard.block_file import BlockFile
from index.text.forward_index import decode_forward

AT_ONCE = 128  # documents: some 80 ms
_NOTE = "witnessed"  # in place of "tables", whose levels had no witnesses: those are made anew
_NOTHING = SlotTotals()


@dataclass(slots=True)
class FollowedTable:
    """A table, and how far documents were read for it. `upto`: the number of the last one, infinite once all were;
    `as_of`: until when all documents are in it that were indexed, Unix seconds."""

    impacts: OwnImpacts
    upto: float = 0.0
    as_of: float = NOT_YET

    @property
    def is_made(self) -> bool:
        """Whether its numbers are settled, and all documents in it."""
        return self.impacts.made.is_made and self.upto == inf

    @property
    def place(self) -> tuple[int, float]:
        """Its place among others: of those that have begun, the last one counts."""
        return self.impacts.made.epoch, self.impacts.made.made_at


class _NotedTables(msgspec.Struct):
    """`cursor`: up to where the change log is in the tables, b"" where they may lack some of it."""

    slot_bits: int
    numbers: tuple[int, int]
    cursor: bytes
    tables: list[MadeTable]


class ImpactFollower:
    """The impacts of one index's documents. `is_full`: they are too many, and nothing is said of them; `has_failed`:
    the file failed."""

    def __init__(self, rules: SearchRules, slot_bits: int, file: BlockFile) -> None:
        self._rules, self._slot_bits, self._file = rules, slot_bits, file
        self.tables = list[FollowedTable]()
        self.is_full = self.has_failed = False

    @property
    def made(self) -> list[FollowedTable]:
        """The tables that say what the documents say."""
        return [each for each in self.tables if each.is_made]

    def now(self, epoch: int) -> FollowedTable | None:
        """Return the table that counts in an epoch, None where there is none yet."""
        return max((each for each in self.made if each.impacts.made.epoch <= epoch), key=_place, default=None)

    @property
    def is_reading(self) -> bool:
        """Whether documents are still to be read."""
        return any(each.upto < inf for each in self.tables)

    def is_coming(self, epoch: int) -> bool:
        """Tell whether a table of an epoch is there, or is made."""
        return any(each.impacts.made.epoch == epoch for each in self.tables)

    def load(self, files: IndexFiles) -> None:
        """Take up what was kept when the node stopped; a table that was not finished is made anew."""
        noted = _read(self._file.note(_NOTE))
        known = noted.tables if (noted.slot_bits, noted.numbers) == (self._slot_bits, self._rules.numbers) else []
        upto = inf if noted.cursor and noted.cursor == files.cursor else 0.0
        self.tables = [FollowedTable(self._impacts(made), upto) for made in known]
        for run in self._file.parts() - {made.run for made in known}:
            self._impacts(MadeTable(run, 0, 1.0)).clear()

    def begin(self, run: int, epoch: int, average: float) -> None:
        """Make a table for an epoch, by a mean length of documents."""
        if not self.is_full:
            self.tables.append(FollowedTable(self._impacts(MadeTable(run, epoch, average, counts={}))))

    def step(self, files: IndexFiles, slots: Iterable[int], now: float) -> None:
        """Read some documents for a table that lacks some; `slots`: of which this node can speak."""
        if (table := next((each for each in self.tables if each.upto < inf), None)) is None:
            return
        is_new = not table.impacts.made.is_made
        rows = files.table.following(int(table.upto), AT_ONCE)
        self._count(table, rows, 1 if is_new else 0)
        table.upto = rows[-1].number if rows else inf
        if is_new and table.upto == inf:
            totals = files.totals.at(self._slot_bits)
            sums = {slot: totals.get(Slot(slot), _NOTHING) for slot in slots}
            table.impacts.finish(now, {slot: (each.documents, each.lengths) for slot, each in sums.items()})
        self._check()

    def changed(self, gone: Sequence[ForwardRow], added: Sequence[ForwardRow]) -> None:
        """Take documents that the index forgot, and new ones. Where the tables' file fails, they are given up, and made
        anew from what is on disk; the index goes on."""
        try:
            for table in self.tables:
                for rows, sign in ((gone, -1), (added, 1)):
                    self._count(table, [row for row in rows if row.number <= table.upto], sign)
            self._check()
        except BrokenFile:
            self.tables, self.has_failed = [], True

    def forget(self) -> None:
        """Begin to read anew, as the index does: its documents come again."""
        for table in [each for each in self.tables if not each.impacts.made.is_made]:
            self._drop(table)

    def settle(self, files: IndexFiles, epoch: int, now: float) -> None:
        """Join in what came, drop tables that do not count any more in an epoch, and keep all on disk."""
        present = self.now(epoch)
        for table in [each for each in self.made if present and each.place < present.place]:
            self._drop(table)
        for table in self.tables:
            table.impacts.settle()
            table.as_of = now
        self.note(files)

    def witness(self, files: IndexFiles, run: int, slot: Slot, term: int) -> ForwardRow | None:
        """Return the document that has a term's greatest level in a slot by the table of this name, as far as it was
        told; None where there is no such table or document any more."""
        made = (each.impacts for each in self.tables if each.impacts.made.is_made)
        impacts = next((each for each in made if each.made.run == run), None)
        begin = impacts.witness(slot, term) if impacts else b""
        rows = files.table.beginning_with(begin) if begin else []
        found = [row for row in rows if row.cell >> CELL_BITS - self._slot_bits == slot]
        return found[0] if len(found) == 1 else None

    def note(self, files: IndexFiles) -> None:
        """Keep on disk what is joined in."""
        tables = [each.impacts.made for each in self.tables if each.impacts.made.is_made]
        cursor = b"" if self.is_reading else files.cursor
        self._file.put_note(
            _NOTE, msgspec.msgpack.encode(_NotedTables(self._slot_bits, self._rules.numbers, cursor, tables))
        )
        self._file.commit()

    def _impacts(self, made: MadeTable) -> OwnImpacts:
        return OwnImpacts(self._rules.ranking, made, self._file.part(made.run))

    def _count(self, table: FollowedTable, rows: Iterable[ForwardRow], sign: int) -> None:
        for row in rows:
            slot = Slot(row.cell >> CELL_BITS - self._slot_bits)
            table.impacts.count(slot, row.id, decode_forward(row.record), sign)

    def _drop(self, table: FollowedTable) -> None:
        table.impacts.clear()
        self.tables.remove(table)

    def _check(self) -> None:
        if any(each.impacts.is_full for each in self.tables):
            self.is_full = True
            for table in list(self.tables):
                self._drop(table)


def _place(table: FollowedTable) -> tuple[int, float]:
    return table.place


def _read(noted: bytes) -> _NotedTables:
    nothing = _NotedTables(0, (0, 0), b"", [])
    try:
        return msgspec.msgpack.decode(noted, type=_NotedTables) if noted else nothing
    except msgspec.MsgspecError:
        return nothing
