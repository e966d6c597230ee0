"""Reads the addresses of the responses in a WARC, compressed or not, in little memory whatever the file holds.

Only the heads of records are kept, each of a bounded size; a compressed file is inflated piece by piece, and bodies are
passed over. Sources: ISO 28500; RFC 1952 (a file may be many compressed members).
"""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

GZIP = b"\x1f\x8b"
PIECE_BYTES = 1 << 16
MAX_HEAD_BYTES = 1 << 16  # of one record; honest ones have a thousandth of it
_GZIP_WINDOW = 31  # zlib's name for "with a gzip header"


def response_targets(file: BinaryIO) -> Iterator[str]:
    """Yield the addresses of the responses, in order; raises ValueError where the file is no WARC, or ends within."""
    source = _Source(inflated(file))
    is_empty = True
    while head := source.head():
        is_empty = False
        target = head.get("warc-target-uri", "").strip("<>")  # some writers put it in angle brackets
        if head.get("warc-type") == "response" and target.startswith(("http://", "https://")):
            yield target
        length = head.get("content-length", "")
        if not (length.isascii() and length.isdecimal() and len(length) < 16):
            raise ValueError("a record does not say how long it is")
        source.skip(int(length))
    if is_empty:
        raise ValueError("it holds no record")


def inflated(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file's content in pieces of at most PIECE_BYTES, unpacked where it is compressed; raises ValueError."""
    data = file.read(PIECE_BYTES)
    if not data.startswith(GZIP):
        while data:
            yield data
            data = file.read(PIECE_BYTES)
        return
    member = zlib.decompressobj(_GZIP_WINDOW)
    while data := data or file.read(PIECE_BYTES):
        try:
            yield member.decompress(data, PIECE_BYTES)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        data = member.unused_data if member.eof else member.unconsumed_tail
        if member.eof:
            member = zlib.decompressobj(_GZIP_WINDOW)
            data = data or file.read(PIECE_BYTES)


class _Source:
    """Bytes that come in pieces, as heads and stretches."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._held, self._at = pieces, b"", 0

    def head(self) -> dict[str, str]:
        """Read a record's head as fields by their names in small letters; empty at the end of the file."""
        fields, room = {"": ""}, MAX_HEAD_BYTES
        while not (line := self._line(room)).strip():
            if not line:
                return {}
            room -= len(line)
        if not line.startswith(b"WARC/"):
            raise ValueError("a record does not begin with WARC/")
        while (line := self._line(room)).strip():
            room -= len(line)
            name, _, value = line.decode(errors="replace").partition(":")
            fields[name.strip().lower()] = value.strip()
        return fields

    def skip(self, count: int) -> None:
        """Pass over so many bytes."""
        while count > (here := len(self._held) - self._at):
            count, self._at = count - here, len(self._held)
            if not self._read_on():
                raise ValueError("it ends within a record")
        self._at += count

    def _line(self, most: int) -> bytes:
        """Read up to the end of a line, or of the file."""
        while (end := self._held.find(b"\n", self._at) + 1) == 0 and len(self._held) - self._at <= most:
            if not self._read_on():
                end = len(self._held)
                break
        if end - self._at > most or (end == 0 and self._held):
            raise ValueError(f"the head of a record is longer than {MAX_HEAD_BYTES} bytes")
        line, self._at = self._held[self._at : end], end
        return line

    def _read_on(self) -> bool:
        """Take the next piece that holds anything; return whether there is one."""
        piece = next(filter(None, self._pieces), b"")
        self._held, self._at = self._held[self._at :] + piece, 0
        return bool(piece)
