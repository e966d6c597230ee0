"""Levels of many terms in few bytes: sorted columns, 16 bytes for each term, slot and stem class.

Pure: arrays in, arrays out. A node has one of its own documents, and one for each share of terms that it keeps rows of.
On the line the same columns go as they are. A term is its hash as a number, so that terms of one slot lie together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dht import BadMessage, Slot
from index.directory.term_row import HASH_BYTES, hash_of
from index.text.stem_classes import CLASSES

HASH_BITS = 8 * HASH_BYTES
NAME_BIT = 0x80  # of `mark`: it may name a front page; the other bits are the stem class
WORD = np.dtype([("df", "<i4"), ("slot", "<u2"), ("level", "u1"), ("mark", "u1")])
ENTRY_BYTES = HASH_BYTES + WORD.itemsize
Hashes = NDArray[np.uint64]
Words = NDArray[Any]  # of WORD


@dataclass(frozen=True, slots=True, eq=False)
class ImpactTable:
    """Says of terms in slots, by stem class, in how many documents they are and their greatest level there. Ascending
    by hash, slot and class, each once; of several classes of a slot the greatest level counts for all."""

    hashes: Hashes
    words: Words

    def __len__(self) -> int:
        return len(self.hashes)

    def part(self, slot: Slot, slot_bits: int) -> slice:
        """Return where the terms of one slot stand."""
        return part_of(self.hashes, slot, slot_bits)

    def replaced(self, news: "ImpactTable") -> "ImpactTable":
        """Return the table with what is news in place of what was said before; what no document holds is gone."""
        hashes, words = np.concatenate((self.hashes, news.hashes)), np.concatenate((self.words, news.words))
        order = order_of(hashes, words)
        hashes, words = hashes[order], words[order]
        is_last = np.append(first_of(hashes, words)[1:], True) if len(hashes) else np.zeros(0, np.bool_)
        kept = is_last & (words["df"] > 0)
        return ImpactTable(hashes[kept], words[kept])

    def packed(self) -> bytes:
        """Write it as it is sent: all hashes, then the rest."""
        return self.hashes.astype("<u8").tobytes() + self.words.tobytes()


EMPTY = ImpactTable(np.zeros(0, np.uint64), np.zeros(0, WORD))


def unpacked(data: bytes, term_slot: Slot, slot_bits: int, peer: str = "") -> ImpactTable:
    """Read what a peer sent of the terms of one slot, every number checked; raises BadMessage where it is wrong."""
    count, rest = divmod(len(data), ENTRY_BYTES)
    if rest:
        raise BadMessage(peer, f"levels of terms: {len(data)} bytes are no whole number of entries")
    hashes = np.frombuffer(data, "<u8", count).astype(np.uint64)
    words = np.frombuffer(data, WORD, count, offset=count * HASH_BYTES)
    if not first_of(hashes, words).all() or (order_of(hashes, words) != np.arange(count)).any():
        raise BadMessage(peer, "levels of terms: they do not ascend")
    if count and part_of(hashes, term_slot, slot_bits) != slice(0, count):
        raise BadMessage(peer, f"levels of terms: some are not of slot {term_slot}")
    if (words["df"] < 0).any() or (words["slot"] >= 1 << slot_bits).any():
        raise BadMessage(peer, "levels of terms: a number below 0, or a slot that is none")
    if ((words["mark"] & ~np.uint8(NAME_BIT)) >= len(CLASSES)).any():
        raise BadMessage(peer, "levels of terms: a stem class that is not known")
    return ImpactTable(hashes, words)


def hashes_of(terms: Sequence[str]) -> Hashes:
    """Return the hashes of terms as numbers."""
    return np.frombuffer(b"".join(map(hash_of, terms)), ">u8").astype(np.uint64)


def number_of(term_hash: bytes) -> int:
    """Return a term's hash as a number."""
    return int.from_bytes(term_hash, "big")


def term_slot(term_hash: bytes, slot_bits: int) -> Slot:
    """Return the slot whose owners keep a term's row."""
    return Slot(number_of(term_hash) >> HASH_BITS - slot_bits)


def part_of(hashes: Hashes, slot: Slot, slot_bits: int) -> slice:
    """Return where those of ascending hashes stand whose terms' rows lie in a slot."""
    shift = HASH_BITS - slot_bits
    begin = int(np.searchsorted(hashes, np.uint64(slot << shift)))
    if slot + 1 == 1 << slot_bits:
        return slice(begin, len(hashes))
    return slice(begin, int(np.searchsorted(hashes, np.uint64(slot + 1 << shift))))


def places_of(words: Words) -> NDArray[np.uint32]:
    """Return slot and stem class of entries as one number."""
    found: NDArray[np.uint32] = words["slot"].astype(np.uint32) << np.uint32(8) | (words["mark"] & ~np.uint8(NAME_BIT))
    return found


def order_of(hashes: Hashes, words: Words) -> NDArray[np.intp]:
    """Return the order of entries by hash, slot and class; equal ones stay as they stand."""
    return np.lexsort((places_of(words), hashes))


def first_of(hashes: Hashes, words: Words) -> NDArray[np.bool_]:
    """Tell which of entries in their order is the first of its hash, slot and class."""
    places = places_of(words)
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = (hashes[1:] != hashes[:-1]) | (places[1:] != places[:-1])
    return is_first
