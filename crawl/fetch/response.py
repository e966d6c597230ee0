"""The result of one request, whether its body is what its media type says, and the protocol of a maker of requests.

Pure: values and a protocol. Servers name types by file names, or not at all. The tables are those of the WHATWG MIME
Sniffing standard, much reduced: a type that was given is believed, but for bodies that cannot be of it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Protocol

import msgspec
from msgspec.structs import replace

from crawl.errors import AddressDenied, BodyUnreadable, FetchFailed
from crawl.fetch.content_codings import BadCoding, decode_body
from crawl.fetch.sent_request import SentRequest


class Fetched(msgspec.Struct, frozen=True):
    """One response. `body` is decoded from transfer codings and cut at the fetch's bound. `coding` names the content
    codings that it still has, since pages are opened where they are parsed."""

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]  # as received, bounded
    body: bytes
    cut: bool  # the body went on beyond the bound
    latency_s: float  # from the request to the last byte
    address: str  # the literal address that answered, "" unknown
    coding: str = ""  # as in Content-Encoding, in lower case
    sent: SentRequest | None = None  # the request, where this node made it or an archive tells it

    def opened(self, cap: int) -> "Fetched":
        """Return the response without content codings, cut at `cap` bytes; raises BodyUnreadable for broken ones."""
        if not self.coding:
            return self
        try:
            body, cut = decode_body(self.body, self.coding, cap)
        except BadCoding as error:
            raise BodyUnreadable(self.url, broken_coding(error)) from error
        return replace(self, body=body, cut=self.cut or cut, coding="")

    def start(self, size: int) -> bytes:
        """Return the first bytes without content codings, b"" where they are broken: the page's reader finds out."""
        try:
            return self.opened(size).body[:size]
        except BodyUnreadable:
            return b""

    def header(self, name: str) -> str:
        """Return the first header of that name, "" without one."""
        name, length = name.lower(), len(name)
        for key, value in self.headers:
            if len(key) == length and key.lower() == name:
                return value
        return ""

    @property
    def is_success(self) -> bool:
        """Whether the body is what was asked for: 2xx, but for those without content, and a part that is not all."""
        if self.status == 200:
            return True
        if self.status == 206:
            part = _RANGE.fullmatch(self.header("Content-Range").strip())
            return part is not None and int(part[1]) + 1 == int(part[2])
        return 200 <= self.status < 300 and self.status not in (204, 205)

    @property
    def media_type(self) -> str:
        """Return the essence of Content-Type in lower case, "" where no field of it can be parsed."""
        return self._content_type()[0]

    @property
    def header_charset(self) -> str:
        """Return the charset parameter of Content-Type, "" without one."""
        return self._content_type()[1]

    @property
    def read_as(self) -> str:
        """Return the media type that the body is read as: the declared one, or by its first bytes where that is no use;
        "" where it is not known."""
        declared = self.media_type
        declared = _WRITTEN_AS.get(declared, declared)
        if declared in READ_TYPES:
            start = self.start(len(_PDF_MAGIC)) if ".pdf" in self.url else self.body  # without codings, but for files
            return PDF_TYPE if start.startswith(_PDF_MAGIC) else declared
        if not declared.endswith(_MACROS) and (found := _file_type(self)):
            return found
        if declared in _XML_TYPES and _XHTML.search(self.start(_SNIFFED_BYTES)):
            return XHTML_TYPE
        return _sniffed(self.start(_SNIFFED_BYTES), self.header(_TYPE)) if declared in _NO_TYPE else declared

    def _content_type(self) -> tuple[str, str]:
        fields = [value for name, value in self.headers if len(name) == len(_TYPE) and name.lower() == _TYPE]
        return _read_type(*fields)

    def retry_after_s(self, now: float) -> float:
        """Return Retry-After in seconds from `now` (Unix seconds), 0 without a usable one."""
        value = self.header("Retry-After").strip()
        if not value:
            return 0.0
        if value.isascii() and value.isdigit():
            return float(value[:9])
        try:
            at = parsedate_to_datetime(value)
            at = at if at.tzinfo else at.replace(tzinfo=UTC)  # HTTP dates are GMT (RFC 9110, 5.6.7)
            return max(0.0, at.timestamp() - now)
        except (ValueError, TypeError, OverflowError):
            return 0.0


@dataclass(eq=False)
class BodyShort(FetchFailed):
    """The site closed the connection before the end of the body. `fetched` has what came before: all of the page where
    the site always miscounts, else it comes when it is asked for again."""

    fetched: Fetched


class Fetcher(Protocol):
    """Makes one bounded GET; redirects are answers like any other."""

    async def fetch(self, url: str, headers: Mapping[str, str], max_bytes: int) -> Fetched:
        """GET a URL; raises FetchFailed, AddressRefused or FamilyMissing."""


def broken_coding(error: BadCoding) -> str:
    """Return the reason given for a body that is not what its codings say."""
    return f"coding: {error}"


Locate = Callable[[str], Awaitable[str]]
"""The literal address that a fetch of this URL will try first, "" where none is known here; never raises."""

FindElsewhere = Callable[[str], Awaitable[Fetched | None]]
"""Returns the result for a URL from another source than its site; None where the site has to be asked. Never raises."""

FindWay = Callable[[str], Awaitable[None]]
"""Raises what a fetch of this URL would where no way leads to its host from here; the host is not asked."""

JudgeAddress = Callable[[str, str], AddressDenied | None]
"""Returns what to raise where a rule, or this node's operator, lets nobody contact a host at an address; else None."""

BandwidthWait = Callable[[], float]
"""Seconds until another fetch may begin, as far as the owner of this machine limits what it takes from the web."""


async def anywhere(url: str) -> None:
    """Return, as a `FindWay` to which a way leads everywhere."""


def permitted(host: str, address: str) -> None:
    """Return None, as a `JudgeAddress` that permits all."""


async def nowhere(url: str) -> str:
    """Return "", as a `Locate` that knows nothing: sites count at their address once they have answered."""
    return ""


OTHER_TYPE = "media type"  # what such reasons begin with
PDF_TYPE = "application/pdf"
XHTML_TYPE = "application/xhtml+xml"
HTML_TYPES = frozenset(("text/html", XHTML_TYPE))
_OPEN_XML, _OPEN_DOCUMENT = "application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument."
_WORD, _SHEET, _SLIDES = (
    _OPEN_XML + each for each in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
)
_EPUB, RTF_TYPE = "application/epub+zip", "application/rtf"
OFFICE_TYPES = frozenset(
    (
        *(_WORD, _SHEET, _SLIDES, _EPUB, RTF_TYPE, "text/rtf", "application/x-rtf", "text/richtext"),
        *(_OPEN_XML + each for each in ("wordprocessingml.template", "spreadsheetml.template")),
        *(_OPEN_XML + each for each in ("presentationml.slideshow", "presentationml.template")),
        *(_OPEN_DOCUMENT + each for each in ("text", "spreadsheet", "presentation")),
        *(_OPEN_DOCUMENT + each for each in ("text-template", "spreadsheet-template", "presentation-template")),
    )
)
READ_TYPES = HTML_TYPES | {"text/plain", PDF_TYPE} | OFFICE_TYPES
_WRITTEN_AS = {"text/markdown": "text/plain", "text/x-markdown": "text/plain"}
_XML_TYPES = frozenset(("text/xml", "application/xml"))
_XHTML = re.compile(rb"<html\s[^>]*xmlns\s*=\s*[\"']http://www\.w3\.org/1999/xhtml[\"']")
_MACROS = ".macroenabled.12"
_OLD_OFFICE = {
    "application/msword": "Word",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.ms-powerpoint": "PowerPoint",
}
_PDF_MAGIC = b"%PDF-"
ZIP_MAGIC, OLE_MAGIC, RTF_MAGIC = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"{\\rtf"
_MIMETYPE = re.compile(rb"PK\x03\x04.{26}mimetype(application/[a-z0-9.+-]+)", re.DOTALL)  # the first entry, not packed
_MAIN_PARTS = ((b"word/document", _WORD), (b"xl/workbook", _SHEET), (b"ppt/presentation", _SLIDES))
_TYPE = "content-type"
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_ESSENCE = re.compile(rf"[ \t\r\n]*({_TOKEN}/{_TOKEN})[ \t\r\n]*(?:;|$)")
_CHARSET = re.compile(r"(?:^|[;\s])charset\s*=\s*[\"']?([^\s;\"',]+)", re.IGNORECASE)
_RANGE = re.compile(r"bytes 0-(\d{1,18})/(\d{1,18})")
_REMEMBERED = 256  # values of Content-Type
_NO_TYPE = frozenset(("", "*/*", "unknown/unknown", "application/unknown"))
_MARKUP = re.compile(  # 7.1: what the first bytes of a page of no known type are
    rb"[\t\n\f\r ]*<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p)[ >]|!--)",
    re.IGNORECASE,
)
_OTHER = re.compile(  # 6.1 to 6.4 and 7.1: images, sound, video, fonts, archives, PDF; and programs, by the same reason
    rb"\xff\xd8\xff|\x89PNG\r\n|GIF8[79]a|RIFF.{4}(?:WAVE|WEBP|AVI )|OggS\0|ID3[\x02-\x04]|wOF[F2]\0|PK\x03\x04"
    rb"|Rar!\x1a\x07|\x1f\x8b\x08|7z\xbc\xaf|\x7fELF|%PDF-",
    re.DOTALL,
)
_MARKS = (b"\xfe\xff", b"\xff\xfe", b"\xef\xbb\xbf")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")  # 3: a binary data byte
_SNIFFED_BYTES = 1445  # 5.2
_MAX_SEARCHED_BYTES = 16_777_216  # of a document with content codings
_IS_OPEN_XML = b"[Content_Types].xml"
_PDF_WITHIN_BYTES = 1024  # Acrobat's own rule


@lru_cache(_REMEMBERED)
def _read_type(*fields: str) -> tuple[str, str]:
    """Return media type and charset: of several the last that is one (WHATWG Fetch, 2.2.2: extract a MIME type). A
    charset is read even where the type cannot be: whoever decodes the page checks it."""
    found, charset, hint = "", "", ""
    for text in ",".join(fields).split(","):
        said = _CHARSET.search(text)
        hint = said[1] if said else hint
        essence = _ESSENCE.match(text)
        if essence is None or essence[1] == "*/*":
            continue
        charset = charset if essence[1].lower() == found else ""
        found, charset = essence[1].lower(), said[1] if said else charset
    return found, (charset if found else hint)[:40]


def _sniffed(start: bytes, declared: str) -> str:
    """Return what a body without a usable type is by its first bytes. Words are plain text where some type is declared,
    however badly; without any they may as well be a script or data."""
    if _MARKUP.match(start):
        return "text/html"
    is_text = declared and not _OTHER.match(start) and (start.startswith(_MARKS) or not _BINARY.search(start))
    return "text/plain" if is_text and start else ""


def _file_type(fetched: Fetched) -> str:
    """Return the type of a document by its content, "" where it is none. The names of a zip file's parts stand at its
    end, too, so the whole body is searched."""
    start = fetched.start(_SNIFFED_BYTES)
    if start.startswith(_PDF_MAGIC):
        return PDF_TYPE
    if start.startswith(RTF_MAGIC):
        return RTF_TYPE
    if not start.startswith(ZIP_MAGIC):
        return ""
    if (found := _MIMETYPE.match(start)) and (named := found[1].decode()) in OFFICE_TYPES:
        return named
    body = fetched.start(_MAX_SEARCHED_BYTES) if fetched.coding else fetched.body
    return next((media_type for part, media_type in _MAIN_PARTS if part in body), "") if _IS_OPEN_XML in body else ""


def unread_type(media_type: str) -> str:
    """Return the reason why a body of a type is not read; documents that are not are named."""
    old = _OLD_OFFICE.get(media_type, "")
    named = (
        f", of old {old} or with a password"
        if old
        else ", an office file with macros"
        if media_type.endswith(_MACROS)
        else ""
    )
    return f"{OTHER_TYPE}: {media_type or 'unknown'}{named}"


def type_flaw(media_type: str, header_charset: str, body: bytes) -> str:
    """Explain why a body without codings is not of the type that it was sent with, "" where it may be."""
    start = body[:_SNIFFED_BYTES]
    if media_type in OFFICE_TYPES:
        return ""  # its reader tells
    if media_type == PDF_TYPE:
        flaw = "" if b"%PDF-" in start[:_PDF_WITHIN_BYTES] else "it is no PDF"
    elif _OTHER.match(start):
        flaw = "it is something else"
    elif media_type in HTML_TYPES or start.startswith(_MARKS) or header_charset.lower().startswith("utf-16"):
        flaw = ""
    else:
        flaw = "it is no text" if _BINARY.search(start) else ""
    return f"{OTHER_TYPE}: {media_type}, but {flaw}" if flaw else ""
