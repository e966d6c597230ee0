"""Answers for slots that this node stores and does not index, where two who index them contradict each other.

Some documents are read from the store and indexed in memory for this one answer. So a slot that two index has a third
who can tell which of them is right.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from msgspec import structs

from dht import DocumentId, Overlay, Slot
from index.change_feed import DocumentChange
from index.config import IndexConfig
from index.engine.index_files import IndexFiles
from index.query.alternatives import Counted
from index.query.collection_statistics import FINGERPRINT_BYTES, Statistics
from index.query.parser import Query
from index.shard.messages import AskBest, AskStatistics, BestAnswer, StatisticsAnswer
from index.shard.shard_search import ShardSearch, count

DRAWN = 64  # documents of a slot that are read for its statistics
MOST_SLOTS = 2  # of one question
AT_ONCE = 16  # documents read between two turns of the event loop, some ms
ID_BYTES = 20
_IN_MEMORY = IndexConfig(engine="memory")

ReadStored = Callable[[Sequence[DocumentId]], Sequence[DocumentChange]]
Reading = Callable[[Callable[[], list[DocumentId]]], Awaitable[list[DocumentId]]]


@dataclass(frozen=True, slots=True)
class StoredDocuments:
    """Holds documents of some slots as the store has them. `totals`: of each slot how many documents it has and their
    fingerprint."""

    files: IndexFiles
    changes: Sequence[DocumentChange]
    slots: tuple[Slot, ...]
    slot_bits: int
    totals: tuple[tuple[int, bytes], ...]

    def statistics(self, nodes: Sequence[Counted]) -> StatisticsAnswer:
        """Count in these documents, and conclude from them to their slots. A fingerprint is told where all documents of
        a slot are among them, because then its numbers are exact."""
        files = self._index()
        counted = count(files, nodes, self.slots, self.slot_bits)
        wholes = [(known, has) for (known, _), has in zip(self.totals, counted.documents, strict=True)]

        def scaled(numbers: Iterable[int]) -> tuple[int, ...]:
            return tuple(n * known // has if has else 0 for n, (known, has) in zip(numbers, wholes, strict=True))

        unknown = bytes(FINGERPRINT_BYTES)
        marks = zip(self.totals, counted.documents, strict=True)
        return structs.replace(
            counted,
            documents=tuple(known for known, _ in wholes),
            lengths=tuple(zip(*map(scaled, zip(*counted.lengths, strict=True)), strict=True)),
            fingerprints=tuple(mark if known == has else unknown for (known, mark), has in marks),
            df=tuple(map(scaled, counted.df)),
        )

    def best(self, query: Query, statistics: Statistics, ask: AskBest) -> BestAnswer:
        """Score these documents. The bound says that any others may be better."""
        search = ShardSearch(self._index(), query, statistics, self.slots, self.slot_bits, len(self.changes) + 1)
        answer = search.answer(ask.k, per_host=ask.per_host, facets=ask.facets)
        return structs.replace(answer, complete=False, bound=sys.float_info.max)

    def _index(self) -> IndexFiles:
        self.files.apply(self.changes, b"")
        return self.files


class StoredAnswers:
    """Reads what such an answer is made from. `read`: returns documents as they are in the store now."""

    def __init__(self, overlay: Overlay, read: ReadStored) -> None:
        self._overlay, self._read = overlay, read

    async def drawn(self, files: IndexFiles, ask: AskStatistics, reading: Reading) -> StoredDocuments:
        """Draw some documents of each of the first slots asked for, on a thread by `reading`. Which they are follows
        from this node's id and the query. A slot whose documents cannot be drawn yet is left out."""
        slots, query = self._slots(ask.slots, ask.slot_bits), ask.query.encode("utf-8", "surrogatepass")
        first = sha256(self._overlay.view.node_id + query)
        found = {
            slot: await reading(partial(files.draw, slot, ask.slot_bits, DRAWN, first.digest()[:ID_BYTES]))
            for slot in slots
        }
        documents, _, _ = files.totals.columns(slots, ask.slot_bits)
        drawn = tuple(slot for slot, known in zip(slots, documents, strict=True) if found[slot] or not known)
        return await self._documents(files, [id_ for slot in drawn for id_ in found[slot]], drawn, ask.slot_bits)

    async def named(self, files: IndexFiles, ask: AskBest) -> StoredDocuments:
        """Read the documents that a question names."""
        slots = self._slots(ask.slots, ask.slot_bits)
        named = [DocumentId(each) for each in ask.named] if slots else []
        return await self._documents(files, named, slots, ask.slot_bits)

    def _slots(self, slots: Iterable[int], slot_bits: int) -> tuple[Slot, ...]:
        """The first of these slots that this node stores and does not index."""
        view = self._overlay.view
        if view.strategy.slot_bits != slot_bits:
            return ()
        me, ready, answering = view.node_id, view.ready_by_slot(), view.ready_by_slot(answering=True)
        known = (Slot(slot) for slot in sorted(set(slots)) if slot < len(ready))
        return tuple(slot for slot in known if me in ready[slot] and me not in answering[slot])[:MOST_SLOTS]

    async def _documents(
        self, files: IndexFiles, ids: Sequence[DocumentId], slots: tuple[Slot, ...], slot_bits: int
    ) -> StoredDocuments:
        changes = list[DocumentChange]()
        for start in range(0, len(ids), AT_ONCE):
            changes += self._read(ids[start : start + AT_ONCE])
            await asyncio.sleep(0)
        documents, _, marks = files.totals.columns(slots, slot_bits)
        totals = tuple(zip(documents, marks, strict=True))
        return StoredDocuments(IndexFiles(_IN_MEMORY, None, files.analyzer), changes, slots, slot_bits, totals)
