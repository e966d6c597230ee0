"""Append-only segments: where records lie.

A segment is a file `segment-00000001`, a 16-byte magic and then frames. A frame is a 20-byte header, a head (a
record without its content, or the note that a key range was dropped) and a content, each under a CRC-32 of its own so
that a head can be read alone, each zstd where that saves bytes. What a crash may leave is a torn frame at the end of
the newest segment, which the store cuts off. Anything else that does not check is StoreCorrupt to whoever reads it,
and passed over when the index is rebuilt.
"""

import logging
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

from dht import MachineRefuses
from store.disk.file_system import Disk
from store.errors import StoreCorrupt
from store.record.package import MAX_RECORD_BYTES
from store.record.zstd import expand, squeeze

log = logging.getLogger(__name__)

MAGIC = b"dse-segment-1\n\0\0"
MAX_PART_BYTES = MAX_RECORD_BYTES + 4096
REMEDY = "it is fetched again from the slot's other owners; check the disk"
_HEADER = struct.Struct(">IIIII")  # CRC of the rest of the header and the head, CRC of the content, lengths, flags
_CHECKED = struct.Struct(">IIII")  # the part of the header that the first CRC covers
_LIKE_HEADER = re.compile(rb"(?=[\s\S]{8}\x00[\s\S]{3}\x00[\s\S]{3}\x00\x00[\x01-\x04][\x00-\x03])")
_MOST_FRAMES_BYTES = 16 << 10  # read at once: a page's frame has 6 kB or so
_LOOK_BYTES = 1 << 20  # read at once while looking for a header
_HEAD_SQUEEZED, _CONTENT_SQUEEZED, _TYPE_SHIFT = 1, 2, 8
PROBE, PROBE_BYTES = "probe", 65_536  # a file that asks whether the disk takes anything again
SEGMENT_NAME = re.compile(r"segment-\d{8,}")
_WORTH_SQUEEZING = 512  # bytes; a visit is mostly hashes and gains nothing


class FrameType(IntEnum):
    """What a frame holds; the number is on disk."""

    RECORD = 1
    DROP = 2  # head: first and last key of a range, and the day; every earlier record in it was given away
    GROUP = 3  # head: many small records, see `store/disk/record_group.py`
    GRANTS = 4  # head: a list of grants, see `store/disk/grant_table.py`
    WEAK_GRANTS = 5  # head: such a list, of those that were weak when they came


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


class Segments:
    """All segments of one disk. Appending, cutting and deleting belong to one thread; reading to any."""

    def __init__(self, disk: Disk, segment_bytes: int, level: int) -> None:
        self._disk, self._segment_bytes, self._level = disk, segment_bytes, level
        self.numbers = sorted(int(n.removeprefix("segment-")) for n in disk.names() if SEGMENT_NAME.fullmatch(n))
        self.used_bytes = sum(map(self.size, self.numbers))
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
        """Return a frame's bytes, and how many of them are header and head."""
        flags = type << _TYPE_SHIFT
        small_head, small_content = self._squeeze(head), self._squeeze(content)
        flags |= _HEAD_SQUEEZED if small_head is not head else 0
        flags |= _CONTENT_SQUEEZED if small_content is not content else 0
        content_crc = crc32(small_content)
        checked = _CHECKED.pack(content_crc, len(small_head), len(small_content), flags)
        crc = crc32(small_head, crc32(checked))
        return b"".join((crc.to_bytes(4, "big"), checked, small_head, small_content)), _HEADER.size + len(small_head)

    def append(self, frames: Sequence[tuple[bytes, int]], *, is_new: bool = False) -> list[SegmentPlace]:
        """Write encoded frames to the newest segment, or a new one, and sync it: they are durable when this returns.

        Raises MachineRefuses after cutting off what was written, at once or before the next try.
        """
        self.mend()
        if is_new or not self.numbers or self.size(self.newest) >= self._segment_bytes:
            self.numbers.append(self.newest + 1)
        name, start = _name(self.newest), self.size(self.newest)
        try:
            self._disk.append(name, b"".join([b"" if start else MAGIC, *(data for data, _ in frames)]))
            self._disk.sync(name)
        except MachineRefuses:
            self._torn_at = start
            with suppress(MachineRefuses):  # the first refusal is the one to tell
                self.mend()
            raise
        self.used_bytes += self.size(self.newest) - start
        places, offset = [], start or len(MAGIC)
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
        frame = _decode(place.segment, place.offset, data, content=content)
        if frame is None:
            raise self.damaged(place, "its checksum differs")
        return frame

    def raw(self, place: SegmentPlace) -> tuple[bytes, int]:
        """Read and check an encoded frame as it lies, ready for `append`."""
        self.read(place, content=True)
        data = self._disk.read(_name(place.segment), place.offset, place.end - place.offset)
        return data, place.head_bytes

    def frames(self, segment: int, offset: int = 0) -> Iterator[Frame]:
        """Yield every whole frame from an offset on, passing over what is damaged; a torn tail is never whole."""
        end, offset = self.size(segment), max(offset, len(MAGIC))
        while offset < end:
            frame = self._frame_at(segment, offset, end)
            if frame is not None:
                yield frame
                offset = frame.place.end
                continue
            found = self._after_damage(segment, offset, end)
            if found is None:
                return
            log.warning("segment damaged number=%d from=%d to=%d", segment, offset, found)
            offset = found

    def damaged(self, place: SegmentPlace, reason: str) -> StoreCorrupt:
        """Return the error that says what is wrong with a frame."""
        where = f"{self._disk.path}/{_name(place.segment)}"
        return StoreCorrupt(where, f"damaged at byte {place.offset}, {reason}", REMEDY)

    def _after_damage(self, segment: int, offset: int, end: int) -> int | None:
        """Where to go on behind a frame that does not check: where its header says that it ends, or at the next place
        where a frame begins; None where it is the torn tail."""
        header = self._disk.read(_name(segment), offset, _HEADER.size)
        if _LIKE_HEADER.match(header):
            _, _, head_len, content_len, _ = _HEADER.unpack(header)
            told = int(offset + _HEADER.size + head_len + content_len)
            if told >= end and segment == self.newest:
                return None
            if told < end and self._frame_at(segment, told, end) is not None:
                return told
        return self._next_frame(segment, offset + 1, end)

    def _next_frame(self, segment: int, offset: int, end: int) -> int | None:
        """Where the next whole frame begins: the first place that looks like a header and whose frame checks."""
        while offset < end:
            data = self._disk.read(_name(segment), offset, _LOOK_BYTES)
            for match in _LIKE_HEADER.finditer(data):
                if self._frame_at(segment, offset + match.start(), end) is not None:
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
        self._disk.delete(_name(segment))

    def _frame_at(self, segment: int, offset: int, end: int) -> Frame | None:
        data = self._disk.read(_name(segment), offset, _MOST_FRAMES_BYTES)
        if len(data) < _HEADER.size:
            return None
        _, _, head_len, content_len, _ = _HEADER.unpack_from(data)
        size = _HEADER.size + head_len + content_len
        if offset + size > end:
            return None
        whole = data[:size] if size <= len(data) else self._disk.read(_name(segment), offset, size)
        return _decode(segment, offset, whole, content=True)

    def _squeeze(self, data: bytes) -> bytes:
        if len(data) < _WORTH_SQUEEZING:
            return data
        small = squeeze(data, self._level)
        return small if len(small) < len(data) else data


def _name(segment: int) -> str:
    return f"segment-{segment:08d}"


def _decode(segment: int, offset: int, data: bytes, *, content: bool) -> Frame | None:
    """Check and expand one frame; None where it is torn or damaged."""
    if len(data) < _HEADER.size:
        return None
    crc, content_crc, head_len, content_len, flags = _HEADER.unpack_from(data)
    head_bytes = _HEADER.size + head_len
    if len(data) < head_bytes + (content_len if content else 0) or crc32(data[4:head_bytes]) != crc:
        return None
    body = data[head_bytes:] if content else b""
    if content and crc32(body) != content_crc:
        return None
    head = data[_HEADER.size : head_bytes]
    try:
        head = expand(head, MAX_PART_BYTES) if flags & _HEAD_SQUEEZED else head
        body = expand(body, MAX_PART_BYTES) if body and flags & _CONTENT_SQUEEZED else body
        return Frame(
            FrameType(flags >> _TYPE_SHIFT), head, body, SegmentPlace(segment, offset, head_bytes, content_len)
        )
    except ValueError:
        return None
