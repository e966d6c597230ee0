"""Append-only segments: where records lie.

A segment is a file `segment-00000001`, a 16-byte magic and then frames. A frame is a 20-byte header, a head (a
record without its content, or the note that a key range was dropped) and a content, each under a CRC-32 of its own so
that a head can be read alone, each zstd where that saves bytes. A segment may begin with a dictionary, twice; its
records are packed by that, so it is read by what stands in it alone. There a record that is not very large has head and
content in one part, since a page's text stands in both. What a crash may leave is a torn frame at the end of the newest
segment, which the store cuts off. Anything else that does not check is StoreCorrupt to whoever reads it, and passed
over when the index is rebuilt.
"""

import logging
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

from dht import MachineRefuses
from store.errors import StoreCorrupt
from store.record.package import MAX_RECORD_BYTES
from store.record.zstd import Dictionary, expand, squeeze
from store.segments.dictionary_training import DictionaryTraining
from store.segments.file_system import Disk
from store.segments.segment_dictionaries import SegmentDictionaries

log = logging.getLogger(__name__)

MAGIC = b"dse-segment-1\n\0\0"
MAX_PART_BYTES = MAX_RECORD_BYTES + 4096
REMEDY = "it is fetched again from the slot's other owners; check the disk"
_HEADER = struct.Struct(">IIIII")  # CRC of the rest of the header and the head, CRC of the content, lengths, flags
_CHECKED = struct.Struct(">IIII")  # the part of the header that the first CRC covers
_LIKE_HEADER = re.compile(rb"(?=[\s\S]{8}\x00[\s\S]{3}\x00[\s\S]{3}\x00\x00[\x01-\x07][\x00-\x0f])")
_AHEAD_BYTES = 256 << 10  # read at once where frames are read one after the other: a page's has 6 kB or so
_LOOK_BYTES = 1 << 20  # read at once while looking for a header
_HEAD_SQUEEZED, _CONTENT_SQUEEZED, _BY_DICTIONARY, _JOINED, _TYPE_SHIFT = 1, 2, 4, 8, 8
_MOST_JOINED = 1 << 18  # bytes of head and content: reading a head alone expands both, some 0.4 ms at the most
_HEAD_LENGTH = 4  # bytes before a head that a content follows in the same part
MOST_DICTIONARY_BYTES = 1 << 20
PROBE, PROBE_BYTES = "probe", 65_536  # a file that asks whether the disk takes anything again
SEGMENT_NAME = re.compile(r"segment-\d{8,}")
_LIKE_DICTIONARY = re.compile(rb"(?=[\s\S]{8}\x00\x00\x00\x00\x00[\s\S]{3}\x00\x00\x06\x02)")
_WORTH_PACKING = 64
_WORTH_SQUEEZING = 512  # bytes; a visit is mostly hashes and gains nothing


class FrameType(IntEnum):
    """What a frame holds; the number is on disk."""

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


class _ReadAhead:
    """Bytes of one file, read many frames at a time."""

    def __init__(self, disk: Disk, name: str) -> None:
        self._disk, self._name, self._begin, self._data = disk, name, 0, memoryview(b"")

    def read(self, offset: int, size: int) -> memoryview:
        """Return so many bytes from an offset on, fewer where the file ends."""
        at = offset - self._begin
        if at < 0 or at + size > len(self._data):
            self._begin, at = offset, 0
            self._data = memoryview(self._disk.read(self._name, offset, max(size, _AHEAD_BYTES)))
        return self._data[at : at + size]


class Segments:
    """All segments of one disk. Appending, cutting and deleting belong to one thread; reading to any."""

    def __init__(self, disk: Disk, segment_bytes: int, level: int, training: DictionaryTraining | None = None) -> None:
        """`training`: who is told what is written, to make dictionaries of it."""
        self._disk, self._segment_bytes, self._level, self._training = disk, segment_bytes, level, training
        self.numbers = sorted(int(n.removeprefix("segment-")) for n in disk.names() if SEGMENT_NAME.fullmatch(n))
        self.used_bytes = sum(map(self.size, self.numbers))
        self._dictionaries = SegmentDictionaries(self._load_dictionary, level)
        self._coming: Dictionary | None = None  # for the next segment
        self._is_retired = False  # what the newest segment is packed by must not pack another one
        self._is_begun = False  # the newest segment takes what is encoded now
        self._torn_at: int | None = None  # where the newest segment ends, were it not for bytes that would not go

    @property
    def newest(self) -> int:
        """The number of the segment that is written to, 0 before there is one."""
        return self.numbers[-1] if self.numbers else 0

    @property
    def end(self) -> int:
        """Where the newest segment ends: what lies beyond was refused, and is cut off before anything is written."""
        return self.size(self.newest) if self._torn_at is None else self._torn_at

    def size(self, segment: int) -> int:
        """Return the bytes of a segment."""
        return self._disk.size(_name(segment))

    def encode(self, type: FrameType, head: bytes, content: bytes) -> tuple[bytes, int]:
        """Return a frame's bytes for the newest segment, or for one that is begun now, and how many of them are header
        and head; it belongs to the thread that appends."""
        self._begin()
        dictionary = self.dictionary if type in (FrameType.RECORD, FrameType.GROUP) else None
        if self._training is not None and type in (FrameType.RECORD, FrameType.GROUP):
            self._training.take(head, content)
        flags = type << _TYPE_SHIFT | (_BY_DICTIONARY if dictionary else 0)
        if dictionary and content and len(head) + len(content) <= _MOST_JOINED:
            flags |= _JOINED | _HEAD_SQUEEZED
            head, content = dictionary.squeeze(len(head).to_bytes(_HEAD_LENGTH, "big") + head + content), b""
            return _framed(flags, head, content)
        small_head, small_content = self._squeeze(head, dictionary), self._squeeze(content, dictionary)
        flags |= _HEAD_SQUEEZED if small_head is not head else 0
        flags |= _CONTENT_SQUEEZED if small_content is not content else 0
        return _framed(flags, small_head, small_content)

    def packed(self, data: bytes) -> tuple[bytes, int]:
        """Return the frame of a part of a package, which is squeezed already, as `encode` does."""
        self._begin()
        return _framed(FrameType.PACKAGE << _TYPE_SHIFT | _HEAD_SQUEEZED, data, b"")

    @property
    def dictionary(self) -> Dictionary | None:
        """What the newest segment is packed by."""
        return self._dictionaries.of(self.newest) if self.numbers else None

    def is_packed(self, segment: int) -> bool:
        """Tell whether a segment begins with a dictionary."""
        return self._dictionaries.of(segment) is not None

    def offer(self, dictionary: Dictionary) -> None:
        """Begin the next segment with a dictionary: soon, where the newest has none or all there is is little."""
        self._coming, self._is_retired = dictionary, False
        if self.numbers and (self.dictionary is None or self.used_bytes < self._segment_bytes):
            self._open_segment()

    def retire_dictionary(self) -> None:
        """Begin no other segment with the dictionary of this one: it may hold parts of what must not stay."""
        self._coming, self._is_retired = None, True

    def _begin(self) -> None:
        """Begin a segment where there is none, or the newest is full."""
        if not self._is_begun:
            self.mend()
            if not self.numbers or self.size(self.newest) >= self._segment_bytes:
                self._open_segment()
            self._is_begun = True

    def _open_segment(self) -> None:
        """Number a new segment, and say what it is packed by; the first append writes that."""
        dictionary = self._coming or (None if self._is_retired else self.dictionary)
        self.numbers.append(self.newest + 1)
        self._dictionaries.set(self.newest, dictionary)
        self._coming = None
        self._is_retired = self._is_retired and dictionary is None

    def _beginning(self) -> bytes:
        dictionary = self.dictionary
        if dictionary is None:
            return MAGIC
        frame, _ = _framed(FrameType.DICTIONARY << _TYPE_SHIFT | _CONTENT_SQUEEZED, b"", squeeze(dictionary.data))
        return MAGIC + frame + frame

    def _load_dictionary(self, segment: int) -> bytes:
        """Read what a segment begins with; the second copy where the first is damaged, b"" where there is none."""
        begin = self._disk.read(_name(segment), len(MAGIC), 2 * (MOST_DICTIONARY_BYTES + _HEADER.size))
        for match in _LIKE_DICTIONARY.finditer(begin):
            frame = _decode(segment, len(MAGIC) + match.start(), begin[match.start() :], None, content=True)
            if frame is not None:
                return frame.content
        return b""

    def append(self, frames: Sequence[tuple[bytes, int]], *, is_new: bool = False) -> list[SegmentPlace]:
        """Write frames that were encoded since the last append, and sync them: they are durable when this returns.

        `is_new`: begin a new segment, which what was encoded before does not fit.

        Raises MachineRefuses after cutting off what was written, at once or before the next try.
        """
        self.mend()
        if is_new or not self.numbers:
            self._open_segment()
        self._is_begun = False
        name, start = _name(self.newest), self.size(self.newest)
        begin = b"" if start else self._beginning()
        try:
            self._disk.append(name, b"".join([begin, *(data for data, _ in frames)]))
            self._disk.sync(name)
        except MachineRefuses:
            self._torn_at = start
            with suppress(MachineRefuses):  # the first refusal is the one to tell
                self.mend()
            raise
        self.used_bytes += self.size(self.newest) - start
        places, offset = [], start or len(begin)
        for data, head_bytes in frames:
            places.append(SegmentPlace(self.newest, offset, head_bytes, len(data) - head_bytes))
            offset += len(data)
        return places

    def read(self, place: SegmentPlace, *, content: bool) -> Frame | None:
        """Read one frame, None where its segment is gone (compacted since the index was asked). Raises StoreCorrupt."""
        size = place.end - place.offset if content else place.head_bytes
        data = self._disk.read(_name(place.segment), place.offset, size)
        if not data and place.segment not in self.numbers:
            return None
        frame = _decode(place.segment, place.offset, data, self._dictionaries, content=content)
        if frame is None:
            raise self.damaged(place, "its checksum differs")
        return frame

    def copied(self, place: SegmentPlace) -> tuple[bytes, int]:
        """Read and check a frame and return it encoded for `append`, as it lies or packed by another dictionary. Raises
        StoreCorrupt."""
        frame = self.read(place, content=True)
        assert frame is not None  # the one thread that deletes segments is this one
        self._begin()
        if self._dictionaries.of(place.segment) is not self.dictionary:
            return self.encode(frame.type, frame.head, frame.content)
        data = self._disk.read(_name(place.segment), place.offset, place.end - place.offset)
        return data, place.head_bytes

    def frames(self, segment: int, offset: int = 0) -> Iterator[Frame]:
        """Yield every whole frame from an offset on, passing over what is damaged; a torn tail is never whole."""
        end, offset = self.size(segment), max(offset, len(MAGIC))
        ahead = _ReadAhead(self._disk, _name(segment))
        while offset < end:
            frame = self._frame_at(ahead, segment, offset, end)
            if frame is not None:
                yield frame
                offset = frame.place.end
                continue
            found = self._after_damage(ahead, segment, offset, end)
            if found is None:
                return
            log.warning("segment damaged number=%d from=%d to=%d", segment, offset, found)
            offset = found

    def damaged(self, place: SegmentPlace, reason: str) -> StoreCorrupt:
        """Return the error that says what is wrong with a frame."""
        where = f"{self._disk.path}/{_name(place.segment)}"
        return StoreCorrupt(where, f"damaged at byte {place.offset}, {reason}", REMEDY)

    def _after_damage(self, ahead: _ReadAhead, segment: int, offset: int, end: int) -> int | None:
        """Where to go on behind a frame that does not check: where its header says that it ends, or at the next place
        where a frame begins; None where it is the torn tail."""
        header = ahead.read(offset, _HEADER.size)
        if _LIKE_HEADER.match(header):
            _, _, head_len, content_len, _ = _HEADER.unpack(header)
            told = int(offset + _HEADER.size + head_len + content_len)
            if told >= end and segment == self.newest:
                return None
            if told < end and self._frame_at(ahead, segment, told, end) is not None:
                return told
        return self._next_frame(ahead, segment, offset + 1, end)

    def _next_frame(self, ahead: _ReadAhead, segment: int, offset: int, end: int) -> int | None:
        """Where the next whole frame begins: the first place that looks like a header and whose frame checks."""
        while offset < end:
            data = self._disk.read(_name(segment), offset, _LOOK_BYTES)
            for match in _LIKE_HEADER.finditer(data):
                if self._frame_at(ahead, segment, offset + match.start(), end) is not None:
                    return offset + match.start()
            offset += max(1, len(data) - _HEADER.size) if len(data) > _HEADER.size else end
        return None

    def cut(self, segment: int, size: int) -> None:
        """Cut a tail off the newest segment, so that it ends at `size`; refused, it is cut before the next write."""
        if (before := self.size(segment)) > size:
            self.used_bytes -= before - size
            self._torn_at = size
            self.mend()

    def mend(self) -> None:
        """Cut off what a refused write left behind; raises MachineRefuses where that is refused, too."""
        if self._torn_at is not None:
            if self.size(self.newest) > self._torn_at:
                self._disk.truncate(_name(self.newest), self._torn_at)
            self._torn_at = None

    def probe(self) -> None:
        """Raise MachineRefuses unless a small file can be written, synced and deleted."""
        self.mend()
        self._disk.append(PROBE, bytes(PROBE_BYTES))
        self._disk.sync(PROBE)
        self._disk.delete(PROBE)

    def delete(self, segment: int) -> None:
        """Delete a segment that holds nothing alive."""
        self.numbers.remove(segment)
        self.used_bytes -= self.size(segment)
        self._dictionaries.forget(segment)
        self._disk.delete(_name(segment))

    def _frame_at(self, ahead: _ReadAhead, segment: int, offset: int, end: int) -> Frame | None:
        header = ahead.read(offset, _HEADER.size)
        if len(header) < _HEADER.size:
            return None
        _, _, head_len, content_len, _ = _HEADER.unpack(header)
        size = _HEADER.size + head_len + content_len
        if offset + size > end:
            return None
        return _decode(segment, offset, ahead.read(offset, size), self._dictionaries, content=True)

    def _squeeze(self, data: bytes, dictionary: Dictionary | None) -> bytes:
        if len(data) < (_WORTH_PACKING if dictionary else _WORTH_SQUEEZING):
            return data
        small = dictionary.squeeze(data) if dictionary else squeeze(data, self._level)
        return small if len(small) < len(data) else data


def _name(segment: int) -> str:
    return f"segment-{segment:08d}"


def _framed(flags: int, head: bytes, content: bytes) -> tuple[bytes, int]:
    """Put a header before a head and a content; returns how many bytes header and head are, too."""
    checked = _CHECKED.pack(crc32(content), len(head), len(content), flags)
    crc = crc32(head, crc32(checked))
    return b"".join((crc.to_bytes(4, "big"), checked, head, content)), _HEADER.size + len(head)


def _decode(
    segment: int, offset: int, data: bytes | memoryview, dictionaries: SegmentDictionaries | None, *, content: bool
) -> Frame | None:
    """Check and expand one frame; None where it is torn or damaged, or packed by a dictionary that is."""
    if len(data) < _HEADER.size:
        return None
    crc, content_crc, head_len, content_len, flags = _HEADER.unpack_from(data)
    head_bytes = _HEADER.size + head_len
    if len(data) < head_bytes + (content_len if content else 0):
        return None
    view = memoryview(data)  # a part of it is no copy
    body = view[head_bytes : head_bytes + content_len] if content else view[:0]
    if crc32(view[4:head_bytes]) != crc or (content and crc32(body) != content_crc):
        return None
    place = SegmentPlace(segment, offset, head_bytes, content_len)
    try:
        undo, head = _expander(flags, segment, dictionaries), view[_HEADER.size : head_bytes]
        whole = undo(head, MAX_PART_BYTES) if flags & _HEAD_SQUEEZED else bytes(head)
        rest = undo(body, MAX_PART_BYTES) if body and flags & _CONTENT_SQUEEZED else bytes(body)
        if flags & _JOINED:
            end = _HEAD_LENGTH + int.from_bytes(whole[:_HEAD_LENGTH], "big")
            whole, rest = whole[_HEAD_LENGTH:end], whole[end:] if content else b""
        return Frame(FrameType(flags >> _TYPE_SHIFT), whole, rest, place)
    except ValueError:
        return None


def _expander(
    flags: int, segment: int, dictionaries: SegmentDictionaries | None
) -> Callable[[bytes | memoryview, int], bytes]:
    """What undoes the packing of a frame; raises ValueError where its dictionary is missing."""
    if not flags & _BY_DICTIONARY:
        return expand
    dictionary = dictionaries.of(segment) if dictionaries else None
    if dictionary is None:
        raise ValueError("the dictionary of the segment is missing")
    return dictionary.expand
