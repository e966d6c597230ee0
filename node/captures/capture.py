"""The capture: one version of a page, as archives of other programs tell it.

Pure: values only.
"""

import re
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from msgspec.structs import astuple

from crawl import SentRequest, request_fields
from dht import Slot
from store import Document, Record

DAY_S = 86_400.0
LATEST_S = 253_402_300_799.0  # the last second of the year 9999: no archive format has a later year
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
Headers = tuple[tuple[str, str], ...]


class Capture(msgspec.Struct, frozen=True):
    """One version of a page as an archive tells it: the response head and body as they were fetched."""

    url: str  # canonical, where a crawler of ours fetched it; else as the archive has it
    captured_at: float  # Unix seconds
    status: int
    headers: tuple[tuple[str, str], ...]  # as received: its codings and length are not those of `content`
    content: bytes  # decoded from transfer and content codings
    content_digest: bytes  # SHA-256 of it
    media_type: str = ""
    charset: str = ""
    language: str = ""
    title: str = ""
    text: str = ""
    expires_at: float = 0.0  # 0.0 unknown
    author: bytes = b""  # who signed it; b"" for an import
    request: tuple[tuple[str, str], ...] = ()  # the request's head, where it is known
    noarchive: bool = False  # its author forbids copies: no format writes it
    max_snippet: int = -1  # characters of its text that its author lets be shown to people; -1: any number
    origin: str = ""  # of an import: the archive and the record in it
    record_id: str = ""  # what the archive that it was read from calls it
    links: tuple[str, ...] = ()  # canonical URLs that it leads to, where they are asked for
    changes_at: float = 0.0  # when its next change is expected, by the visits so far; 0.0 unknown, or it has changed


class Lifetime(msgspec.Struct, frozen=True, array_like=True):
    """When a page was there, by its visits. Instants are Unix seconds, 0.0 unknown or never."""

    page: int  # the first 64 bits of its document's id: one page may be listed twice
    first_seen: float  # the noon of the day that it was found first: records have that day alone
    seen_at: float  # when it was found last
    gone_at: float = 0.0  # the newest visit that found it gone: by then it was


class UnreadPart(msgspec.Struct, frozen=True):
    """A part of a slot that could not be read, or `count` pages of it that nobody gave."""

    slot: Slot
    reason: str
    count: int = 0


def capture_of(record: Record, document: Document, *, links: bool = False) -> Capture:
    """Return a stored page as a capture, with its links where they are asked for; raises ValueError where its content
    was withheld."""
    if record.content is None:
        raise ValueError("the content was withheld")
    return Capture(
        url=document.url,
        captured_at=document.fetched_at,
        status=document.status,
        headers=document.headers,
        content=record.content,
        content_digest=record.content_digest or sha256(record.content).digest(),
        media_type=document.media_type,
        charset=document.charset,
        language=document.language,
        title=document.title,
        text=document.text,
        expires_at=record.expires_day * DAY_S,
        author=record.proof.author if record.version.epoch else b"",
        noarchive=document.noarchive,
        max_snippet=document.max_snippet,
        origin=document.origin,
        request=_request(document),
        links=tuple(url for url, _ in document.links) if links else (),
    )


def _request(document: Document) -> tuple[tuple[str, str], ...]:
    """Return the fields of the request that brought a page, none where they are not known."""
    note = document.request
    return request_fields(document.url, SentRequest(*astuple(note))) if note else ()


def instant(at: float) -> datetime:
    """Return an instant as formats can write it; a stranger's record may name any."""
    return datetime.fromtimestamp(min(max(at, 0.0), LATEST_S), UTC)


def one_line(text: str) -> str:
    """Return a text without control characters."""
    return _CONTROL.sub(" ", text) if not text.isprintable() else text
