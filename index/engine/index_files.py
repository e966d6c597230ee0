"""One node's index as a whole: the engine and the forward table, changed together by batches of the change log.

Blocking: `local_index.py` runs it in its two threads. When files are damaged, the index begins again,
because the store has everything.
"""

import logging
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dht import BrokenFile, DocumentId, MachineRefuses, Slot, refused, slot_of
from index.change_feed import DocumentChange, Text
from index.config import IndexConfig
from index.engine.forward_table import ForwardRow, ForwardTable
from index.engine.memory import MemoryEngine
from index.engine.protocol import Engine, IndexEntry, host_names
from index.engine.tantivy import TantivyEngine
from index.errors import IndexCorrupt
from index.indexed_slots import ALL_SLOTS, IndexedSlots
from index.query.collection_statistics import CELL_BITS, IndexTotals, SlotTotals, YoungChange, mark_of
from index.text.analyzer import forget as forget_terms
from index.text.analyzer_rules import NEWEST_ANALYZER, AnalyzerRules
from index.text.field_terms import FieldTerms, analyse
from index.text.forward_index import encode_forward
from index.text.site_host import digest_of_host, front_name, host_of, name_of_host
from index.text.surfaces import forget as forget_words
from index.text.surfaces import title_line, words_of
from index.text.tags import tags_of

log = logging.getLogger(__name__)

ADD_COUNT = 128  # documents that the engine is given at once; one by one, both threads would slow each other down
MOST_CELLS = 256  # of which documents are looked for at once
LAYOUT = 1  # of the forward table and the engines' schemas; another one is rebuilt


class IndexFiles:
    """The engine and the forward table of one node, in the directory `path`, or in memory where that is None."""

    def __init__(self, config: IndexConfig, path: Path | None, analyzer: AnalyzerRules = NEWEST_ANALYZER) -> None:
        self._config, self.analyzer, self.path = config, analyzer, path
        self.young_since = float("inf")  # changes written since then are kept apart in the totals
        if path is not None:
            path.mkdir(parents=True, exist_ok=True)
        self.is_damaged = False  # the next `recover` begins anew
        self.refusal: MachineRefuses | None = (
            None  # where the engine could not be set level with the table at the start
        )
        self.table, self.engine = self._open()
        self.totals = IndexTotals({})
        self.unindexed: Mapping[int, int] = {}  # by cell how many documents are stored here and not indexed
        try:
            self._count()
            self._take_back()
        except MachineRefuses as error:
            self.refusal = error
        except IndexCorrupt as error:
            log.warning("index begins again: %s", error)
            self._begin_anew()

    @property
    def cursor(self) -> bytes:
        """How far the change log was followed, b"" where it begins again."""
        return self.table.about("cursor")

    @property
    def documents(self) -> int:
        """How many documents are indexed."""
        return self.totals.documents

    def apply(self, changes: Sequence[DocumentChange], cursor: bytes, indexed: IndexedSlots = ALL_SLOTS) -> None:
        """Take in a batch, maybe empty: the engine first, then the table with the cursor. An id's last change counts.

        Of documents outside of the slots that are `indexed`, the table keeps the id and the version alone."""
        last = {change.id: change.text for change in changes}
        written = {change.id: change.written_at for change in changes}
        before = self.table.find(list(last))
        new = [text for id_, text in last.items() if text and not self._has(before.get(id_), text, indexed)]
        gone = [row for id_, row in before.items() if not self._has(row, last[id_], indexed)]
        self._exchange(gone, self._add(new, indexed), written, cursor)

    def unindexed_in(self, indexed: IndexedSlots, limit: int) -> list[DocumentId]:
        """Return up to `limit` documents of these slots that are not indexed yet."""
        cells = [cell for cell in self.unindexed if indexed.holds_cell(cell)]
        return self.table.unindexed_of(cells[:MOST_CELLS], limit) if cells else []

    def draw(self, slot: Slot, slot_bits: int, limit: int, first: bytes) -> list[DocumentId]:
        """Return up to `limit` documents of a slot that are not indexed, those from the id `first` on before others."""
        cells = [cell for cell in self.unindexed if cell >> (CELL_BITS - slot_bits) == slot]
        return self.table.unindexed_of(cells[:MOST_CELLS], limit, first) if cells else []

    def unindex(self, indexed: IndexedSlots, number: int) -> int | None:
        """Go through some documents from a number on, and keep of those outside of these slots the id and the version
        alone. Return where to go on, None at the end."""
        rows = self.table.indexed_from(number)
        gone = [row for row in rows if not indexed.holds(row.key)]
        first = self.table.next_number()
        added = [row._replace(number=n, record=b"") for n, row in enumerate(gone, first)]
        self._exchange(gone, added, {}, self.cursor)
        return rows[-1].number + 1 if rows else None

    def _exchange(
        self,
        gone: Sequence[ForwardRow],
        added: Sequence[ForwardRow],
        written: Mapping[DocumentId, float],
        cursor: bytes,
    ) -> None:
        """Put documents in place of others; the engine has been given those that are added."""
        if any(row.record for row in (*gone, *added)):  # a commit of nothing would cost as much as one of many
            self.engine.remove([row.number for row in gone])
            self.engine.commit()
        touched, young, since = dict[int, SlotTotals](), list[YoungChange](), self.young_since
        unindexed = Counter(self.unindexed)
        for sign, rows in ((-1, gone), (1, added)):
            for row in rows:
                before_it = touched.get(row.cell) or self.totals.cells.get(row.cell, SlotTotals())
                touched[row.cell] = row.counted(before_it, sign)
                unindexed[row.cell] += 0 if row.record else sign
                if written.get(row.id, 0.0) >= since:
                    young.append(YoungChange(written[row.id], row.cell, sign * mark_of(row.id + row.version)))
        self.table.commit([row.number for row in gone], added, touched, cursor)
        self.totals = self.totals.changed(touched, young, since)
        if unindexed or self.unindexed:
            self.unindexed = +unindexed

    def recover(self) -> None:
        """Be ready to write again after something failed; where files are damaged, the index begins anew."""
        if self.is_damaged:
            self._begin_anew()
        else:
            self.engine.recover()
        self._take_back()

    def reset(self) -> None:
        """Forget everything, so that following begins at zero."""
        self.engine.clear()
        self.table.clear(made=self._made(), engine=self.table.about("engine"))
        self._count()

    def spare(self) -> None:
        """Give up what only indexing needs in memory."""
        self.table.spare()
        forget_terms()
        forget_words()

    def close(self) -> None:
        """Close the engine and the table."""
        try:
            self.engine.close()
        finally:
            self.table.close()

    def _open(self) -> tuple[ForwardTable, Engine]:
        self.table = self._open_table()
        return self.table, self._open_engine()

    def _begin_anew(self) -> None:
        with suppress(BrokenFile):  # what is damaged need not close well
            self.close()
        try:
            for file in sorted(self.path.iterdir()) if self.path is not None else ():
                shutil.rmtree(file) if file.is_dir() else file.unlink()
        except OSError as error:
            raise refused(self.path, error) from error
        self.table, self.engine = self._open()
        self._count()
        self.is_damaged = False

    def _count(self) -> None:
        self.totals, self.unindexed = IndexTotals(self.table.totals()), self.table.unindexed()

    def _take_back(self) -> None:
        """Take back what the engine was given before something failed, and the table does not know."""
        self.engine.remove_from(self.table.next_number())
        self.engine.commit()

    def _add(self, texts: Sequence[Text], indexed: IndexedSlots) -> list[ForwardRow]:
        rows: list[ForwardRow] = []
        first = self.table.next_number()
        whole = [text for text in texts if indexed.holds(text.key)]
        for start in range(0, len(whole), ADD_COUNT):
            self.engine.add(self._entries(whole[start : start + ADD_COUNT], first + start, rows))
        others = (text for text in texts if not indexed.holds(text.key))
        for number, text in enumerate(others, first + len(whole)):
            rows.append(ForwardRow(number, text.id, text.key, slot_of(text.key, CELL_BITS), text.version, b""))
        return rows

    def _entries(self, texts: Sequence[Text], first: int, rows: list[ForwardRow]) -> Iterator[IndexEntry]:
        """Cut documents into terms, each when the engine is done with the one before. So the terms are in the
        processor's caches for all that is made of them. The documents' rows are appended to `rows`."""
        for number, text in enumerate(texts, first):
            fields, cell = analyse(text, self.analyzer), slot_of(text.key, CELL_BITS)
            rows.append(ForwardRow(number, text.id, text.key, cell, text.version, encode_forward(text, fields)))
            yield entry_of(number, cell, text, fields)

    def _has(self, row: ForwardRow | None, text: Text | None, indexed: IndexedSlots) -> bool:
        if row is None or text is None or (row.version, row.key) != (text.version, text.key):
            return False
        return bool(row.record) or not indexed.holds(row.key)

    def _made(self) -> bytes:
        return f"layout {LAYOUT} analyzer {self.analyzer.number} engine {self._config.engine}".encode()

    def _open_table(self) -> ForwardTable:
        file = None if self.path is None else self.path / "forward.sqlite"
        try:
            table = ForwardTable(file)
            if file is None or table.about("made") in (b"", self._made()):  # damage shows when it is read
                return table
            log.info("index begins again: made as %s", table.about("made").decode())
            table.close()
        except IndexCorrupt as error:
            if file is None:
                raise
            log.warning("index begins again: %s", error)
        for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):  # what is emptied keeps its pages' size
            file.with_name(name).unlink(missing_ok=True)
        return ForwardTable(file)

    def _open_engine(self) -> Engine:
        """The engine that belongs to the table, or a new one and an empty table."""
        name = self.table.about("engine").decode()
        if self.path is None:
            return self._make_engine(None)
        if name and self.table.about("made") == self._made() and (self.path / name).is_dir():
            try:
                return self._make_engine(self.path / name)
            except IndexCorrupt as error:
                log.warning("index begins again: %s", error)
        for old in sorted(self.path.glob("engine-*")):
            shutil.rmtree(old, ignore_errors=True)
        number = 1
        while (self.path / f"engine-{number}").exists():  # one that could not be deleted is never taken for new
            number += 1
        name = f"engine-{number}"
        self.table.clear(made=self._made(), engine=name.encode())
        return self._make_engine(self.path / name)

    def _make_engine(self, path: Path | None) -> Engine:
        if self._config.engine == "tantivy":
            return TantivyEngine(path, self._config.writer_heap_bytes)
        if self._config.engine == "whoosh":
            from index.engine.whoosh import WhooshEngine  # a fifth of a second that other nodes need not spend

            return WhooshEngine(path)
        return MemoryEngine()


def entry_of(number: int, cell: int, text: Text, fields: FieldTerms) -> IndexEntry:
    """Return a document as an engine indexes it."""
    host = digest_of_host(host_of(text.url))
    return IndexEntry(
        number,
        cell,
        (*host_names(text.url), name_of_host(host)),
        text.language.lower(),
        fields,
        words_of(text),
        tags_of(text),
        title_line(text.title),
        bool(front_name(text.url)),
        host,
    )
