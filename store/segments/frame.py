"""One frame of a segment: how it is put into bytes, checked and expanded.

Pure but for a lock: bytes in, bytes out. A frame is a 20-byte header, a head (a record without its content, or the note
that a key range was dropped) and a content. Head and content have a CRC-32 each, so that a head can be read alone, and
are zstd where that saves bytes. Where a dictionary packs a record that is not very large, head and content are one
part, since a page's text stands in both.

A segment begins with its own dictionary, twice, so that one damage spares one. Many segments have the same one, which
is in memory once then.
"""

import re
import struct
import threading
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

from store.record.package import MAX_RECORD_BYTES
from store.record.zstd import Dictionary, expand

MOST_SEGMENTS, MOST_DICTIONARIES = 1024, 16  # remembered; a dictionary takes some 400 kB


class SegmentDictionaries:
    """Finds the dictionary of a segment. Any thread asks."""

    def __init__(self, load: Callable[[int], bytes], level: int) -> None:
        """`load` reads the dictionary that a segment begins with, b"" where it has none."""
        self._load, self._level = load, level
        self._known: dict[int, Dictionary | None] = {}
        self._lock = threading.Lock()

    def of(self, segment: int) -> Dictionary | None:
        """Return the dictionary of a segment, None where it has none."""
        try:
            return self._known[segment]
        except KeyError:
            return self.set(segment, self._made(self._load(segment)))

    def set(self, segment: int, dictionary: Dictionary | None) -> Dictionary | None:
        """Take note of the dictionary that a segment begins with."""
        with self._lock:
            self._known[segment] = dictionary
            while len(self._known) > MOST_SEGMENTS or len(set(map(id, self._known.values()))) > MOST_DICTIONARIES + 1:
                del self._known[next(iter(self._known))]
        return dictionary

    def forget(self, segment: int) -> None:
        """Forget a segment that is gone."""
        with self._lock:
            self._known.pop(segment, None)

    def _made(self, data: bytes) -> Dictionary | None:
        if not data:
            return None
        with self._lock:
            same = next((known for known in self._known.values() if known is not None and known.data == data), None)
        return same or Dictionary(data, self._level)


MAX_PART_BYTES = MAX_RECORD_BYTES + 4096
HEADER = struct.Struct(">IIIII")  # CRC of the rest of the header and the head, CRC of the content, lengths, flags
CHECKSUMS_BYTES = 8  # of a header
_CHECKED = struct.Struct(">IIII")  # the part of the header that the first CRC covers
LIKE_HEADER = re.compile(rb"(?=[\s\S]{8}\x00[\s\S]{3}\x00[\s\S]{3}\x00\x00[\x01-\x07][\x00-\x0f])")
HEAD_SQUEEZED, CONTENT_SQUEEZED, BY_DICTIONARY, JOINED, TYPE_SHIFT = 1, 2, 4, 8, 8
HEAD_LENGTH = 4  # bytes before a head that a content follows in the same part
LIKE_DICTIONARY = re.compile(rb"\x00(?=\x00{4}[\s\S]{3}\x00\x00\x06\x02)")  # from its lengths on


class FrameType(IntEnum):
    """The kinds of frame; the number is on disk."""

    RECORD = 1
    DROP = 2  # head: first and last key of a range, and the day; every earlier record in it was given away
    GROUP = 3  # head: many small records, see `store/segments/record_group.py`
    GRANTS = 4  # head: a list of grants, see `store/catalog/grant_table.py`
    DICTIONARY = 6  # content: by what the records of this segment are packed; a segment begins with it, twice
    PACKAGE = 7  # head: several records with their contents, as they came, see `store/record/package_part.py`


class SegmentPlace(NamedTuple):
    """Where a frame lies, and where in it the record.

    `part`: 0 where the frame is the record's own, else 256 times its number among `part` % 256 records."""

    segment: int
    offset: int
    head_bytes: int  # header and head
    content_bytes: int
    part: int = 0

    @property
    def end(self) -> int:
        """The offset at which the frame ends."""
        return self.offset + self.head_bytes + self.content_bytes

    @property
    def share_bytes(self) -> int:
        """How many bytes of the frame the record takes."""
        return (self.head_bytes + self.content_bytes) // max(1, self.part % 256)

    def of(self, number: int, count: int) -> "SegmentPlace":
        """Return the place of one of `count` records in this frame."""
        return SegmentPlace(self.segment, self.offset, self.head_bytes, self.content_bytes, number << 8 | count)


class Frame(NamedTuple):
    """A frame that was read and checked; `content` is b"" where it was not asked for."""

    type: FrameType
    head: bytes
    content: bytes
    place: SegmentPlace


def framed(flags: int, head: bytes, content: bytes) -> tuple[bytes, int]:
    """Return a header, a head and a content as one frame, and how many bytes header and head are."""
    checked = _CHECKED.pack(crc32(content), len(head), len(content), flags)
    crc = crc32(head, crc32(checked))
    return b"".join((crc.to_bytes(4, "big"), checked, head, content)), HEADER.size + len(head)


def decode(
    segment: int, offset: int, data: bytes | memoryview, dictionaries: SegmentDictionaries | None, *, content: bool
) -> Frame | None:
    """Return one frame, checked and expanded; None where it is torn or damaged, or packed by a dictionary that is."""
    if len(data) < HEADER.size:
        return None
    crc, content_crc, head_len, content_len, flags = HEADER.unpack_from(data)
    head_bytes = HEADER.size + head_len
    if len(data) < head_bytes + (content_len if content else 0):
        return None
    view = memoryview(data)  # a part of it is no copy
    body = view[head_bytes : head_bytes + content_len] if content else view[:0]
    if crc32(view[4:head_bytes]) != crc or (content and crc32(body) != content_crc):
        return None
    place = SegmentPlace(segment, offset, head_bytes, content_len)
    try:
        undo, head = _expander(flags, segment, dictionaries), view[HEADER.size : head_bytes]
        whole = undo(head, MAX_PART_BYTES) if flags & HEAD_SQUEEZED else bytes(head)
        rest = undo(body, MAX_PART_BYTES) if body and flags & CONTENT_SQUEEZED else bytes(body)
        if flags & JOINED:
            end = HEAD_LENGTH + int.from_bytes(whole[:HEAD_LENGTH], "big")
            whole, rest = whole[HEAD_LENGTH:end], whole[end:] if content else b""
        return Frame(FrameType(flags >> TYPE_SHIFT), whole, rest, place)
    except ValueError:
        return None


def _expander(
    flags: int, segment: int, dictionaries: SegmentDictionaries | None
) -> Callable[[bytes | memoryview, int], bytes]:
    """Return the function that undoes the packing of a frame; raises ValueError where its dictionary is missing."""
    if not flags & BY_DICTIONARY:
        return expand
    dictionary = dictionaries.of(segment) if dictionaries else None
    if dictionary is None:
        raise ValueError("the dictionary of the segment is missing")
    return dictionary.expand
