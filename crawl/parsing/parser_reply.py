"""The answer of a parser process. Frames have a 4-byte big-endian length, then msgpack.

Pure: values, which load no parser's library.
"""

import msgspec

from crawl.content.parse_task import ParseResult

LENGTH_BYTES = 4


class ParserReply(msgspec.Struct, frozen=True, array_like=True):
    """Tells what became of one task: the parsed page, or why there is none."""

    parsed: ParseResult | None
    reason: str = ""
    is_final: bool = False  # no engine reads it
