"""What nodes tell and ask each other of the directory of terms.

Pure: values with bounds. All that is told is absolute, so a message that is lost, doubled or late does no harm: what
was not taken is told again.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message
from index.directory.row_page import MAX_SLOT_BITS, MOST_NUMBER, MOST_PAGE_BYTES
from index.directory.term_row import HASH_BYTES

MOST_ENTRIES = 16_384  # in one message
MOST_PACKED_BYTES = 1 << 19  # more than so many entries take, if nothing could be squeezed
MOST_ASKED_ROWS = 64  # in one question: a query has fewer words
SLOTS_DIGEST_BYTES = 8  # of BLAKE2b of their numbers, u16 little-endian
MOST_UNKNOWN = 256  # slots of which a keeper may know too little and still answers

_Slot = Annotated[int, Meta(ge=0, lt=1 << MAX_SLOT_BITS)]
_Slots = Annotated[tuple[_Slot, ...], Meta(max_length=1 << MAX_SLOT_BITS)]
_Bits = Annotated[int, Meta(ge=0, le=MAX_SLOT_BITS)]
_Number = Annotated[int, Meta(ge=0, le=MOST_NUMBER)]
_Instant = Annotated[float, Meta(ge=0.0, lt=1e12)]  # Unix seconds
_Hash = Annotated[bytes, Meta(min_length=HASH_BYTES, max_length=HASH_BYTES)]
_Digest = Annotated[bytes, Meta(max_length=SLOTS_DIGEST_BYTES)]
_Id = Annotated[bytes, Meta(min_length=20, max_length=20)]


class SlotCounts(msgspec.Struct, frozen=True, array_like=True):
    """Says how many documents a slot has, and their lengths by field."""

    slot: _Slot
    documents: _Number
    lengths: tuple[_Number, _Number, _Number, _Number]


class TellLevels(Message, frozen=True, array_like=True):
    """What an owner of slots tells a keeper of rows about one epoch. `run`: the name of the sender's table; `made_at`:
    when its numbers of documents were so, by the `average` length of then; `at`: up to when its levels are so (Unix
    seconds). What is not said is as it was at the sender's change `since`; once `is_all` was said, all is as of
    `change`. `slots`: those that it is ready for, of which it speaks; none where they are those that the receiver said
    it knows, by their digest in `known_slots`; `behind`: those of them in which its copy did not agree with a
    majority's; `young`: those that it was not ready for at `made_at`. `counts`: of all these, where they are news.
    `wholes`: the slots of terms of which the entries are all that it says, in place of what it said before; `is_cut`:
    whether the last of them goes on in the next message. `entries`: as `impact_pack.py` writes them."""

    in_packets = True
    is_padded = False  # the answer is shorter

    slot_bits: _Bits
    analyzer: _Number
    ranking: _Number
    epoch: _Number
    run: _Number
    average: Annotated[float, Meta(gt=0.0, lt=1e9)]
    made_at: _Instant
    at: _Instant
    since: _Number
    change: _Number
    slots: _Slots
    behind: _Slots
    young: _Slots
    counts: Annotated[tuple[SlotCounts, ...], Meta(max_length=1 << MAX_SLOT_BITS)]
    wholes: _Slots
    is_cut: bool
    entries: Annotated[bytes, Meta(max_length=MOST_PACKED_BYTES)]
    is_all: bool
    known_slots: _Digest = b""


class LevelsTaken(Message, frozen=True, array_like=True):
    """What a keeper of rows has now. `is_taken`: whether it keeps such rows at all; `change`: up to which of the
    sender's changes it has all but what is `missing`: the slots of terms that it keeps and of which it has not been
    told all; `has_counts`: whether it has those of all slots that the sender speaks of; `known_slots`: the digest of
    these. What is missing is told again as a whole."""

    is_taken: bool = False
    change: _Number = 0
    missing: _Slots = ()
    has_counts: bool = False
    known_slots: _Digest = b""


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
    as_of: _Instant


class AskWitness(Message, frozen=True, array_like=True):
    """Asks an owner of a slot which document has the greatest level of a term there, by its table of the name `run`."""

    in_packets = True

    run: _Number
    slot: _Slot
    hash: _Hash


class PageName(msgspec.Struct, frozen=True, array_like=True):
    """Names a document, as it is read."""

    id: _Id
    key: _Id


class PageVersion(msgspec.Struct, frozen=True, array_like=True):
    """Names a document, and in which version it is indexed."""

    id: _Id
    key: _Id
    version: Annotated[bytes, Meta(max_length=32)]


class WitnessPage(Message, frozen=True, array_like=True):
    """Names the document, none where there is none any more."""

    pages: Annotated[tuple[PageVersion, ...], Meta(max_length=1)] = ()


class BetterPage(Message, frozen=True, array_like=True):
    """Tells a keeper that a document has a greater level of a term than the row says for its slot; the keeper reads it
    and sees for itself."""

    slot_bits: _Bits
    analyzer: _Number
    ranking: _Number
    hash: _Hash
    page: PageName
