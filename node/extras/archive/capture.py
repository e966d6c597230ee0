"""The capture: one version of a page, as archives of other programs tell it.

Pure: values only.
"""

from hashlib import sha256

import msgspec
from msgspec.structs import astuple

from crawl import SentRequest, request_fields
from store import Document, Record

DAY_S = 86_400.0


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


class ArchiveFlaw(msgspec.Struct, frozen=True):
    """Says what of an archive could not be read."""

    place: int  # bytes before it, in the unpacked file
    reason: str
    url: str = ""


class ExportSummary(msgspec.Struct, frozen=True):
    """Says what a format wrote."""

    captures: int
    content_bytes: int
    forbidden: int  # left out, because their authors forbid copies
    file_bytes: int
    file_digest: bytes  # SHA-256 of the file
    unfit: int = 0  # left out, because the format cannot tell what they are


class ReadLimits(msgspec.Struct, frozen=True):
    """Bounds what one record of an archive may cost; a record beyond them is passed over and named."""

    record_bytes: int = 64 << 20  # unpacked; our crawler keeps pages of a few MB
    head_bytes: int = 1 << 16  # of a record's head, and of the HTTP head in it
    headers: int = 512
    ratio: int = 100  # of unpacked to packed bytes; pages are packed 3 to 20 times, zeros 1,032 times


DEFAULT_LIMITS = ReadLimits()


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
