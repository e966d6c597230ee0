"""Levels of many terms in sorted columns: a hash, and beside it what one slot's documents of one stem class say.

Pure: arrays in, arrays out. Whoever keeps many notes one more number with each: of which change it is, or of whom; and
of its own documents also which of them has that level. A term is its hash as a number, so that terms of one slot lie
together. How they are kept and sent: `impact_pack.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dht import Slot
from index.directory.term_row import HASH_BYTES, hash_of

HASH_BITS = 8 * HASH_BYTES
NAME_BIT = 0x80  # of `mark`: it may name a front page; the other bits are the stem class
WORD = np.dtype([("df", "<i4"), ("slot", "<u2"), ("level", "u1"), ("mark", "u1")])
NOTED = np.dtype([*((name, WORD[name]) for name in WORD.names or ()), ("note", "<u4")])
WITNESSED = np.dtype([*((name, NOTED[name]) for name in NOTED.names or ()), ("page", "<u4")])
Hashes = NDArray[np.uint64]
Words = NDArray[Any]  # of WORD, NOTED or WITNESSED


@dataclass(frozen=True, slots=True, eq=False)
class ImpactTable:
    """Says of terms in slots, by stem class, in how many documents they are and their greatest level there. Ascending
    by hash; what is sent, by slot and class, too, each once. Of several classes of a slot the greatest level counts
    for all."""

    hashes: Hashes
    words: Words

    def __len__(self) -> int:
        return len(self.hashes)

    def __getitem__(self, which: slice | NDArray[Any]) -> "ImpactTable":
        return ImpactTable(self.hashes[which], self.words[which])

    def noted(self, note: int) -> "ImpactTable":
        """Return the entries with a number noted with each."""
        words = np.empty(len(self), NOTED)
        for name in WORD.names or ():
            words[name] = self.words[name]
        words["note"] = note
        return ImpactTable(self.hashes, words)

    def bare(self) -> "ImpactTable":
        """Return the entries without their notes."""
        words = np.empty(len(self), WORD)
        for name in WORD.names or ():
            words[name] = self.words[name]
        return ImpactTable(self.hashes, words)


def empty(kind: np.dtype[Any] = WORD) -> ImpactTable:
    """Return a table of nothing."""
    return ImpactTable(np.zeros(0, np.uint64), np.zeros(0, kind))


def joined(tables: Sequence[ImpactTable], kind: np.dtype[Any] = WORD) -> ImpactTable:
    """Return the entries of several tables, one after the other."""
    if len(tables) == 1:
        return tables[0]
    every = [empty(kind), *tables]
    return ImpactTable(np.concatenate([each.hashes for each in every]), np.concatenate([each.words for each in every]))


def hashes_of(terms: Sequence[str]) -> Hashes:
    """Return the hashes of terms as numbers."""
    return np.frombuffer(b"".join(map(hash_of, terms)), ">u8").astype(np.uint64)


def number_of(term_hash: bytes) -> int:
    """Return a term's hash as a number."""
    return int.from_bytes(term_hash, "big")


def term_slot(term_hash: bytes, slot_bits: int) -> Slot:
    """Return the slot whose owners keep a term's row."""
    return Slot(number_of(term_hash) >> HASH_BITS - slot_bits)


def slots_of(hashes: Hashes, slot_bits: int) -> NDArray[np.int64]:
    """Return the slots of many terms."""
    if not slot_bits:
        return np.zeros(len(hashes), np.int64)
    return (hashes >> np.uint64(HASH_BITS - slot_bits)).astype(np.int64)


def span_of(slot: int, slot_bits: int) -> tuple[int, int]:
    """Return the first hash of a slot, and the first after it."""
    shift = HASH_BITS - slot_bits
    return slot << shift, slot + 1 << shift


def places_of(words: Words) -> NDArray[np.uint32]:
    """Return slot and stem class of entries as one number."""
    found: NDArray[np.uint32] = words["slot"].astype(np.uint32) << np.uint32(8) | (words["mark"] & ~np.uint8(NAME_BIT))
    return found


def order_of(table: ImpactTable) -> NDArray[np.intp]:
    """Return the order of entries by hash, slot and class; equal ones stay as they stand."""
    return np.lexsort((places_of(table.words), table.hashes))


def first_of(table: ImpactTable) -> NDArray[np.bool_]:
    """Tell which of entries in their order is the first of its hash, slot and class."""
    places, hashes = places_of(table.words), table.hashes
    is_first = np.ones(len(hashes), np.bool_)
    is_first[1:] = (hashes[1:] != hashes[:-1]) | (places[1:] != places[:-1])
    return is_first
