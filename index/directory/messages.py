"""What nodes tell and ask each other of the directory of terms.

Pure: values with bounds. All that is told is absolute, so a message that is lost, doubled or late does no harm: what
was not taken is told again.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message
from index.directory.impact_table import ENTRY_BYTES
from index.directory.row_page import MAX_SLOT_BITS, MOST_NUMBER, MOST_PAGE_BYTES
from index.directory.term_row import HASH_BYTES

MOST_ENTRIES = 8192  # in one message, 131 kB
MOST_ASKED_ROWS = 64  # in one question: a query has fewer words
MOST_PARTS = 1 << 12  # of terms' slots in one message
MOST_UNKNOWN = 256  # slots of which a keeper may know too little and still answers

_Slot = Annotated[int, Meta(ge=0, lt=1 << MAX_SLOT_BITS)]
_Slots = Annotated[tuple[_Slot, ...], Meta(max_length=1 << MAX_SLOT_BITS)]
_Bits = Annotated[int, Meta(ge=0, le=MAX_SLOT_BITS)]
_Number = Annotated[int, Meta(ge=0, le=MOST_NUMBER)]
_Hash = Annotated[bytes, Meta(min_length=HASH_BYTES, max_length=HASH_BYTES)]


class ImpactPart(msgspec.Struct, frozen=True, array_like=True):
    """Levels of the terms whose rows lie in one slot. `is_whole`: all that the sender says of them, instead of what it
    said before; else what changed, a df of 0 where nothing holds a term any more. `has_more`: the next message goes
    on. `entries`: hashes (8 bytes each, little-endian), then of each df (i32), slot (u16), level (u8) and mark (u8: the
    stem class, plus 128 where it may name a front page)."""

    term_slot: _Slot
    is_whole: bool
    has_more: bool
    entries: Annotated[bytes, Meta(max_length=ENTRY_BYTES * MOST_ENTRIES)]


class SlotCounts(msgspec.Struct, frozen=True, array_like=True):
    """Says how many documents a slot has, and their lengths by field."""

    slot: _Slot
    documents: _Number
    lengths: tuple[_Number, _Number, _Number, _Number]


class TellImpacts(Message, frozen=True, array_like=True):
    """What an owner of slots tells a keeper of rows. `average`: the mean length by which its levels are computed; `at`:
    when what it says was so, Unix seconds. `slots`: those that it is ready for, of which it speaks; `level`: those of
    them in which its copy agreed with a majority's. `counts`: of these, where they changed. `is_all`: whether all else
    is as it told before."""

    slot_bits: _Bits
    run: _Number
    analyzer: _Number
    ranking: _Number
    average: Annotated[float, Meta(gt=0.0, lt=1e9)]
    at: Annotated[float, Meta(ge=0.0, lt=1e12)]
    slots: _Slots
    level: _Slots
    counts: Annotated[tuple[SlotCounts, ...], Meta(max_length=1 << MAX_SLOT_BITS)]
    parts: Annotated[tuple[ImpactPart, ...], Meta(max_length=MOST_PARTS)]
    is_all: bool


class ImpactsTaken(Message, frozen=True, array_like=True):
    """What a keeper of rows has now. `is_taken`: whether it keeps such rows at all; `missing`: the slots of terms that
    it keeps and of which it has not been told all; `has_counts`: whether it has those of all slots that the sender
    speaks of. What is missing is told again as a whole."""

    is_taken: bool = False
    missing: _Slots = ()
    has_counts: bool = False


class AskRows(Message, frozen=True, array_like=True):
    """Asks a keeper for the rows of some terms, by their hashes, as of an analyzer and a ranking."""

    in_packets = True

    slot_bits: _Bits
    analyzer: _Number
    ranking: _Number
    hashes: Annotated[tuple[_Hash, ...], Meta(min_length=1, max_length=MOST_ASKED_ROWS)]


class ToldRows(Message, frozen=True, array_like=True):
    """Brings rows as a page (`row_page.py`). `unknown`: slots of which too few owners have told what holds now; they
    may hold anything. `as_of`: since when the rows are right of all others, Unix seconds."""

    page: Annotated[bytes, Meta(max_length=MOST_PAGE_BYTES)]
    unknown: Annotated[tuple[_Slot, ...], Meta(max_length=MOST_UNKNOWN)]
    as_of: Annotated[float, Meta(ge=0.0, lt=1e12)]
