"""A short signature by which nearly equal texts are told: its equal bits say how much two texts have in common.

Pure: text in, bytes out; runs in parser processes. One-bit minwise hashing in one permutation, of all runs of 8 bytes
of the text in lower case with single spaces: each run is hashed, the hash's last 7 bits choose one of 128 bins, each
bin keeps its smallest hash, and of that one bit. Two texts whose sets of runs have the Jaccard similarity J agree in
(1 + J) / 2 of the bits. Sources: Broder 1997; Li & König, b-Bit Minwise Hashing, 2010; Li, Owen & Zhang, One
Permutation Hashing, 2012. Simhash of the same runs was measured beside it (benchmarks/duplicates.py): frequent runs
rule it, so pages that share no more than their template look alike.
"""

import numpy as np
from numpy.typing import NDArray

from crawl.fingerprint import squeezed

RUN_BYTES = 8
BINS = 128  # so many bits
SIGNATURE_BYTES = BINS // 8
NEAR_BITS = 8  # at most so many different bits: J of about 0.875, chosen by the error rates in benchmarks/duplicates.py
_ASCII = bytes(range(128))
_LOWER = bytes(0x20 if chr(byte).isspace() and byte < 128 else byte for byte in bytes(range(256)).lower())
_PER_BIN = 12  # hashes that are sorted for each bin: a bin that none of them falls into is one in e^12
_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd; from splitmix64


def signature(text: str) -> bytes:
    """16 bytes; b"" for a text with less than eight bytes, which is like nothing."""
    data = _prepared(text)
    if len(data) < RUN_BYTES:
        return b""
    smallest = _smallest(_hashes(data))
    return np.packbits((smallest & np.uint64(1)).astype(np.uint8)).tobytes()


def _prepared(text: str) -> bytes:
    """A text in lower case with single spaces: by bytes where nothing beyond ASCII changes, a tenth of the time."""
    data = text.encode("utf-8", "replace")
    beyond = data.translate(None, _ASCII).decode()
    if beyond and (beyond.lower() != beyond or len(beyond.split()) > 1 or beyond.strip() != beyond):
        return " ".join(text.lower().split()).encode("utf-8", "replace")
    return squeezed(data.translate(_LOWER))


def different_bits(one: bytes, other: bytes) -> int:
    """Bits in which two signatures differ; all of them where one is missing."""
    if len(one) != SIGNATURE_BYTES or len(other) != SIGNATURE_BYTES:
        return BINS
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def are_near(one: bytes, other: bytes) -> bool:
    """Whether two texts are the same but for a detail, by their signatures."""
    return different_bits(one, other) <= NEAR_BITS


def _hashes(data: bytes) -> NDArray[np.uint64]:
    """A hash of each run of 8 bytes, in order."""
    runs = np.ndarray((len(data) - RUN_BYTES + 1,), dtype="<u8", buffer=data, strides=(1,)).astype(np.uint64)
    runs ^= runs >> np.uint64(32)
    runs *= _GOLDEN
    runs ^= runs >> np.uint64(29)
    runs *= _MIX
    runs ^= runs >> np.uint64(32)
    return runs


def _smallest(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """For each bin a value of its smallest hash; a bin without any borrows from the next that has one, changed by the
    distance, as in Shrivastava & Li 2014."""
    if len(hashes) > BINS * _PER_BIN:  # in a text that does not repeat itself only small ones are the smallest of a bin
        values, has_any = _minima(hashes[hashes < np.uint64((1 << 64) * BINS * _PER_BIN // len(hashes))])
        if has_any.all():
            return _stirred(values)
    values, has_any = _minima(hashes)
    if not has_any.all():
        filled, empty = np.flatnonzero(has_any), np.flatnonzero(~has_any)
        lenders = filled[np.searchsorted(filled, empty) % len(filled)]
        distance = ((lenders - empty) % BINS).astype(np.uint64)
        values[empty] = (values[lenders] + distance) * _GOLDEN >> np.uint64(17)
    return _stirred(values)


def _minima(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """The smallest hash of each bin without the bits that chose the bin, and whether there is any."""
    falling = np.sort(hashes)[::-1]
    bins = (falling & np.uint64(BINS - 1)).astype(np.intp)
    values, has_any = np.zeros(BINS, dtype=np.uint64), np.zeros(BINS, dtype=np.bool_)
    values[bins] = falling >> np.uint64(8)  # of several values for one bin the last, the smallest, stays
    has_any[bins] = True
    return values, has_any


def _stirred(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Small hashes begin with zeros; their last bits are as good as any, and better mixed with others."""
    return values ^ (values >> np.uint64(23))
