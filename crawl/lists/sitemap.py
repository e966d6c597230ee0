"""Sitemaps: lists of a site's URLs, in XML or plain text, or its feeds (feeds.py).

Pure: bytes in, URLs out. Source: sitemaps.org, which takes feeds for sitemaps, too; RFC 9309, 2.2.4.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time

from crawl.canonical_url import find_url
from crawl.content.dates import find_date
from crawl.content.decode import decode_text
from crawl.lists.feeds import ROOTS, FeedEntries, count_entries, read_feed, read_json_feed
from crawl.lists.xml_events import Enough, EntryReader, read_xml
from dht import site_of

_MAX_LOC_CHARS = 4096
_JUNK_BYTES = 4096  # warnings of a script may come before the list
_MARKUP = re.compile(rb"<[?!a-zA-Z]")


@dataclass(frozen=True, slots=True)
class Sitemap:
    """The list in one file, each URL once: pages of the file's own site, or further sitemaps, wherever they are."""

    pages: tuple[str, ...]
    sitemaps: tuple[str, ...]
    changed_at: dict[str, float] = field(default_factory=dict)  # page: Unix seconds, where its <lastmod> says
    is_feed: bool = False  # only its newest pages
    is_cut: bool = False  # there was more than was read
    elsewhere: tuple[str, ...] = ()  # pages of other sites, no more than links


class _SitemapReader(EntryReader):
    """Collects what stands in <loc> and <lastmod>, entry by entry."""

    entries = ("url", "sitemap")

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.pages: list[str] = []
        self.sitemaps: list[str] = []
        self.lastmods: list[str] = []  # of the pages, "" without one
        self.is_feed = False
        self._tag = ""  # of the entry
        self._entry: dict[str, str] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag in ROOTS and not self._tag:
            self.is_feed = True
            raise Enough
        super().start(tag, attributes)

    def _begin(self, tag: str) -> None:
        self._tag, self._entry = tag, {}

    def _end_inside(self, tag: str, text: str) -> None:
        if tag in ("loc", "lastmod"):  # deeper ones are of images and videos
            self._entry.setdefault(tag, text[:_MAX_LOC_CHARS])

    def _take(self) -> None:
        if not self._entry.get("loc"):
            return
        if self._tag == "sitemap":
            self.sitemaps.append(self._entry["loc"])
        else:
            self.pages.append(self._entry["loc"])
            self.lastmods.append(self._entry.get("lastmod", ""))
        if len(self.pages) + len(self.sitemaps) >= self._limit:
            raise Enough


def parse_sitemap(body: bytes, url: str, limit: int) -> Sitemap:
    """Read a sitemap or feed found at a canonical URL, at most `limit` entries; of a broken one what can be told."""
    start = body[:256].lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        return _feed(read_json_feed(body, limit), url)
    lastmods: list[str] = []
    is_wide = body.startswith((b"\xfe\xff", b"\xff\xfe")) and b"<" in body[:_JUNK_BYTES]
    if start == b"<" or is_wide or _MARKUP.search(body, 0, _JUNK_BYTES):
        reader = read_xml(body, lambda: _SitemapReader(limit))
        if reader.is_feed or not (reader.pages or reader.sitemaps or not count_entries(body)):
            return _feed(read_feed(body, limit), url)
        pages, sitemaps, lastmods = reader.pages, reader.sitemaps, reader.lastmods
    else:
        pages, sitemaps = decode_text(body[: limit * 512])[0].splitlines()[:limit], []
    taken, elsewhere = _parted(pages, url)
    changed_at = _changed_at(pages, map(parse_w3c_date, lastmods), url)
    dates = {page: changed_at[page] for page in taken if page in changed_at}
    return Sitemap(taken, tuple(_urls(sitemaps, url)), dates, elsewhere=elsewhere)


def _feed(entries: FeedEntries, url: str) -> Sitemap:
    taken, elsewhere = _parted(entries.pages, url)
    changed_at = _changed_at(entries.pages, (find_date(text) or None for text in entries.dates), url)
    dates = {page: changed_at[page] for page in taken if page in changed_at}
    return Sitemap(taken, (), dates, is_feed=True, elsewhere=elsewhere)


def parse_w3c_date(text: str) -> float | None:
    """Read a W3C date into Unix seconds, None for none; a day without a time counts to its end: no change is missed."""
    try:
        if len(text) == len("2026-11-21"):
            return datetime.combine(date.fromisoformat(text), time.max, UTC).timestamp()
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.timestamp() if found.tzinfo else None


def _changed_at(pages: Iterable[str], instants: Iterable[float | None], url: str) -> dict[str, float]:
    found = ((find_url(page, url), at) for page, at in zip(pages, instants, strict=False) if at is not None)
    return {page: at for page, at in found if page is not None}


def _parted(texts: list[str], url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the URLs of the site of a list, and those of others."""
    site, found = site_of(url), _urls(texts, url)
    own = tuple(each for each in found if site_of(each) == site)
    return own, tuple(each for each in found if site_of(each) != site) if len(own) < len(found) else ()


def _urls(texts: list[str], url: str) -> dict[str, None]:
    return dict.fromkeys(each for text in texts if text.strip() and (each := find_url(text.strip(), url)))
