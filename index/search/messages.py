"""What nodes ask each other to answer a query: two rounds, statistics then the best documents.

Pure: values with bounds, no behaviour. The query travels as text and both sides parse it with the same parser, so its
leaves have the same order; analyzer, ranking and slot_bits say which rules the asker goes by.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from dht import Message

MAX_SLOTS = 1 << 16
MAX_K = 4096
MAX_COUNT = 1 << 48

Slots = Annotated[tuple[Annotated[int, Meta(ge=0, lt=MAX_SLOTS)], ...], Meta(max_length=MAX_SLOTS)]
Count = Annotated[int, Meta(ge=0, le=MAX_COUNT)]
Counts4 = tuple[Count, Count, Count, Count]
PerSlot = Annotated[tuple[Count, ...], Meta(max_length=MAX_SLOTS)]
PerLeaf = Annotated[tuple[Count, ...], Meta(max_length=64)]
Words = Annotated[str, Meta(max_length=1024)]
Name = Annotated[str, Meta(max_length=255)]
Id = Annotated[bytes, Meta(min_length=20, max_length=20)]
Digest = Annotated[bytes, Meta(min_length=16, max_length=16)]
Hash = Annotated[bytes, Meta(min_length=32, max_length=32)]


class AskStatistics(Message, frozen=True, array_like=True):
    """Asks to count the documents of these slots, and those that hold each leaf of the query."""

    analyzer: int
    slot_bits: Annotated[int, Meta(ge=0, le=16)]
    slots: Slots
    query: Words
    language: Name = ""
    site: Name = ""


class StatisticsAnswer(Message, frozen=True, array_like=True):
    """Brings statistics by slot, for the `slots` that the peer answers for, ascending.

    All else has one entry for each of them. `lengths`: sums by field. `df`: for each leaf, the documents that hold it,
    by slot.
    """

    slots: Slots
    documents: PerSlot
    lengths: Annotated[tuple[Counts4, ...], Meta(max_length=MAX_SLOTS)]
    fingerprints: Annotated[tuple[Hash, ...], Meta(max_length=MAX_SLOTS)]
    df: Annotated[tuple[PerSlot, ...], Meta(max_length=64)]


class AskBest(Message, frozen=True, array_like=True):
    """Asks for the best `k` documents of these slots by the given statistics, from up to `depth` candidates.

    `floor`: nothing that scores less is of use any more.
    """

    analyzer: int
    ranking: int
    slot_bits: Annotated[int, Meta(ge=0, le=16)]
    slots: Slots
    query: Words
    documents: Count
    lengths: Counts4
    df: PerLeaf
    k: Annotated[int, Meta(ge=1, le=MAX_K)]
    depth: Annotated[int, Meta(ge=1, le=1 << 20)]
    floor: float = 0.0
    language: Name = ""
    site: Name = ""


class HitRow(msgspec.Struct, frozen=True, array_like=True):
    """One document with the numbers that its score was computed from; `digest` is equal for mirrors."""

    id: Id
    key: Id
    version: Hash
    digest: Digest
    score: float
    tfs: Annotated[tuple[Counts4, ...], Meta(max_length=64)]
    lengths: Counts4
    closeness: Annotated[int, Meta(ge=0, le=1024)]


class BestAnswer(Message, frozen=True, array_like=True):
    """Brings the best hits, best first, and all matches' `counts` by slot. Nothing left out scores above `bound`."""

    slots: Slots
    counts: PerSlot
    hits: Annotated[tuple[HitRow, ...], Meta(max_length=MAX_K)]
    complete: bool  # every match was scored; the bound is 0.0 then
    bound: float
