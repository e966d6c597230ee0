"""One message of range reconciliation: parts that follow each other, packed by column.

Pure: values only. Lists of one kind lie together, as a mode, a fingerprint or a mark a part, because a message has
thousands of parts. `range_session.py` says what is asked and answered.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from store.errors import BadReplica
from store.record.range_reconciliation import PLACE_BYTES, RangeEntry, check_entries

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
    """Return the message that says these parts; of skips, the least that says as much."""
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
