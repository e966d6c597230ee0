"""Where the next page begins: an opaque text that any node understands.

Pure: values only. It holds the last result's id, how many results were shown, its query, and the statistics by which
that was scored. Where these have changed, so has the order.
"""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from typing import Annotated

import msgspec
from msgspec import Meta

from index.errors import QueryError
from index.query.collection_statistics import Statistics
from index.query.search_rules import SearchRules
from index.shard.messages import Id


class PageCursor(msgspec.Struct, frozen=True, array_like=True):
    """The last result of a page. `shown`: results on this page and those before it, after folding."""

    query: Annotated[bytes, Meta(min_length=8, max_length=8)]
    id: Id
    shown: Annotated[int, Meta(ge=1, le=1 << 20)]
    statistics: Annotated[bytes, Meta(min_length=8, max_length=8)]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(PageCursor)


def query_digest(
    query: str, language: str, site: str, is_by_date: bool = False, is_verbatim: bool = False, asker_language: str = ""
) -> bytes:
    """Hash a query to what binds a cursor to it."""
    parts = [query, language, site, *(["date"] if is_by_date else []), *(["verbatim"] if is_verbatim else [])]
    parts += [f"for {asker_language}"] if asker_language else []
    return sha256(b"\0".join(part.encode() for part in parts)).digest()[:8]


def statistics_digest(statistics: Statistics, rules: SearchRules) -> bytes:
    """Hash the statistics and the rules that an order follows from."""
    numbers = (*rules.numbers, statistics.documents, *statistics.lengths, *statistics.df)
    return sha256(_encoder.encode(numbers)).digest()[:8]


def write_cursor(cursor: PageCursor) -> str:
    """Write a cursor as text that is safe in a URL."""
    return urlsafe_b64encode(_encoder.encode(cursor)).decode().rstrip("=")


def read_cursor(text: str, digest: bytes) -> PageCursor | None:
    """Read the cursor of this query, None for "" (the first page). Raises QueryError for anything else."""
    if not text:
        return None
    try:
        cursor = _decoder.decode(urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
    except (msgspec.MsgspecError, binascii.Error, ValueError):
        raise QueryError(None, "cursor: is damaged; ask for the first page again") from None
    if cursor.query != digest:
        raise QueryError(None, "cursor: belongs to another query; ask for the first page again")
    return cursor
