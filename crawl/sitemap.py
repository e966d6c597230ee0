"""Sitemaps: lists of a site's URLs, in XML or plain text.

Pure: bytes in, URLs out. Read event by event by expat within bounds; a document type declaration ends the reading, so
there are no entities to expand. Source: sitemaps.org; RFC 9309, 2.2.4.
"""

from contextlib import suppress
from dataclasses import dataclass
from xml.parsers import expat

from crawl.urls import find_url
from dht import site_of

_MAX_LOC_CHARS = 4096
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What one file lists: pages, or further sitemaps; only URLs of the file's own site, each once."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]


class _Enough(Exception):
    """Stops expat; never leaves this file."""


class _Reader:
    """Collects <loc> texts by what they stand in."""

    def __init__(self, limit: int) -> None:
        self.pages: list[str] = []
        self.sitemaps: list[str] = []
        self._limit = limit
        self._inside = ""
        self._loc: list[str] | None = None

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag in ("url", "sitemap"):
            self._inside = tag
        elif tag == "loc" and self._inside:
            self._loc = []

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "loc" and self._loc is not None:
            found = self.sitemaps if self._inside == "sitemap" else self.pages
            found.append("".join(self._loc).strip()[:_MAX_LOC_CHARS])
            self._loc = None
            if len(self.pages) + len(self.sitemaps) >= self._limit:
                raise _Enough
        elif tag in ("url", "sitemap"):
            self._inside = ""

    def text(self, data: str) -> None:
        if self._loc is not None and len(self._loc) < 64:
            self._loc.append(data)

    def doctype(self, *_: object) -> None:
        raise _Enough


def is_gzip(body: bytes) -> bool:
    """True for a sitemap.xml.gz that was sent as it lies on the disk."""
    return body.startswith(_GZIP_MAGIC)


def parse_sitemap(body: bytes, url: str, limit: int) -> Sitemap:
    """Read one sitemap file found at a canonical URL; broken files give what stands before the break."""
    if body.lstrip()[:1] == b"<" or body.startswith(b"\xef\xbb\xbf"):
        reader = _read_xml(body, limit)
        pages, sitemaps = reader.pages, reader.sitemaps
    else:
        pages, sitemaps = body[: limit * 512].decode("utf-8", "replace").split("\n")[:limit], []
    return Sitemap(_same_site(pages, url), _same_site(sitemaps, url))


def _read_xml(body: bytes, limit: int) -> _Reader:
    reader = _Reader(limit)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    parser.StartDoctypeDeclHandler = reader.doctype
    with suppress(expat.ExpatError, _Enough, ValueError, LookupError):  # broken: what stands before the break counts
        parser.Parse(body, True)
    return reader


def _same_site(texts: list[str], url: str) -> tuple[str, ...]:
    site = site_of(url)
    found = (find_url(text.strip(), url) for text in texts if text.strip())
    return tuple(dict.fromkeys(u for u in found if u is not None and site_of(u) == site))
