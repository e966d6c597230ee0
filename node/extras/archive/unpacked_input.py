"""Reads a file's bytes piece by piece, unpacked where it is gzip, in little memory whatever the file holds.

Pure, but for the stream that it reads from. Archives pack each record as a gzip member of its own, so reading can go on
at the next member behind a broken record. No bytes of a page decide where that is: in a plain file there is no such
place, since a page may hold what looks like a record. Source: RFC 1952 (a file may be many compressed members).
"""

from collections.abc import Iterator
from typing import IO, cast

from isal import isal_zlib

from node.extras.archive.read_limits import ReadLimits

GZIP = b"\x1f\x8b"
RECORD = b"WARC/"
PIECE_BYTES = 1 << 16
PACKED_BYTES = 1 << 14  # what follows a member is copied, so many small members want small pieces
_GZIP_WINDOW = 31  # zlib's name for "with a gzip header"
_IsalError = cast("type[Exception]", isal_zlib.error)  # its stub says: an instance


class Unreadable(ValueError):
    """Says why a record, or the rest of a file, cannot be read."""


class UnpackedInput:
    """A file as lines and stretches of bytes."""

    def __init__(self, file: IO[bytes], limits: ReadLimits) -> None:
        self._pieces = _pieces(file, limits)
        self._held, self._at, self._before = b"", 0, 0
        self._is_member = False  # whether what is held begins a member, of which nothing was read yet

    @property
    def place(self) -> int:
        """How many bytes were read or passed over."""
        return self._before + self._at

    def start(self, most: int) -> bytes:
        """Return up to so many of the first bytes, without reading them; raises Unreadable."""
        if self._at == len(self._held):
            self._read_on(is_inside=False)
        return self._held[self._at : self._at + most]

    def line(self, most: int) -> bytes:
        """Read up to the end of a line, or of the file; raises Unreadable where that is more than `most` bytes."""
        parts: list[bytes] = []
        size, is_over = 0, False
        while not is_over and (self._at < len(self._held) or self._read_on(is_inside=size > 0)):
            end = self._held.find(b"\n", self._at) + 1
            is_over = end > 0
            parts.append(self._take((end or len(self._held)) - self._at))
            size += len(parts[-1])
            if size > most:
                raise Unreadable(f"a line or head is longer than {most} bytes")
        return b"".join(parts)

    def read(self, count: int) -> bytes:
        """Read so many bytes; raises Unreadable where the file, or the record's member, ends before."""
        if count <= len(self._held) - self._at:
            return self._take(count)
        return b"".join(self._stretch(count))

    def skip(self, count: int) -> None:
        """Pass over so many bytes; raises Unreadable as `read` does."""
        for _ in self._stretch(count):
            pass

    def is_over(self) -> bool:
        """Tell whether nothing follows."""
        return self._at == len(self._held) and not self._read_on(is_inside=False)

    def next_member(self) -> bool:
        """Pass over what is left of a broken member; return whether another one follows. May raise Unreadable."""
        while not self._is_member:
            self._at = len(self._held)
            if not self._read_on(is_inside=False):
                return False
        return True

    def _stretch(self, count: int) -> Iterator[bytes]:
        while count:
            if self._at == len(self._held) and not self._read_on(is_inside=True):
                raise Unreadable("the file ends within a record")
            piece = self._take(min(count, len(self._held) - self._at))
            count -= len(piece)
            yield piece

    def _take(self, count: int) -> bytes:
        piece = self._held[self._at : self._at + count]
        self._at += count
        self._is_member = False
        return piece

    def _read_on(self, *, is_inside: bool) -> bool:
        """Take the next piece that holds anything; return whether there is one."""
        for piece, is_first in self._pieces:
            if piece:
                self._before += len(self._held)
                self._held, self._at = piece, 0
                self._is_member = is_first and piece.startswith(RECORD)
                if is_inside and self._is_member:
                    raise Unreadable("a record is shorter than it says")
                return True
        return False


def _pieces(file: IO[bytes], limits: ReadLimits) -> Iterator[tuple[bytes, bool]]:
    """Yield a file's content in pieces, each with whether it begins a gzip member; raises Unreadable."""
    data = file.read(PACKED_BYTES)
    if not data.startswith(GZIP):
        while data:
            yield data, False
            data = file.read(PIECE_BYTES)
        return
    packed, unpacked = len(data), 0
    while data:
        member, is_first = isal_zlib.decompressobj(wbits=_GZIP_WINDOW), True
        while data and not member.eof:
            try:
                piece = member.decompress(data, PIECE_BYTES)
            except _IsalError as error:
                raise Unreadable(f"it is damaged ({error})") from error
            unpacked += len(piece)
            if unpacked > limits.record_bytes + limits.ratio * packed:
                raise Unreadable(f"it unpacks to more than {limits.ratio} times its size")
            yield piece, is_first
            is_first = is_first and not piece
            data = member.unused_data if member.eof else member.unconsumed_tail
            if not data:
                data = file.read(PACKED_BYTES)
                packed += len(data)
