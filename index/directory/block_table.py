"""A table of many entries in packed blocks, of which few are open at a time: it may be larger than memory.

Pure: arrays in, packed blocks out, to wherever they are kept. A block is found by its first hash, and all entries of a
hash lie in one. What is new is joined in by the batch, since each block that a batch touches is written anew.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, MutableMapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.directory.impact_pack import count_of, pack, unpack
from index.directory.impact_table import NOTED, ImpactTable, empty, joined

BLOCK_ENTRIES = 4096  # when blocks are cut; some 20 kB, unpacked in .2 ms
Blocks = MutableMapping[int, bytes]  # by first hash
Join = Callable[[ImpactTable, ImpactTable], ImpactTable]  # of what was there, and of what is new; ascending by hash


class BlockTable:
    """The entries of one mapping of blocks, with notes. Its length: how many there are."""

    def __init__(self, blocks: Blocks, kind: np.dtype[Any] = NOTED) -> None:
        """`kind`: of the entries' words."""
        self._blocks, self._kind, self._starts = blocks, kind, sorted(blocks)
        self._count = sum(count_of(blocks[start]) for start in self._starts)
        self._open: tuple[int, ImpactTable] | None = None  # who reads on wants the same block again

    def __len__(self) -> int:
        return self._count

    def read(self, begin: int, end: int) -> ImpactTable:
        """Return the entries whose hashes are from `begin` up to `end`, the latter left out."""
        first, last = max(bisect_right(self._starts, begin) - 1, 0), bisect_left(self._starts, end)
        parts = []
        for start in self._starts[first:last]:
            block = self._read(start)
            inner = (0 if start >= begin else int(np.searchsorted(block.hashes, np.uint64(begin)))), len(block)
            if int(block.hashes[-1]) >= end:
                inner = inner[0], int(np.searchsorted(block.hashes, np.uint64(end)))
            parts.append(block[slice(*inner)])
        return joined(parts, self._kind)

    def read_each(self, spans: Sequence[tuple[int, int]]) -> tuple[ImpactTable, NDArray[np.int64]]:
        """Return the entries of several ranges of hashes, which ascend and do not overlap, one after the other, and how
        many there are of each: a keeper's terms are few in each of many ranges."""
        touched = dict[int, list[int]]()
        for number, (begin, end) in enumerate(spans):
            first, last = max(bisect_right(self._starts, begin) - 1, 0), bisect_left(self._starts, end)
            for start in self._starts[first:last]:
                touched.setdefault(start, []).append(number)
        begins = np.array([begin for begin, _ in spans], np.uint64)
        lasts = np.array([end - 1 for _, end in spans], np.uint64)
        parts, counts = list[ImpactTable](), np.zeros(len(spans), np.int64)
        for start, numbers in touched.items():
            block, some = self._read(start), slice(numbers[0], numbers[-1] + 1)
            low = np.searchsorted(block.hashes, begins[some])
            sizes = np.searchsorted(block.hashes, lasts[some], side="right") - low
            counts[some] += sizes
            parts.append(block[np.repeat(low - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())])
        return joined(parts, self._kind), counts

    def merge(self, news: ImpactTable, join: Join) -> None:
        """Join in what is new, ascending by hash."""
        edges = np.array(self._starts[1:], np.uint64)
        ends = [*np.searchsorted(news.hashes, edges).tolist(), len(news)]
        begin, starts = 0, list[int | None](self._starts) or [None]
        for start, end in zip(starts, ends, strict=True):
            if begin < end:
                known = self._read(start) if start is not None else empty(self._kind)
                self._write(start, join(known, news[begin:end]))
            begin = end
        self._starts, self._open = sorted(self._blocks), None

    def clear(self) -> None:
        """Forget all entries."""
        for start in self._starts:
            del self._blocks[start]
        self._starts, self._count, self._open = [], 0, None

    def _read(self, start: int) -> ImpactTable:
        if self._open is None or self._open[0] != start:
            self._open = start, unpack(self._blocks[start], self._kind)
        return self._open[1]

    def _write(self, start: int | None, table: ImpactTable) -> None:
        """Write entries in the place of a block, as several where they are too many for one."""
        if start is not None:
            self._count -= count_of(self._blocks.pop(start))
        self._count += len(table)
        cuts = range(BLOCK_ENTRIES, len(table), BLOCK_ENTRIES) if len(table) > 2 * BLOCK_ENTRIES else range(0)
        begins = {0, *(int(np.searchsorted(table.hashes, table.hashes[cut])) for cut in cuts), len(table)}
        for begin, end in pairwise(sorted(begins)):
            self._blocks[int(table.hashes[begin])] = pack(table[begin:end])
