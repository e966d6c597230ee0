"""The document: a stored version of a page, as it lies in the body of a DOCUMENT record.

Pure: values and their codec. The content is the record's content: the page's bytes as received, decoded from its
transfer and content codings. A *gone* version (404, 410, noindex) has none and removes the page from answers.
"""

import re
from math import isfinite

import msgspec

MAX_HEADER_BYTES = 16_384  # of names and values together
MAX_TITLE_CHARS = MAX_DESCRIPTION_CHARS = MAX_HEADING_CHARS = MAX_ANCHOR_CHARS = 1_024  # twice what a crawler keeps
MAX_HEADINGS = 512
MAX_LINKS = 65_536
MAX_MEDIA_TYPE_CHARS = 255  # RFC 6838, 4.2
MAX_CHARSET_CHARS = 64
MAX_SIGNATURE_BYTES = 64
MAX_AGENT_CHARS = 512
MAX_VALIDATOR_CHARS = 1_024  # as of a visit
MAX_FORM = 65_535
MAX_IMAGES = 32
MAX_IMAGE_TEXT_CHARS, MAX_IMAGE_URL_CHARS, MAX_IMAGE_SIDE = 200, 512, 65_535
MAX_ORIGIN_CHARS = 512  # the name of a file and the id of a record in it
MAX_SITE_LINKS = 15  # bits of a number of domains
WRITTEN_WITHIN_S = 120.0  # a page is not fetched after its version is dated, clocks apart
DAY_S = 86_400
SAID_AHEAD_S = 2.0 * DAY_S  # a page's own dates: one day for time zones, one for clocks
LINK = re.compile(r"https?://[!-~]{1,2040}")  # canonical URLs are ASCII without white space
_LANGUAGE = re.compile(r"[A-Za-z0-9-]{0,16}")


class RequestNote(msgspec.Struct, frozen=True, array_like=True):
    """The request that brought a page, besides its URL (`crawl/fetch/sent_request.py`)."""

    form: int  # which fields all requests of that time had
    agent: str  # User-Agent
    if_none_match: str = ""  # "" not sent
    if_modified_since: str = ""


class ImageNote(msgspec.Struct, frozen=True, array_like=True):
    """An image of a page, by its words."""

    url: str  # canonical
    text: str  # its own: `alt` and `title`
    caption: str
    heading: str  # above it
    width: int  # pixels, as the page declares them; 0 unknown
    height: int


class Document(msgspec.Struct, frozen=True, array_like=True):
    """The page that a site gave at one URL. Text is Unicode, normalised by nobody; times are Unix seconds."""

    url: str  # canonical
    fetched_at: float
    status: int
    headers: tuple[tuple[str, str], ...] = ()  # response head as received, bounded
    media_type: str = ""
    charset: str = ""
    language: str = ""  # ISO 639-1, "" unknown
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    links: tuple[tuple[str, str], ...] = ()  # (canonical URL, anchor text), bounded
    gone: bool = False
    signature: bytes = (
        b""  # of the text: two that differ in few bits are near duplicates (crawl/content/fingerprint.py)
    )
    description: str = ""  # by the page's own word, as are the two times
    published_at: float = 0.0  # 0.0 unknown
    modified_at: float = 0.0
    boilerplate: str = ""  # menus, footers and the like, which people see besides `text` (crawl/content/boilerplate.py)
    max_snippet: int = -1  # characters of its text that its author lets others show; -1: any number
    noarchive: bool = False  # its author lets nobody show a copy
    origin: str = ""  # of an import: the archive that it was taken from, and the record in it
    request: RequestNote | None = None  # None unknown: of another node, or not to be told so
    first_seen: int = 0  # the day that its content was first known: 1 is the first of January 1970; 0 unknown
    site_links: int = -1  # of how many other domains were found to link to its site, the number of bits; -1 unknown
    images: tuple[ImageNote, ...] = ()


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Document)
_TAIL: tuple[object, ...] = ((), -1, 0)  # images, site_links, first_seen where they say nothing, the last first


def encode_document(document: Document) -> bytes:
    """Encode the body of a DOCUMENT record. Of its last three fields, it ends before those that say nothing."""
    said = msgspec.structs.astuple(document)
    for nothing in _TAIL:
        if said[-1] != nothing:
            break
        said = said[:-1]
    return _encoder.encode(said)


def decode_document(body: bytes) -> Document:
    """Decode the body of a DOCUMENT record; raises msgspec.ValidationError where it is none."""
    return _decoder.decode(body)


def document_flaw(document: Document, written_at: float, *, has_content: bool) -> str:
    """Say why a document is none that a crawler writes, "" where it is one. `written_at`: the instant of its version;
    `has_content`: whether the page's bytes belong to it."""
    for name in ("fetched_at", "published_at", "modified_at"):
        at = getattr(document, name)
        latest = written_at + (WRITTEN_WITHIN_S if name == "fetched_at" else SAID_AHEAD_S)
        if not isfinite(at) or at > latest:
            return f"{name} is {at}"
    if not 0 <= document.first_seen <= (written_at + WRITTEN_WITHIN_S) // DAY_S + 1:
        return f"first_seen is {document.first_seen}"
    if document.gone and (has_content or document.text or document.boilerplate or document.images):
        return "a page that is gone has neither content nor text nor images"
    if not (0 <= document.status <= 999 and document.max_snippet >= -1 and -1 <= document.site_links <= MAX_SITE_LINKS):
        return f"status {document.status}, max_snippet {document.max_snippet}, site_links {document.site_links}"
    if not _LANGUAGE.fullmatch(document.language):
        return "language is no code"
    return _oversized(document) or _bad_links(document) or _bad_request(document.request) or _bad_images(document)


def _oversized(document: Document) -> str:
    bounds = (
        ("title", len(document.title), MAX_TITLE_CHARS),
        ("description", len(document.description), MAX_DESCRIPTION_CHARS),
        ("headings", len(document.headings), MAX_HEADINGS),
        ("longest heading", max(map(len, document.headings), default=0), MAX_HEADING_CHARS),
        ("headers", sum(len(n.encode()) + len(v.encode()) for n, v in document.headers), MAX_HEADER_BYTES),
        ("media type", len(document.media_type), MAX_MEDIA_TYPE_CHARS),
        ("charset", len(document.charset), MAX_CHARSET_CHARS),
        ("signature", len(document.signature), MAX_SIGNATURE_BYTES),
        ("links", len(document.links), MAX_LINKS),
        ("origin", len(document.origin), MAX_ORIGIN_CHARS),
    )
    return next((f"{name} of {size}, {most} allowed" for name, size, most in bounds if size > most), "")


def _bad_links(document: Document) -> str:
    for url, anchor in document.links:
        if not LINK.fullmatch(url) or len(anchor) > MAX_ANCHOR_CHARS:
            return "a link that is no URL, or has too long a text"
    return ""


def _bad_images(document: Document) -> str:
    if len(document.images) > MAX_IMAGES:
        return f"{len(document.images)} images, {MAX_IMAGES} allowed"
    for image in document.images:
        is_address = LINK.fullmatch(image.url) and len(image.url) <= MAX_IMAGE_URL_CHARS
        sizes = (len(text) for text in (image.text, image.caption, image.heading))
        is_sized = all(0 <= side <= MAX_IMAGE_SIDE for side in (image.width, image.height))
        if not (is_address and is_sized and max(sizes) <= MAX_IMAGE_TEXT_CHARS):
            return "an image that is at no URL, or whose texts or sides are too long"
    return ""


def _bad_request(request: RequestNote | None) -> str:
    if request is None:
        return ""
    if not 0 < request.form <= MAX_FORM:
        return f"a request of form {request.form}"
    bounds = (
        (request.agent, MAX_AGENT_CHARS),
        (request.if_none_match, MAX_VALIDATOR_CHARS),
        (request.if_modified_since, MAX_VALIDATOR_CHARS),
    )
    is_sound = request.agent and all(len(text) <= most and text.isprintable() for text, most in bounds)
    return "" if is_sound else "a request with fields that no crawler sends"
