"""The feed that the index follows: the change log of the store, seen through two small values.

Pure: values and a protocol; `node/crawling/store_change_feed.py` adapts the store to it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from dht import DocumentId, Key


class Image(NamedTuple):
    """An image of a page, by its words."""

    url: str
    text: str  # its own: `alt` and `title`
    caption: str
    heading: str  # above it
    width: int = 0  # pixels, as the page declares them; 0 unknown
    height: int = 0

    @property
    def words(self) -> tuple[str, str, str]:
        """Return the texts by which it is found."""
        return self.text, self.caption, self.heading


@dataclass(frozen=True, slots=True)
class Text:
    """A live document as the index sees it. Everything that ranking may use is here, signed by its fetcher."""

    id: DocumentId
    key: Key
    version: bytes  # the record's digest, 32 bytes
    url: str
    title: str
    headings: tuple[str, ...]
    body: str  # the main text
    language: str
    fetched_at: float
    boilerplate: str = ""  # is searched and adds nothing to a score
    max_snippet: int = -1  # characters of its text that may be shown; -1: any number
    signature: bytes = (
        b""  # of the main text, by its author's word: 16 bytes, nearly equal for near copies; b"" unknown
    )
    published_at: float = 0.0  # by the page's own word, Unix seconds; 0.0 unknown
    modified_at: float = 0.0
    written_at: float = 0.0  # when its author wrote this version, by its own clock
    origin: str = ""  # the archive that it was imported from; "" where it was fetched
    media_type: str = ""  # "" unknown
    images: tuple[Image, ...] = ()
    first_seen: int = 0  # the day that its content was first known: 1 is the first of January 1970; 0 unknown
    site_links: int = -1  # of how many other domains link to its site, the number of bits; -1: nobody has counted them


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """Says that a document became `text`, or left the answers (None: gone, expired, taken down, moved away).

    `written_at`: when its author wrote this version, Unix seconds; 0.0 where it left with no new version."""

    id: DocumentId
    text: Text | None
    written_at: float = 0.0


Read = Callable[[Sequence[tuple[DocumentId, Key]]], Awaitable[Mapping[DocumentId, Text | None]]]
"""Reads documents whose signatures were verified: None for those that nobody has, nothing where it cannot tell."""


class ChangeFeed(Protocol):
    """The store's change log. A cursor is opaque, starts as b"", and survives restarts of both sides."""

    def knows(self, cursor: bytes) -> bool:
        """Tell whether `changes` can go on from here. Where not (another incarnation, too old), documents may have left
        unseen: the follower forgets everything and begins at b"", which is always known."""

    async def changes(self, cursor: bytes, limit: int) -> tuple[Sequence[DocumentChange], bytes]:
        """Return up to `limit` changes after the cursor, oldest first, coalesced by id, and the next cursor.

        It returns at once, maybe empty; where nothing follows, the cursor is the one that was given."""

    def read(self, ids: Sequence[DocumentId]) -> Sequence[DocumentChange]:
        """Return documents as they are in the store now, whatever changed last."""

    def lag(self, cursor: bytes) -> int:
        """Return how many changes follow the cursor, those included that do not concern the index."""

    def sequence(self, cursor: bytes) -> int:
        """Return the number of the last change before the cursor, as the store counts them."""

    async def wait(self, cursor: bytes) -> None:
        """Return when there is something after the cursor."""
