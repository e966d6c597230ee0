"""aiohttp's parser of responses, made as tolerant as browsers: a head that it refuses is mended, and given to it again.

Sites do not see that their heads are odd or that their bodies break off, since browsers show such pages. A page without
oddities costs one call more for each read. The first bytes of a chunked body are kept as they came. Where the parser
refuses its chunks, `OddChunks` reads the body from the start, without what the parser has passed on. Sizes with bare
line feeds never reach the parser, since it drops a line feed that a chunk begins with.
"""

from collections.abc import Callable, Sequence
from typing import Any

import aiohttp
from aiohttp.http import HttpProcessingError, RawResponseMessage

from crawl.fetch.odd_chunks import BadChunks, OddChunks
from crawl.fetch.odd_head import BadHead, mended_head

Fed = tuple[Sequence[tuple[RawResponseMessage, aiohttp.StreamReader]], bool, bytes]
BAD_CHUNKS = "the body's chunks cannot be told apart"
MAX_KEPT_BYTES = 262_144  # of a chunked response: a server's chunks are odd from the first one on, or at their end
_NOTHING: Fed = ((), False, b"")


class TolerantParser:
    """Parses one response, in the place of the `parser` of aiohttp's ResponseHandler. `make` makes another one;
    `most_bytes`: of a head."""

    def __init__(self, parser: Any, make: Callable[[], Any], most_bytes: int) -> None:
        self._parser, self._make, self._most_bytes = parser, make, most_bytes
        self._head: bytes | None = b""  # what has come of it; None once the body begins
        self._size_line: bytes | None = None  # of a chunked body's first chunk, as far as it has come
        self._received: list[bytes] = []  # the start of a chunked body, none of a long one
        self._received_bytes = 0
        self._chunks: OddChunks | None = None  # reads the body in the parser's place
        self._is_odd = False
        self._body: aiohttp.StreamReader | None = None
        self.is_short = False  # whether the body breaks off
        self.is_reset = False  # the connection was lost, and not closed by the site

    def feed_data(self, data: bytes) -> Fed:
        """Take bytes from the site; return the heads that end in them, and their bodies. Raises HttpProcessingError."""
        if self._head is None:
            return self._feed_body(data)
        self._head += data
        if self._is_odd:
            return self._feed_mended()
        try:
            fed: Fed = self._parser.feed_data(data)
        except HttpProcessingError:
            return self._feed_mended()
        if fed[0] and (fed[0][-1][0].code >= 200 or fed[1]):
            message, self._body = fed[0][-1]
            if message.chunked:
                _, end, start = self._head.partition(b"\r\n\r\n")
                if len(fed[0]) > 1 or not end or self._is_odd_size(start):
                    return self._feed_mended()
                self._keep(start)
            self._head = None
        elif len(self._head) > self._most_bytes:
            return self._feed_mended()
        return fed

    def _feed_mended(self) -> Fed:
        self._is_odd = True
        try:
            mended = mended_head(self._head or b"", self._most_bytes)
        except BadHead as error:
            raise HttpProcessingError(message=str(error)) from error
        if mended is None:
            return (), False, b""
        head, body = mended
        self._head, self._parser = None, self._make()
        fed: Fed = self._parser.feed_data(head)
        self._body = fed[0][-1][1] if fed[0] else None
        self._size_line = b"" if fed[0] and fed[0][-1][0].chunked else None
        if not body or fed[1]:
            return fed
        more = self._feed_body(body)
        return (*fed[0], *more[0]), more[1], more[2]

    def _feed_body(self, data: bytes) -> Fed:
        if self._chunks is not None:
            return self._feed_chunks(self._chunks, data)
        if self._received or self._size_line is not None:
            self._keep(data)
        if self._size_line is not None and self._is_odd_size(self._size_line + data):
            return self._read_anew(0)
        try:
            fed: Fed = self._parser.feed_data(data)
        except HttpProcessingError as error:
            if not self._received or self._body is None:
                self._break_off()
                raise HttpProcessingError(message=BAD_CHUNKS) from error
            return self._read_anew(self._body.total_bytes)
        return fed

    def _is_odd_size(self, start: bytes) -> bool:
        """Tell whether the size of a body's first chunk ends with a bare line feed."""
        end = start.find(b"\n")
        self._size_line = start if end < 0 else None
        return end >= 0 and start[end - 1 : end] != b"\r"

    def _read_anew(self, known_bytes: int) -> Fed:
        """Read the body from its start on as one with odd chunks, of which so many bytes were passed on."""
        self._chunks, received, self._received = OddChunks(), b"".join(self._received), []
        return self._feed_chunks(self._chunks, received, known_bytes=known_bytes)

    def _keep(self, data: bytes) -> None:
        self._received.append(data)
        self._received_bytes += len(data)
        if self._received_bytes > MAX_KEPT_BYTES:
            self._received = []

    def _feed_chunks(self, chunks: OddChunks, data: bytes, *, known_bytes: int = 0) -> Fed:
        """Pass on what is new of a body with odd chunks, and end it where they end."""
        body = self._body
        if body is None or body.is_eof():
            return _NOTHING
        try:
            new = chunks.feed(data)[known_bytes:]
        except BadChunks as error:
            if not self._break_off():
                raise HttpProcessingError(message=BAD_CHUNKS) from error
            return _NOTHING
        if new:
            body.feed_data(new)
        if chunks.is_over:
            body.feed_eof()
        return _NOTHING

    def _break_off(self) -> bool:
        """End the body where it cannot be followed; False where nothing of it has come."""
        body = self._body
        if body is None or body.is_eof() or not body.total_bytes:
            return False
        self.is_short = True
        body.feed_eof()
        return True

    @property
    def is_spent(self) -> bool:
        """Whether nobody can be sure where the next answer on the connection begins."""
        return self._chunks is not None

    def feed_eof(self) -> Any:
        """Note that the connection has ended; raises what aiohttp does where the body is lost with it."""
        if self._chunks is not None:
            if not self._break_off() and self._body is not None and not self._body.is_eof():
                raise HttpProcessingError(message=BAD_CHUNKS)
            return None
        try:
            return self._parser.feed_eof()
        except HttpProcessingError:
            if self.is_reset or not self._break_off():
                raise

    def pause_reading(self) -> None:
        """Stop giving out bytes of the body."""
        self._parser.pause_reading()

    def message_consumed(self) -> None:
        """Note that a head was taken."""
        self._parser.message_consumed()
