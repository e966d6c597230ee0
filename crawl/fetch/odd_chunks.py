"""Reads a chunked body that no strict parser takes, as browsers read it.

Pure: bytes in, bytes out. Lines may end with bare line feeds, sizes may have spaces after them, and extensions and
trailers may say anything. The body ends with the chunk of size 0.
"""

import re

MAX_LINE_BYTES = 16_384  # of a size and its extensions, as in Chromium
_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?", re.DOTALL)


class BadChunks(ValueError):
    """The chunks of a body cannot be told apart."""


class OddChunks:
    """Reads one body, piece by piece."""

    def __init__(self) -> None:
        self._line = b""  # as far as it has come
        self._left = 0  # bytes of the chunk that are still to come
        self._is_after_chunk = False  # where an empty line stands
        self.is_over = False

    def feed(self, data: bytes) -> bytes:
        """Take bytes of the body; return those that are content. Raises BadChunks."""
        pieces: list[bytes] = []
        at = 0
        while at < len(data) and not self.is_over:
            if self._left:
                pieces.append(data[at : at + self._left])
                at += len(pieces[-1])
                self._left -= len(pieces[-1])
                continue
            end = data.find(b"\n", at)
            self._line += data[at : end if end >= 0 else len(data)]
            line = self._line.rstrip(b"\r")
            size = _SIZE.fullmatch(line)
            if len(line) > MAX_LINE_BYTES or (size is None and line.strip(b" \t")):
                raise BadChunks
            if end < 0:
                break
            at, self._line = end + 1, b""
            self._begin_chunk(int(size[1], 16) if size else None)
        return b"".join(pieces)

    def _begin_chunk(self, size: int | None) -> None:
        """Begin the next chunk; None stands for an empty line, which ends the one before."""
        if size is None and not self._is_after_chunk:
            raise BadChunks
        self._left, self._is_after_chunk = size or 0, size is not None
        self.is_over = size == 0
