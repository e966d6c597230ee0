"""A sketch of a document: a Bloom filter of its terms, and of those that stand side by side.

Pure: terms in, numbers out. The sketch proves that a document lacks a term, or two terms next to each other in either
order. It needs no record of the document, so the highest possible score is known before the record is read. A sketch is
cut into columns of 64 bits, of which a query reads one for each term and pair. Bits are few where pages are short, and
a third of all in a page of 1,400 terms. Boilerplate is left out, as it scores nothing. Terms at the border of two
fields count as neighbours: that costs a bit, and no truth.
"""

from zlib import crc32

import numpy as np

from index.text import text_leaf
from index.text.field_terms import FieldTerms, Places

COLUMNS, COLUMN_BITS = 64, 64
_SHIFT = 32 - 12  # of a hash of 32 bits, that it is one of 4,096 places
_MIX = 0x9E3779B1  # Knuth's multiplier: neighbours' sums differ little in their high bits
_WHOLE = 0xFFFFFFFF


def sketch_of(fields: FieldTerms) -> list[int]:
    """Return the columns of a document's sketch."""
    said = fields.places[: len(fields.places) - len(fields.lines[-1])]
    make = text_leaf.leaf.columns_of if text_leaf.leaf else columns_of
    return make(fields.vocabulary, said, _SHIFT, _MIX)


def columns_of(vocabulary: list[str], places: Places, shift: int, mix: int) -> list[int]:
    """Return the columns of a sketch of terms that stand in this order, given by their places in a vocabulary."""
    hashes = np.fromiter(map(crc32, map(str.encode, vocabulary)), np.uint32, len(vocabulary))
    found = hashes[places]
    bits = np.zeros(COLUMNS * COLUMN_BITS, np.uint8)
    bits[found >> shift] = 1
    bits[(found[1:] + found[:-1]) * np.uint32(mix) >> shift] = 1
    columns: list[int] = np.packbits(bits, bitorder="little").view("<u8").tolist()
    return columns


def place_of(term: str) -> int:
    """Return the place of a term in all sketches."""
    return _hash(term) >> _SHIFT


def place_of_pair(first: str, second: str) -> int:
    """Return the place of two terms that stand side by side."""
    return ((_hash(first) + _hash(second)) * _MIX & _WHOLE) >> _SHIFT


def _hash(term: str) -> int:
    return crc32(term.encode())
