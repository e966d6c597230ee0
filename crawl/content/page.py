"""A page and its links, as one fetch and its parsing gave them.

Pure: values only.
"""

import msgspec

from crawl.fetch.sent_request import SentRequest


class Link(msgspec.Struct, frozen=True, array_like=True):
    """A link on a page: canonical URL, anchor text, and whether the page asks not to follow it."""

    url: str
    anchor: str
    nofollow: bool = False


class Page(msgspec.Struct, frozen=True):
    """A fetched page, ready to become a document. `content` is decoded from transfer and content codings."""

    url: str
    fetched_at: float
    status: int
    headers: tuple[tuple[str, str], ...]
    content: bytes
    media_type: str
    charset: str
    language: str
    title: str
    headings: tuple[str, ...]
    text: str
    links: tuple[Link, ...]
    gone: bool = False
    signature: bytes = b""  # tells near duplicates: crawl/content/similarity.py
    description: str = ""
    published_at: float = 0.0  # by its own word, Unix seconds; 0.0 unknown
    modified_at: float = 0.0
    boilerplate: str = ""  # what people see besides the (main) text: crawl/content/boilerplate.py
    max_snippet: int = -1  # characters of its text that may be shown; -1: any number
    noarchive: bool = False  # no copy of it may be shown
    content_digest: bytes = b""  # SHA-256 of the content, where it is known
    sent: SentRequest | None = None  # the request that brought it, where it is known
    unavailable_at: float = 0.0  # Unix seconds from which on it may not be found; 0.0: never
