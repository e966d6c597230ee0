"""Whether two readings of pages say the same, or nearly.

Pure: text in, bytes out; runs in parser processes. A *fingerprint* is two hashes. The first, of all text, is equal only
where nothing changed at all. The second leaves out navigation, headers, footers and asides. It also leaves out white
space, digits and names of days and months, since clocks and counters change by themselves.

A *signature* tells nearly equal texts: its equal bits say how much two texts have in common. It is one-bit minwise
hashing in one permutation, of runs of 16 bytes of the text, its ASCII in lower case and its lines in a row. Only those
runs count that begin between words, at a mark, or at a letter beyond ASCII, since many scripts have no spaces. They are
a fifth of all runs and distinguish texts as well. Each run is hashed, the hash's first 7 bits choose one of 128 bins,
each bin keeps its smallest hash, and of that one bit. Two texts whose sets of runs have the Jaccard similarity J agree
in (1 + J) / 2 of the bits.
Sources: Broder 1997; Li & König, b-Bit Minwise Hashing, 2010; Li, Owen & Zhang, One Permutation Hashing, 2012. Simhash
of all runs was measured beside it (benchmarks/duplicates.py): frequent runs rule it, so pages that share no more than
their template look alike.
"""

import re
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

HASH_BYTES = 8  # a collision within one page's history is all that counts
_SPACES = b" \n"
_COUNTERS = b"0123456789" + _SPACES
_NAMES = re.compile(  # each begins with a capital letter, by which all but a few places of a text are passed over
    rb"Mon(?:day)?\b|Tue(?:sday)?\b|Wed(?:nesday)?\b|Thu(?:rsday)?\b|Fri(?:day)?\b|Sat(?:urday)?\b|Sun(?:day)?\b"
    rb"|Jan(?:uary)?\b|Feb(?:ruary)?\b|Mar(?:ch)?\b|Apr(?:il)?\b|May\b|June?\b|July?\b|Aug(?:ust)?\b|Sep(?:tember)?\b"
    rb"|Oct(?:ober)?\b|Nov(?:ember)?\b|Dec(?:ember)?\b"
)


def fingerprint(title: str, text: str, main: str) -> bytes:
    """Hash a page into 16 bytes: 8 of the title and all its text, 8 of the title and the steady part of `main`."""
    said = _encoded(f"{title}\n{main}")
    steady = _NAMES.sub(b"", said).translate(None, _COUNTERS)
    if 4 * len(steady) < len(said):  # perhaps a table of numbers: they are the page
        shown = said.translate(None, _SPACES)
        steady = shown if 4 * len(steady) < len(shown) else steady
    return _hash(_encoded(f"{title}\n{text}")) + _hash(steady)


def steady_text(fingerprint: bytes) -> bytes:
    """Return the part of a fingerprint that is the hash of what a reader would call the page."""
    return fingerprint[HASH_BYTES:]


def is_same(fingerprint: bytes, other: bytes) -> bool:
    """Tell whether nothing at all has changed."""
    return bool(fingerprint) and fingerprint == other


def says_the_same(fingerprint: bytes, other: bytes) -> bool:
    """Tell whether nothing has changed that a reader would call a change."""
    return bool(fingerprint) and fingerprint[HASH_BYTES:] == other[HASH_BYTES:]


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hash(data: bytes) -> bytes:
    return blake2b(data, digest_size=HASH_BYTES).digest()


RUN_BYTES = 16
BINS = 128  # so many bits
SIGNATURE_BYTES = BINS // 8
NEAR_BITS = 8  # at most so many different bits: J of about 0.875, chosen by the error rates in benchmarks/duplicates.py
_MAX_CHARS = 16_384  # the beginning of a text; more changed no error rate
_FEWEST_BYTES = 8  # a text with less is like nothing
_LOWER = bytes(range(256)).lower().replace(b"\n", b" ")  # beyond ASCII no copy of a page has another case
_BEGINS = bytes(byte >= 0xC0 or (byte < 128 and not chr(byte).isalnum()) for byte in range(256))  # a run begins here
_BIN_SHIFT = np.uint64(64 - BINS.bit_length() + 1)
_EDGES = np.arange(BINS, dtype=np.uint64) << _BIN_SHIFT  # the least hash of each bin
_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)  # odd; from splitmix64


def signature(text: str) -> bytes:
    """Sign a text with single spaces in 16 bytes; b"" where it has less than eight bytes, which is like nothing."""
    data = text[:_MAX_CHARS].encode("utf-8", "replace").translate(_LOWER)
    if len(data) < _FEWEST_BYTES:
        return b""
    return np.packbits(_bits(_hashes(data))).tobytes()


def different_bits(one: bytes, other: bytes) -> int:
    """Count the bits in which two signatures differ; all of them where one is missing."""
    if len(one) != SIGNATURE_BYTES or len(other) != SIGNATURE_BYTES:
        return BINS
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _hashes(data: bytes) -> NDArray[np.uint64]:
    """Hash each run that counts; the first begins before the text."""
    data = b" %b" % data.ljust(RUN_BYTES - 1, b"\0")
    count = len(data) - RUN_BYTES + 1
    (begins,) = np.frombuffer(data.translate(_BEGINS), dtype=np.bool_, count=count).nonzero()
    halves = np.ndarray((count,), dtype=f"V{RUN_BYTES}", buffer=data, strides=(1,)).take(begins).view("<u8")
    runs = halves[::2].astype(np.uint64)
    runs *= _GOLDEN
    runs ^= halves[1::2]
    runs ^= runs >> np.uint64(32)
    runs *= _MIX
    return runs


def _bits(hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return a bit of each bin's smallest hash; an empty bin borrows from the next that has one, changed by the
    distance, as in Shrivastava & Li 2014."""
    hashes.sort()
    smallest = hashes.take(hashes.searchsorted(_EDGES), mode="wrap")  # of a later bin where there is none
    distances = (smallest - _EDGES) >> _BIN_SHIFT
    mixed = smallest + distances * _MIX
    mixed ^= mixed >> np.uint64(31)
    mixed *= _GOLDEN
    return mixed >= np.uint64(1 << 63)
