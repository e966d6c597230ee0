"""Whether a body is what its media type says: servers name types by file names, or not at all.

Pure: a response in, an answer out. Much reduced from the WHATWG MIME Sniffing standard, whose tables these are: a type
that was given is believed, but for bodies that cannot be of it.
"""

import re

from crawl.fetch.response import Fetched

OTHER_TYPE = "media type"  # what such reasons begin with
PDF_TYPE = "application/pdf"
HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
READ_TYPES = HTML_TYPES | {"text/plain", PDF_TYPE}
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
_PDF_WITHIN_BYTES = 1024  # Acrobat's own rule


def looks_like_html(fetched: Fetched) -> bool:
    """Tell whether a response without a usable media type begins with markup."""
    return fetched.media_type in _NO_TYPE and _MARKUP.match(fetched.start(_SNIFFED_BYTES)) is not None


def type_flaw(media_type: str, header_charset: str, body: bytes) -> str:
    """Explain why a body without codings is not of the type that it was sent with, "" where it may be."""
    start = body[:_SNIFFED_BYTES]
    if media_type == PDF_TYPE:
        flaw = "" if b"%PDF-" in start[:_PDF_WITHIN_BYTES] else "it is no PDF"
    elif _OTHER.match(start):
        flaw = "it is something else"
    elif media_type in HTML_TYPES or start.startswith(_MARKS) or header_charset.lower().startswith("utf-16"):
        flaw = ""
    else:
        flaw = "it is no text" if _BINARY.search(start) else ""
    return f"{OTHER_TYPE}: {media_type}, but {flaw}" if flaw else ""
