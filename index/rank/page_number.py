"""The number of a page in the link graph: 16 bits of its placement key, which say its slot, and 48 of its document id.

Pure: bytes in, integers out. Numbers sort by slot. Inside a slot the 48 bits alone name a page: among 10⁵ pages two
share them with a chance of 2 in 10⁵, and then one gets the other's links, no more.
"""

import numpy as np
from numpy.typing import NDArray

from dht import DocumentId, Key

NAME_BITS = 48
NAME_MASK = (1 << NAME_BITS) - 1
NUMBER_BITS = 64
Numbers = NDArray[np.uint64]


def page_number(key: Key, id: DocumentId) -> int:
    """Return the number of the page with a placement key and a document id."""
    return int.from_bytes(key[:2], "big") << NAME_BITS | int.from_bytes(id[:6], "big")


def slots_of(numbers: Numbers, slot_bits: int) -> NDArray[np.int64]:
    """Return the slot that each of these pages lies in."""
    shift = np.uint64(NUMBER_BITS - slot_bits)
    return (numbers >> shift).astype(np.int64) if slot_bits else np.zeros(len(numbers), np.int64)


def names_of(numbers: Numbers) -> Numbers:
    """Return the 48 bits that name each of these pages inside its slot."""
    return numbers & np.uint64(NAME_MASK)
