"""A sorted run of hashes with their depths, in memory or in a file, and how two become one.

A file is a row of blocks: 512 hashes of 8 bytes, then their depths, 1 byte each; the last block is filled up. A look-up
reads the one block that the index in memory names, and compares all blocks of a batch at once.
"""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Depths = NDArray[np.uint8]

BLOCK = 512  # hashes: a page of memory, and what a disk reads at no extra cost
BLOCK_BYTES = 9 * BLOCK
BATCH = 512  # blocks read before they are compared: 2 MB
PART = 65_536  # hashes of the longer run that are merged at once


class UnreadableRun(OSError):
    """A run's file cannot be read: the disk fails, or the file is shorter than what was written."""


class SortedRun(Protocol):
    """Holds hashes in rising order, each once, with a depth."""

    def __len__(self) -> int: ...

    def depths(self, asked: Hashes) -> NDArray[np.int16]:
        """Return the depth of each hash, -1 where it is not here."""

    def part(self, first: int, last: int) -> tuple[Hashes, Depths]:
        """Return the hashes from place `first` to before `last`, and their depths."""

    def place(self, hash: np.uint64) -> int:
        """Count the hashes that are smaller than this one."""

    def close(self) -> None:
        """Free what the run holds; nobody will use it again."""


class MemoryRun:
    """Keeps a run in two arrays."""

    def __init__(self, hashes: Hashes, depths: Depths) -> None:
        self._hashes, self._depths = hashes, depths

    def __len__(self) -> int:
        return len(self._hashes)

    def depths(self, asked: Hashes) -> NDArray[np.int16]:
        places = np.minimum(np.searchsorted(self._hashes, asked), len(self._hashes) - 1)
        return np.where(self._hashes[places] == asked, self._depths[places].astype(np.int16), np.int16(-1))

    def part(self, first: int, last: int) -> tuple[Hashes, Depths]:
        return self._hashes[first:last], self._depths[first:last]

    def place(self, hash: np.uint64) -> int:
        return int(np.searchsorted(self._hashes, hash))

    def close(self) -> None:
        self._hashes, self._depths = self._hashes[:0], self._depths[:0]


class RunFile:
    """Keeps a run in a file, which is deleted when the run is closed."""

    def __init__(self, path: Path, index: Hashes, length: int) -> None:
        self._path, self._index, self._length = path, index, length
        self._file = os.open(path, os.O_RDONLY)
        self._buffer = np.empty((BATCH, BLOCK_BYTES), dtype=np.uint8)

    @classmethod
    def write(cls, path: Path, parts: Iterator[tuple[Hashes, Depths]]) -> "RunFile":
        """Write a run part by part; raises OSError where the disk does not take it."""
        try:
            return cls._write(path, parts)
        except OSError:
            path.unlink(missing_ok=True)  # room for a later try
            raise

    @classmethod
    def _write(cls, path: Path, parts: Iterator[tuple[Hashes, Depths]]) -> "RunFile":
        length, index = 0, []
        left: tuple[Hashes, Depths] = (np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.uint8))
        with path.open("wb") as file:
            for hashes, depths in parts:
                length += len(hashes)
                left = np.concatenate((left[0], hashes)), np.concatenate((left[1], depths))
                whole = len(left[0]) // BLOCK * BLOCK
                index.append(left[0][:whole:BLOCK].copy())  # no view, which would keep all of it
                file.write(_blocks(left[0][:whole], left[1][:whole]))
                left = left[0][whole:], left[1][whole:]
            index.append(left[0][:1])
            file.write(_blocks(*left))
        return cls(path, np.concatenate(index), length)

    def __len__(self) -> int:
        return self._length

    def depths(self, asked: Hashes) -> NDArray[np.int16]:
        order = np.argsort(asked)  # neighbours on disk are read one after the other
        found = np.full(len(asked), -1, dtype=np.int16)
        for start in range(0, len(asked), BATCH):
            some = order[start : start + BATCH]
            found[some] = self._depths_of(asked[some])
        return found

    def part(self, first: int, last: int) -> tuple[Hashes, Depths]:
        last = min(last, self._length)
        block = first // BLOCK
        count = -(-last // BLOCK) - block
        data = np.empty(count * BLOCK_BYTES, dtype=np.uint8)
        self._read_into(data, block * BLOCK_BYTES)
        hashes, depths = _columns(data.reshape(-1, BLOCK_BYTES))
        inside = slice(first - block * BLOCK, last - block * BLOCK)
        return hashes.reshape(-1)[inside], depths.reshape(-1)[inside]

    def place(self, hash: np.uint64) -> int:
        block = max(int(np.searchsorted(self._index, hash, side="right")) - 1, 0)
        hashes, _ = self.part(block * BLOCK, (block + 1) * BLOCK)
        return block * BLOCK + int(np.searchsorted(hashes, hash))

    def close(self) -> None:
        os.close(self._file)
        self._path.unlink(missing_ok=True)

    def _read_into(self, buffer: NDArray[np.uint8], offset: int) -> None:
        try:
            size = os.preadv(self._file, (buffer.data,), offset)
        except OSError as error:
            raise UnreadableRun(error.errno, error.strerror) from error
        if size < len(buffer):
            raise UnreadableRun(errno.EIO, "shorter than what was written")

    def _depths_of(self, asked: Hashes) -> NDArray[np.int16]:
        blocks = np.maximum(np.searchsorted(self._index, asked, side="right") - 1, 0)
        rows = self._buffer[: len(asked)]
        for row, block in zip(rows, blocks.tolist(), strict=True):
            self._read_into(row, block * BLOCK_BYTES)
        hashes, depths = _columns(rows)
        inside = (hashes < asked[:, None]).sum(axis=1)
        is_here = (inside < BLOCK) & (blocks * BLOCK + inside < self._length)
        numbers, inside = np.arange(len(asked)), np.minimum(inside, BLOCK - 1)
        is_here &= hashes[numbers, inside] == asked
        return np.where(is_here, depths[numbers, inside].astype(np.int16), np.int16(-1))


def _blocks(hashes: Hashes, depths: Depths) -> bytes:
    """Lay hashes and depths out in blocks, the last one filled up with the greatest hash."""
    room = -len(hashes) % BLOCK
    hashes = np.append(hashes, np.full(room, 2**64 - 1, dtype=np.uint64)).astype("<u8")
    depths = np.append(depths, np.zeros(room, dtype=np.uint8))
    columns = hashes.view(np.uint8).reshape(-1, 8 * BLOCK), depths.reshape(-1, BLOCK)
    return np.concatenate(columns, axis=1).tobytes()


def _columns(rows: NDArray[np.uint8]) -> tuple[Hashes, Depths]:
    """Split rows, a block each, into hashes and depths."""
    return rows[:, : 8 * BLOCK].view("<u8"), rows[:, 8 * BLOCK :]


def merged(one: SortedRun, other: SortedRun) -> Iterator[tuple[Hashes, Depths]]:
    """Yield two runs as one, in parts; of a hash that is in both, the greater depth."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    begun = 0
    for first in range(0, len(longer), PART):
        last = min(first + PART, len(longer))
        end = shorter.place(longer.part(last, last + 1)[0][0]) if last < len(longer) else len(shorter)
        (hashes, depths), (more, their) = longer.part(first, last), shorter.part(begun, end)
        begun = end
        yield _united(np.concatenate((hashes, more)), np.concatenate((depths, their)))


def _united(hashes: Hashes, depths: Depths) -> tuple[Hashes, Depths]:
    order = np.lexsort((depths, hashes))
    hashes, depths = hashes[order], depths[order]
    last = np.append(hashes[1:] != hashes[:-1], True)
    return hashes[last], depths[last]
