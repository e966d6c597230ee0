"""A page and its links, and the values that a parser takes and gives: those that travel to a parser process and back.

Pure: values and a protocol; none loads a parser's library. Frames have a 4-byte big-endian length, then msgpack.
"""

from typing import Literal, Protocol

import msgspec

from crawl.content.robots_directives import RobotsDirectives
from crawl.fetch.sent_request import SentRequest


class Link(msgspec.Struct, frozen=True, array_like=True):
    """A link on a page: canonical URL, anchor text, and whether the page asks not to follow it."""

    url: str
    anchor: str
    nofollow: bool = False


class PageImage(msgspec.Struct, frozen=True, array_like=True):
    """An image of a page, by its words: crawl/content/images.py."""

    url: str  # canonical
    text: str  # its `alt` and `title`
    caption: str
    heading: str  # above it
    width: int  # pixels, as the page declares them; 0 unknown
    height: int


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
    signature: bytes = b""  # tells near duplicates: crawl/content/fingerprint.py
    description: str = ""
    published_at: float = 0.0  # by its own word, Unix seconds; 0.0 unknown
    modified_at: float = 0.0
    boilerplate: str = ""  # what people see besides the (main) text: crawl/content/boilerplate.py
    max_snippet: int = -1  # characters of its text that may be shown; -1: any number
    noarchive: bool = False  # no copy of it may be shown
    content_digest: bytes = b""  # SHA-256 of the content, where it is known
    sent: SentRequest | None = None  # the request that brought it, where it is known
    unavailable_at: float = 0.0  # Unix seconds from which on it may not be found; 0.0: never
    images: tuple[PageImage, ...] = ()
    first_seen: int = 0  # the day that its content was first known: 1 is the first of January 1970; 0 unknown
    site_links: int = -1  # of how many other domains were found to link to its site, the number of bits; -1 unknown


Engine = Literal["lexbor", "lxml"]


class ParseTask(msgspec.Struct, frozen=True, array_like=True):
    """One fetched body to read. `header_charset`: the charset parameter of Content-Type, "" without one. `coding`: the
    content codings that it still has; without them it may have `max_bytes`."""

    url: str
    body: bytes
    media_type: str
    header_charset: str
    max_links: int
    max_text_chars: int
    engine: Engine = "lexbor"
    agent: str = ""  # our product token: what pages may say to us alone
    coding: str = ""
    max_bytes: int = 0


class ParseResult(msgspec.Struct, frozen=True, array_like=True):
    """The content of a page. All URLs are canonical; text lines are single blocks, white space collapsed.

    `text` is the main text, `boilerplate` all the rest that people see: crawl/content/boilerplate.py."""

    charset: str
    language: str
    title: str
    headings: tuple[str, ...]
    text: str
    links: tuple[Link, ...]
    directives: RobotsDirectives = RobotsDirectives()
    fingerprint: bytes = b""  # of title and text: crawl/content/fingerprint.py
    signature: bytes = b""  # of the text: crawl/content/fingerprint.py
    description: str = ""
    published_at: float = 0.0  # Unix seconds, 0.0 unknown
    modified_at: float = 0.0
    canonical: str = ""  # the URL that the page names as its own, where that is another one
    boilerplate: str = ""
    feeds: tuple[str, ...] = ()  # URLs of lists of the site's newest pages
    content: bytes = b""  # the body without its codings, where it had any
    content_digest: bytes = b""  # SHA-256 of the body without codings
    moved_to: str = ""  # the literal URL that a refresh or a script moves readers to at once
    moved_by: str = ""  # which of these
    needs_script: bool = False  # its text comes by script: crawl/content/scripts.py
    images: tuple[PageImage, ...] = ()


def too_large(max_bytes: int) -> str:
    """Return the reason why a page is refused that is larger than `max_bytes`."""
    return f"size: larger than {max_bytes} bytes"


class Parsers(Protocol):
    """Parses pages: in processes of their own, in a thread, or by a script in tests."""

    async def parse(self, task: ParseTask) -> ParseResult:
        """Read one page. Raises PageUnreadable where it stalled or crashed every parser, BodyUnfit where its codings
        are broken or it is too large."""

    def expect(self) -> None:
        """Make ready to read a page that is about to be fetched."""

    def waiting(self) -> int:
        """Return how many pages wait to be read, or are being read."""


LENGTH_BYTES = 4


class ParserReply(msgspec.Struct, frozen=True, array_like=True):
    """Tells what became of one task: the parsed page, or why there is none."""

    parsed: ParseResult | None
    reason: str = ""
    is_final: bool = False  # no engine reads it
