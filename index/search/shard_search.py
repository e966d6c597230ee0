"""A peer's side of a query: counts and best documents of the slots that it was asked for.

Blocking, on the reader's thread. Nothing here knows who asks.
"""

import heapq
from collections.abc import Iterable, Sequence

from dht import Slot
from index.engine.forward_table import ForwardRow
from index.engine.index_files import IndexFiles
from index.engine.protocol import Candidates, Scale
from index.query.collection_statistics import SlotTotals, Statistics
from index.query.parser import Query
from index.query.scoring import (
    average_length,
    bm25,
    closeness,
    idfs,
    max_proximity,
    occurrences,
    proximity,
    upper_bound,
)
from index.search.messages import BestAnswer, HitRow, StatisticsAnswer
from index.text.forward_index import by_field, decode_forward, within_fields


def count(files: IndexFiles, query: Query, slots: Sequence[Slot], slot_bits: int) -> StatisticsAnswer:
    """Count documents, their lengths and df in these slots of 2**slot_bits, one by one."""
    known = files.totals.at(slot_bits)
    totals = [known.get(slot, SlotTotals()) for slot in slots]
    by_leaf = [files.engine.counts(leaf, slot_bits) for leaf in query.leaves]
    return StatisticsAnswer(
        slots=tuple(slots),
        documents=tuple(each.documents for each in totals),
        lengths=tuple(each.lengths for each in totals),
        fingerprints=tuple(each.fingerprint_bytes for each in totals),
        # While a batch is being committed the engine may be a moment ahead of the totals.
        df=tuple(
            tuple(min(found.get(slot, 0), each.documents) for slot, each in zip(slots, totals, strict=True))
            for found in by_leaf
        ),
    )


def best(
    files: IndexFiles,
    query: Query,
    statistics: Statistics,
    slots: Sequence[Slot],
    slot_bits: int,
    k: int,
    depth: int,
    floor: float,
) -> BestAnswer:
    """Find the best `k` of these slots: candidates are widened until none left out can be among them, or to `depth`."""
    wanted = frozenset(slots)
    scale = Scale(idfs(statistics), average_length(statistics))
    top = _Top(query, scale, k, floor)
    size = min(depth, max(4 * k, 128))
    while True:
        found = files.engine.candidates(query, wanted, slot_bits, scale, size)
        top.score(files.table.rows(top.unseen(found.numbers)))
        bound = _bound(found, query, statistics)
        if found.complete or top.least > bound or size >= depth:
            break
        size = min(4 * size, depth)
    counts = files.engine.counts(query.root, slot_bits)
    return BestAnswer(
        slots=tuple(slots),
        counts=tuple(counts.get(slot, 0) for slot in slots),
        hits=tuple(top.hits()),
        complete=found.complete,
        bound=0.0 if found.complete else bound,
    )


def _bound(found: Candidates, query: Query, statistics: Statistics) -> float:
    return min(found.bound * max_proximity(query), upper_bound(query, statistics))


class _Top:
    """The best k so far. Proximity, the dear part, is computed only where it can still matter."""

    def __init__(self, query: Query, scale: Scale, k: int, floor: float) -> None:
        self._query, self._scale, self._k, self._floor = query, scale, k, floor
        self._most = max_proximity(query)
        self._seen: set[int] = set()
        self._heap: list[tuple[float, int, int, HitRow]] = []  # the worst first: lowest score, then highest id

    @property
    def least(self) -> float:
        """What a document must reach to be of use; -1.0 while anything is."""
        return max(self._floor, self._heap[0][0]) if len(self._heap) >= self._k else self._floor or -1.0

    def unseen(self, numbers: Sequence[int]) -> list[int]:
        new = [number for number in numbers if number not in self._seen]
        self._seen.update(new)
        return new

    def score(self, rows: Iterable[ForwardRow]) -> None:
        for row in rows:
            hit = self._score(row)
            if hit is None:
                continue
            entry = (hit.score, -int.from_bytes(hit.id, "big"), row.number, hit)
            if len(self._heap) < self._k:
                heapq.heappush(self._heap, entry)
            else:
                heapq.heappushpop(self._heap, entry)

    def hits(self) -> list[HitRow]:
        return [hit for *_, hit in sorted(self._heap, reverse=True)]

    def _score(self, row: ForwardRow) -> HitRow | None:
        forward, leaves = decode_forward(row.record), self._query.leaves
        places = [within_fields(occurrences(forward, leaf)) for leaf in leaves]
        tfs = tuple(map(by_field, places))
        alone = bm25(tfs, forward.lengths, self._scale.idf, self._scale.average)
        if alone * self._most < self.least:
            return None
        close = closeness(leaves, places)
        score = alone * proximity(close)
        return HitRow(row.id, row.key, row.version, forward.digest, score, tfs, forward.lengths, close)
