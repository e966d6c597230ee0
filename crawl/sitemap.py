"""Sitemaps: lists of a site's URLs, in XML or plain text.

Pure: bytes in, URLs out. Read event by event by expat within bounds; a document type declaration ends the reading, so
there are no entities to expand. Source: sitemaps.org; RFC 9309, 2.2.4.
"""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
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
    changed_at: dict[str, float] = field(default_factory=dict)  # page: Unix seconds, where its <lastmod> says


class _Enough(Exception):
    """Stops expat; never leaves this file."""


class _Reader:
    """Collects what stands in <loc> and <lastmod>, entry by entry."""

    def __init__(self, limit: int) -> None:
        self.pages: list[str] = []
        self.sitemaps: list[str] = []
        self.lastmods: list[str] = []  # of the pages, "" without one
        self._limit = limit
        self._entry: dict[str, str] | None = None
        self._text: list[str] | None = None

    def start(self, name: str, _attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag in ("url", "sitemap"):
            self._entry = {}
        elif tag in ("loc", "lastmod") and self._entry is not None:
            self._text = []

    def end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        if self._entry is None:
            return
        if tag in ("loc", "lastmod") and self._text is not None:
            self._entry[tag] = "".join(self._text).strip()[:_MAX_LOC_CHARS]
            self._text = None
        elif tag in ("url", "sitemap"):
            self._take(tag, self._entry)
            self._entry = None

    def text(self, data: str) -> None:
        if self._text is not None and len(self._text) < 64:
            self._text.append(data)

    def doctype(self, *_: object) -> None:
        raise _Enough

    def _take(self, tag: str, entry: dict[str, str]) -> None:
        if "loc" not in entry:
            return
        if tag == "sitemap":
            self.sitemaps.append(entry["loc"])
        else:
            self.pages.append(entry["loc"])
            self.lastmods.append(entry.get("lastmod", ""))
        if len(self.pages) + len(self.sitemaps) >= self._limit:
            raise _Enough


def is_gzip(body: bytes) -> bool:
    """True for a sitemap.xml.gz that was sent as it lies on the disk."""
    return body.startswith(_GZIP_MAGIC)


def parse_sitemap(body: bytes, url: str, limit: int) -> Sitemap:
    """Read one sitemap file found at a canonical URL; broken files give what stands before the break."""
    lastmods: list[str] = []
    if body.lstrip()[:1] == b"<" or body.startswith(b"\xef\xbb\xbf"):
        reader = _read_xml(body, limit)
        pages, sitemaps, lastmods = reader.pages, reader.sitemaps, reader.lastmods
    else:
        pages, sitemaps = body[: limit * 512].decode("utf-8", "replace").split("\n")[:limit], []
    taken = _same_site(pages, url)
    changed_at = _changed_at(pages, lastmods, url)
    return Sitemap(taken, _same_site(sitemaps, url), {page: changed_at[page] for page in taken if page in changed_at})


def find_instant(text: str) -> float | None:
    """Unix seconds of a W3C date; the end of the day where it names no time, so that no change is missed."""
    try:
        if len(text) == len("2026-11-21"):
            return datetime.combine(date.fromisoformat(text), time.max, UTC).timestamp()
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def _changed_at(pages: list[str], lastmods: list[str], url: str) -> dict[str, float]:
    found = ((find_url(page, url), find_instant(text)) for page, text in zip(pages, lastmods, strict=False) if text)
    return {page: at for page, at in found if page is not None and at is not None}


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
