"""Append-only segments: where records lie.

A segment is a file `segment-00000001`, a 16-byte magic and then frames (`frame.py`). It may begin with a dictionary,
twice; its records are packed by that, so it is read by what stands in it alone. A crash may leave a torn frame at the
end of the newest segment, which the store cuts off. Anything else that does not check is StoreCorrupt to its reader,
and passed over when the index is rebuilt.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from dht import MachineRefuses
from store.errors import StoreCorrupt
from store.record.zstd import Dictionary, squeeze
from store.segments.dictionary_training import DictionaryTraining
from store.segments.file_system import Disk
from store.segments.frame import (
    BY_DICTIONARY,
    CHECKSUMS_BYTES,
    CONTENT_SQUEEZED,
    HEAD_LENGTH,
    HEAD_SQUEEZED,
    HEADER,
    JOINED,
    LIKE_DICTIONARY,
    LIKE_HEADER,
    TYPE_SHIFT,
    Frame,
    FrameType,
    SegmentDictionaries,
    SegmentPlace,
    decode,
    framed,
)

log = logging.getLogger(__name__)

MAGIC = b"dse-segment-1\n\0\0"
REMEDY = "it is fetched again from the slot's other owners; check the disk"
_AHEAD_BYTES = 256 << 10  # read at once where frames are read one after the other: a page's has 6 kB or so
_LOOK_BYTES = 1 << 20  # read at once while looking for a header
_MOST_JOINED = 1 << 18  # bytes of head and content: reading a head alone expands both, some 0.4 ms at the most
MOST_DICTIONARY_BYTES = 1 << 20
PROBE, PROBE_BYTES = "probe", 65_536  # a file that asks whether the disk takes anything again
SEGMENT_NAME = re.compile(r"segment-\d{8,}")
_WORTH_PACKING = 64
_WORTH_SQUEEZING = 512  # bytes; a visit is mostly hashes and gains nothing


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
        """Return a frame's bytes, and how many of them are header and head. The frame is for the newest segment, which
        may begin now. Belongs to the thread that appends."""
        self._begin()
        dictionary = self.dictionary if type in (FrameType.RECORD, FrameType.GROUP) else None
        if self._training is not None and type in (FrameType.RECORD, FrameType.GROUP):
            self._training.take(head, content)
        flags = type << TYPE_SHIFT | (BY_DICTIONARY if dictionary else 0)
        if dictionary and content and len(head) + len(content) <= _MOST_JOINED:
            flags |= JOINED | HEAD_SQUEEZED
            head, content = dictionary.squeeze(len(head).to_bytes(HEAD_LENGTH, "big") + head + content), b""
            return framed(flags, head, content)
        small_head, small_content = self._squeeze(head, dictionary), self._squeeze(content, dictionary)
        flags |= HEAD_SQUEEZED if small_head is not head else 0
        flags |= CONTENT_SQUEEZED if small_content is not content else 0
        return framed(flags, small_head, small_content)

    def packed(self, data: bytes) -> tuple[bytes, int]:
        """Return the frame of a part of a package, which is squeezed already, as `encode` does."""
        self._begin()
        return framed(FrameType.PACKAGE << TYPE_SHIFT | HEAD_SQUEEZED, data, b"")

    @property
    def dictionary(self) -> Dictionary | None:
        """The dictionary that packs the newest segment, None where it has none."""
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
        frame, _ = framed(FrameType.DICTIONARY << TYPE_SHIFT | CONTENT_SQUEEZED, b"", squeeze(dictionary.data))
        return MAGIC + frame + frame

    def _load_dictionary(self, segment: int) -> bytes:
        """Read what a segment begins with; the second copy where the first is damaged, b"" where there is none."""
        begin = self._disk.read(_name(segment), len(MAGIC), 2 * (MOST_DICTIONARY_BYTES + HEADER.size))
        for match in LIKE_DICTIONARY.finditer(begin, CHECKSUMS_BYTES):
            at = match.start() - CHECKSUMS_BYTES
            frame = decode(segment, len(MAGIC) + at, begin[at:], None, content=True)
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
        frame = decode(place.segment, place.offset, data, self._dictionaries, content=content)
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
        """Return the byte at which reading continues behind a damaged frame; None where that frame is the torn tail, or
        no frame follows. It is the end that the frame's header gives, or else the next place where a sound frame
        begins."""
        header = ahead.read(offset, HEADER.size)
        if LIKE_HEADER.match(header):
            _, _, head_len, content_len, _ = HEADER.unpack(header)
            told = int(offset + HEADER.size + head_len + content_len)
            if told >= end and segment == self.newest:
                return None
            if told < end and self._frame_at(ahead, segment, told, end) is not None:
                return told
        return self._next_frame(ahead, segment, offset + 1, end)

    def _next_frame(self, ahead: _ReadAhead, segment: int, offset: int, end: int) -> int | None:
        """Return the byte in a segment where the next whole frame begins; None where there is none from `offset` to
        `end` (bytes). A place counts where it looks like a header and the frame behind it is sound."""
        while offset < end:
            data = self._disk.read(_name(segment), offset, _LOOK_BYTES)
            for match in LIKE_HEADER.finditer(data):
                if self._frame_at(ahead, segment, offset + match.start(), end) is not None:
                    return offset + match.start()
            offset += max(1, len(data) - HEADER.size) if len(data) > HEADER.size else end
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
        header = ahead.read(offset, HEADER.size)
        if len(header) < HEADER.size:
            return None
        _, _, head_len, content_len, _ = HEADER.unpack(header)
        size = HEADER.size + head_len + content_len
        if offset + size > end:
            return None
        return decode(segment, offset, ahead.read(offset, size), self._dictionaries, content=True)

    def _squeeze(self, data: bytes, dictionary: Dictionary | None) -> bytes:
        if len(data) < (_WORTH_PACKING if dictionary else _WORTH_SQUEEZING):
            return data
        small = dictionary.squeeze(data) if dictionary else squeeze(data, self._level)
        return small if len(small) < len(data) else data


def _name(segment: int) -> str:
    return f"segment-{segment:08d}"
