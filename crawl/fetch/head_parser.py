"""aiohttp's parser of responses, made as tolerant as browsers: a head that it refuses is mended, and given to it again.

Sites do not see that their heads are odd or that their bodies break off, since browsers show such pages. A page without
oddities costs one call more for each read.
"""

from collections.abc import Callable, Sequence
from typing import Any

import aiohttp
from aiohttp.http import HttpProcessingError, RawResponseMessage

from crawl.fetch.odd_head import BadHead, mended_head

Fed = tuple[Sequence[tuple[RawResponseMessage, aiohttp.StreamReader]], bool, bytes]
BAD_CHUNKS = "the body's chunks cannot be told apart"


class TolerantParser:
    """Parses one response, in the place of the `parser` of aiohttp's ResponseHandler. `make` makes another one;
    `most_bytes`: of a head."""

    def __init__(self, parser: Any, make: Callable[[], Any], most_bytes: int) -> None:
        self._parser, self._make, self._most_bytes = parser, make, most_bytes
        self._head: bytes | None = b""  # what has come of it; None once the body begins
        self._is_odd = False
        self._body: aiohttp.StreamReader | None = None
        self.is_short = False  # whether the body breaks off
        self.is_reset = False  # the connection was lost, and not closed by the site

    def feed_data(self, data: bytes) -> Fed:
        """Take bytes from the site; return the heads that end in them, and their bodies. Raises HttpProcessingError."""
        if self._head is None:
            try:
                fed: Fed = self._parser.feed_data(data)
            except HttpProcessingError as error:
                self._break_off()
                raise HttpProcessingError(message=BAD_CHUNKS) from error
            return fed
        self._head += data
        if self._is_odd:
            return self._feed_mended()
        try:
            fed = self._parser.feed_data(data)
        except HttpProcessingError:
            return self._feed_mended()
        if fed[0] and (fed[0][-1][0].code >= 200 or fed[1]):
            self._head, self._body = None, fed[0][-1][1]
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
        if not body or fed[1]:
            return fed
        try:
            more: Fed = self._parser.feed_data(body)
        except HttpProcessingError as error:
            if not self._break_off():
                raise HttpProcessingError(message=BAD_CHUNKS) from error
            return fed
        return (*fed[0], *more[0]), more[1], more[2]

    def _break_off(self) -> bool:
        """End the body where it cannot be followed; False where nothing of it has come."""
        body = self._body
        if body is None or body.is_eof() or not body.total_bytes:
            return False
        self.is_short = True
        body.feed_eof()
        return True

    def feed_eof(self) -> Any:
        """Note that the connection has ended; raises what aiohttp does where the body is lost with it."""
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
