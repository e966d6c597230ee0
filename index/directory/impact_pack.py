"""The bytes of many levels, on the line and on the disk: columns of bytes that resemble each other, squeezed.

Pure: tables in, bytes out, and back with every number checked where strangers sent them. Layout: how many entries
(u32), then a zstd frame that states its size: how many hashes (u32) · their distances, the first from 0 (u64) · how
many entries each has (u32) · of all entries df (i32), slot (u16), level (u8), mark (u8), and the note (u32) and the
page (u32) where they have one. All are little-endian; of each column the first bytes of all its numbers come first,
then the second ones.
"""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dht import BadMessage
from index.directory.impact_table import NAME_BIT, WORD, ImpactTable, empty, first_of, order_of
from index.text.compression import LEVEL, expand, squeeze
from index.text.stem_classes import CLASSES

_COUNT = struct.Struct("<I")
_HASH_BYTES, _RUN_BYTES = 8, 4
LINE_LEVEL = 14  # of zstd, for what is sent: 8 % less than by LEVEL, which blocks on disk have, for .8 ms a thousand


def pack(table: ImpactTable, level: int = LEVEL) -> bytes:
    """Write a table that ascends by hash; `level`: how hard it is squeezed."""
    return _packed(table, level) if len(table) else _NOTHING


def _packed(table: ImpactTable, level: int = LEVEL) -> bytes:
    starts = np.flatnonzero(_is_other(table.hashes))
    distances = np.diff(table.hashes[starts], prepend=np.uint64(0)).astype("<u8")
    runs = np.diff(np.append(starts, len(table))).astype("<u4")
    body = _COUNT.pack(len(starts)) + _columns(distances) + _columns(runs) + _columns(table.words)
    return _COUNT.pack(len(table)) + squeeze(body, level)


def count_of(data: bytes) -> int:
    """Return how many entries a packed table has."""
    return int(_COUNT.unpack_from(data)[0])


def unpack(data: bytes, kind: np.dtype[Any] = WORD, most: int = 1 << 31) -> ImpactTable:
    """Read what `pack` wrote; raises ValueError for anything else, and for more entries than `most`."""
    if len(data) < _COUNT.size:
        raise ValueError("cut off")
    count = count_of(data)
    if count > most:
        raise ValueError(f"{count} entries")
    body, hashes = _body(data[_COUNT.size :], count, kind.itemsize)
    at = _COUNT.size + hashes * _HASH_BYTES
    distances = _values(body[_COUNT.size : at], np.dtype("<u8"))
    runs = _values(body[at : at + hashes * _RUN_BYTES], np.dtype("<u4"))
    distinct = np.cumsum(distances, dtype=np.uint64)
    if (runs == 0).any() or int(runs.sum(dtype=np.uint64)) != count or (distinct[1:] <= distinct[:-1]).any():
        raise ValueError("its hashes do not ascend")
    return ImpactTable(np.repeat(distinct, runs), _values(body[at + hashes * _RUN_BYTES :], kind))


def unpack_told(data: bytes, slot_bits: int, most: int, peer: str = "") -> ImpactTable:
    """Read what a peer told, every number checked; raises BadMessage where it is wrong."""
    if data == _NOTHING:  # as most say who have no news
        return empty()
    try:
        table = unpack(data, WORD, most)
    except ValueError as error:
        raise BadMessage(peer, f"levels of terms: {error}") from None
    words = table.words
    if not first_of(table).all() or (order_of(table) != np.arange(len(table))).any():
        raise BadMessage(peer, "levels of terms: they do not ascend")
    if (words["df"] < 0).any() or (words["slot"] >= 1 << slot_bits).any():
        raise BadMessage(peer, "levels of terms: a number below 0, or a slot that is none")
    if ((words["mark"] & ~np.uint8(NAME_BIT)) >= len(CLASSES)).any():
        raise BadMessage(peer, "levels of terms: a stem class that is not known")
    return table


def _body(frame: bytes, count: int, width: int) -> tuple[bytes, int]:
    """Expand a frame; return what is in it with the number of its hashes, once its size is right for both numbers."""
    body = expand(frame, _COUNT.size + count * (width + _HASH_BYTES + _RUN_BYTES))
    hashes = count_of(body) if len(body) >= _COUNT.size else -1
    if len(body) != _COUNT.size + hashes * (_HASH_BYTES + _RUN_BYTES) + count * width:
        raise ValueError("of a size that no such table has")
    return body, hashes


def _is_other(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found = np.ones(len(hashes), np.bool_)
    found[1:] = hashes[1:] != hashes[:-1]
    return found


def _columns(values: NDArray[Any]) -> bytes:
    """All first bytes of values, then all second ones, and so on."""
    return values.view(np.uint8).reshape(len(values), values.dtype.itemsize).T.tobytes()


def _values(data: bytes, kind: np.dtype[Any]) -> NDArray[Any]:
    count = len(data) // kind.itemsize
    return np.ascontiguousarray(np.frombuffer(data, np.uint8).reshape(kind.itemsize, count).T).reshape(-1).view(kind)


_NOTHING = _packed(empty())
