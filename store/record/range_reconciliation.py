"""Defines the items and the messages of range reconciliation: each record of a node is an item with a place and a mark.

Pure: values in, values out. Items are ordered by place = key ‖ kind ‖ id. Two nodes compare ranges of places, and so
find out what each lacks of the same slots: `range_session.py` has both sides. A message is made of parts that follow
each other, packed by column. Lists of one kind lie together, as a mode, a fingerprint or a mark a part, because a
message has thousands of parts.
Source: Meyer 2023, "Range-Based Set Reconciliation", sections 3 and 4.
"""

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from hashlib import sha256
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from dht import DocumentId, Key
from store.errors import BadReplica
from store.record.record import SHORT_BYTES, Kind, ShortVersion

PLACE_BYTES = 41
FORM = 1  # of marks and entries, told in each message: who counts otherwise is refused, not misunderstood
END = b"\xff" * (PLACE_BYTES + 1)  # after every place
_MARK = struct.Struct(">B20sQQ8s")


class RangeEntry(msgspec.Struct, frozen=True, array_like=True):
    """Names one version of a record, as the other side needs to know it."""

    place: Annotated[bytes, Meta(min_length=PLACE_BYTES, max_length=PLACE_BYTES)]
    epoch: Annotated[int, Meta(ge=0, lt=1 << 48)]
    at_ms: Annotated[int, Meta(ge=0, lt=1 << 48)]
    digest: Annotated[bytes, Meta(min_length=SHORT_BYTES, max_length=SHORT_BYTES)]

    @property
    def version(self) -> ShortVersion:
        """The version that it names."""
        return ShortVersion(self.epoch, self.at_ms, self.digest)

    @property
    def key(self) -> Key:
        """The first part of the place."""
        return Key(self.place[:20])

    @property
    def kind(self) -> Kind:
        """The second part of the place."""
        return Kind(self.place[20])

    @property
    def id(self) -> DocumentId:
        """The last part of the place."""
        return DocumentId(self.place[21:])


class RangeItem(NamedTuple):
    """One record of ours, with the mark that stands for it."""

    entry: RangeEntry
    mark: bytes


ItemsBetween = Callable[[bytes, bytes], Sequence[RangeItem]]
"""Our items from a place on up to another, in order of place."""


def mark(kind: int, id: bytes, version: ShortVersion) -> bytes:
    """Hash one version of one record to the 32 bytes that stand for it."""
    return sha256(_MARK.pack(kind, id, version.epoch, version.at_ms, version.digest)).digest()


def item(kind: Kind, id: DocumentId, key: Key, version: ShortVersion) -> RangeItem:
    """Make the item that stands for a record of ours in a session."""
    return RangeItem(RangeEntry(key + bytes([kind]) + id, *version), mark(kind, id, version))


def among(items: Sequence[RangeItem]) -> ItemsBetween:
    """Return a look-up in items that are sorted by place."""
    places = [i.entry.place for i in items]
    return lambda first, end: items[bisect_left(places, first) : bisect_left(places, end)]


def bound_between(place: bytes, next_place: bytes) -> bytes:
    """Return the shortest bound that parts two neighbours: greater than the one, not greater than the other."""
    differs_at = next(n for n, (one, two) in enumerate(zip(place, next_place, strict=True)) if one != two)
    return next_place[: differs_at + 1]


def check_entries(entries: Sequence[RangeEntry], first: bytes, end: bytes) -> None:
    """Raise BadReplica where entries are out of order, lie outside of their range or are of no kind."""
    before = b""
    for entry in entries:
        if entry.place <= before or not first <= entry.place < end:
            raise BadReplica("reconciliation", "an entry is out of order or out of its range")
        if not entry.place[20]:
            raise BadReplica("reconciliation", "an entry of kind 0; kinds begin with 1")
        before = entry.place


FINGERPRINT_BYTES, MARK_BYTES = 8, 5
MAX_PARTS = 32_768  # in one message, about 500 KB
MAX_MARKS = 65_536  # in one message
MAX_ENTRIES = 8192  # in one message, about 500 kB


class RangeMode(IntEnum):
    """The kinds of statement about a part; the number is on the wire."""

    SKIP = 0  # nothing more to say here
    FINGERPRINT = 1  # what I have here has this fingerprint
    MARKS = 2  # what I have here has these marks; only the asker says so
    LIST = 3  # what I have here is this; this and the next only the answerer says
    BESIDES = 4  # what I have besides what you named is this, and these of your marks I lack


class Ranges(msgspec.Struct, frozen=True, array_like=True):
    """The statements of one side about consecutive parts of the places, the first from the beginning on.

    `fingerprints`: of each part of that mode. `marks`: those of each part of mode MARKS or BESIDES. `entries`: of all
    parts of mode LIST or BESIDES, in order of place.
    """

    ends: Annotated[tuple[Annotated[bytes, Meta(max_length=PLACE_BYTES + 1)], ...], Meta(max_length=MAX_PARTS)]
    modes: Annotated[bytes, Meta(max_length=MAX_PARTS)]
    fingerprints: Annotated[bytes, Meta(max_length=MAX_PARTS * FINGERPRINT_BYTES)] = b""
    marks: Annotated[
        tuple[Annotated[bytes, Meta(max_length=MAX_MARKS * MARK_BYTES)], ...], Meta(max_length=MAX_PARTS)
    ] = ()
    entries: Annotated[tuple[RangeEntry, ...], Meta(max_length=MAX_ENTRIES)] = ()


class SaidPart(NamedTuple):
    """A statement about one part. `said`: its fingerprint or its marks."""

    end: bytes
    mode: RangeMode
    said: bytes = b""
    entries: tuple[RangeEntry, ...] = ()


def merged(parts: Iterable[SaidPart]) -> list[SaidPart]:
    """Take consecutive skips together, and leave out those at the end."""
    found = list[SaidPart]()
    for part in parts:
        if found and found[-1].mode == part.mode == RangeMode.SKIP:
            found.pop()
        found.append(part)
    if found and found[-1].mode == RangeMode.SKIP:
        found.pop()
    return found


def encode_parts(parts: Iterable[SaidPart]) -> Ranges:
    """Return the message that holds these parts, in order of their places. Parts that it skips are merged, and left out
    at the end."""
    said = merged(parts)
    return Ranges(
        tuple([part.end for part in said]),
        bytes([part.mode for part in said]),
        b"".join([part.said for part in said if part.mode == RangeMode.FINGERPRINT]),
        tuple([part.said for part in said if part.mode in (RangeMode.MARKS, RangeMode.BESIDES)]),
        tuple([entry for part in said for entry in part.entries]),
    )


def decode_parts(ranges: Ranges) -> Iterator[tuple[bytes, SaidPart]]:
    """Yield each part with its beginning; raises BadReplica where order, counts or modes are broken."""
    if sum([len(each) for each in ranges.marks]) > MAX_MARKS * MARK_BYTES:
        raise BadReplica("reconciliation", f"more than {MAX_MARKS} marks in a message")
    try:
        modes = [RangeMode(mode) for mode in ranges.modes]
        prints = iter(chunks(ranges.fingerprints, FINGERPRINT_BYTES))
        marks, first, begin = iter(ranges.marks), b"", 0
        for end, mode in zip(ranges.ends, modes, strict=True):
            if end <= first:
                raise BadReplica("reconciliation", "parts are out of order")
            said, upto = b"", begin
            if mode == RangeMode.FINGERPRINT:
                said = next(prints)
            elif mode in (RangeMode.MARKS, RangeMode.BESIDES):
                said = next(marks)
            if mode in (RangeMode.LIST, RangeMode.BESIDES):
                upto = bisect_left(ranges.entries, end, begin, key=lambda e: e.place)
            check_entries(ranges.entries[begin:upto], first, end)
            yield first, SaidPart(end, mode, said, ranges.entries[begin:upto])
            first, begin = end, upto
        if begin < len(ranges.entries) or next(prints, None) is not None or next(marks, None) is not None:
            raise BadReplica("reconciliation", "more is said than there are parts")
    except (ValueError, StopIteration) as error:
        raise BadReplica("reconciliation", "what is said does not fit its parts") from error


def chunks(data: bytes, size: int) -> list[bytes]:
    """Divide bytes into pieces of one size. Raises BadReplica where they do not divide."""
    if len(data) % size:
        raise BadReplica("reconciliation", f"{len(data)} bytes do not divide into pieces of {size}")
    return [data[n : n + size] for n in range(0, len(data), size)]
