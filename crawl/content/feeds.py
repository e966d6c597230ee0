"""Feeds: a site's newest pages with their dates, in RSS 2.0, RSS 1.0 (RDF), Atom or JSON.

Pure: bytes in, addresses and dates out. Only an entry's own page is taken, not its enclosures and comments. The date of
a page is when it was last changed where the feed says so, else when it was published. Sources: RSS 2.0; RDF Site
Summary 1.0; RFC 4287; JSON Feed 1.1.
"""

from collections.abc import Iterable

import msgspec

from crawl.canonical_url import find_url
from crawl.content.xml_events import Enough, EntryReader, read_xml

FEED_TYPES = frozenset(("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/feed+json"))
ROOTS = frozenset(("rss", "feed", "RDF"))
MAX_NAMED = 8  # feeds that one page may name; more are translations of one another
MAX_URL_CHARS = 4_096
_MAX_DATE_CHARS = 64
_CHANGED, _PUBLISHED = frozenset(("updated", "modified")), frozenset(("pubDate", "date", "published", "issued"))


class FeedEntries(EntryReader):
    """Collects the pages of a feed's entries and their dates ("" unknown), side by side, from XML events."""

    entries = ("item", "entry")

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.pages: list[str] = []
        self.dates: list[str] = []
        self._links: dict[str, str] = {}
        self._times: dict[str, str] = {}

    def _begin(self, tag: str) -> None:
        self._links, self._times = {}, {}

    def _start_inside(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "link" and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            self._links.setdefault("link", attributes["href"][:MAX_URL_CHARS])
        elif tag == "guid" and attributes.get("isPermaLink", "true").lower() == "true":
            self._links.setdefault("guid", "")

    def _end_inside(self, tag: str, text: str) -> None:
        if tag == "link" and text:
            self._links.setdefault("link", text[:MAX_URL_CHARS])
        elif tag == "guid" and "guid" in self._links:
            self._links["guid"] = text[:MAX_URL_CHARS]
        elif tag in _CHANGED:
            self._times.setdefault("changed", text[:_MAX_DATE_CHARS])
        elif tag in _PUBLISHED:
            self._times.setdefault("published", text[:_MAX_DATE_CHARS])

    def _take(self) -> None:
        page = self._links.get("link") or self._links.get("guid")
        if page:
            self.pages.append(page)
            self.dates.append(self._times.get("changed") or self._times.get("published") or "")
        if len(self.pages) >= self._limit:
            raise Enough


class _Item(msgspec.Struct):
    url: str = ""
    date_modified: str = ""
    date_published: str = ""


class _JsonFeed(msgspec.Struct):
    items: list[_Item] = []
    version: str = ""


def read_feed(body: bytes, limit: int) -> FeedEntries:
    """Return the entries of an XML feed, at most `limit`; of a broken one those that can be told."""
    return read_xml(body, lambda: FeedEntries(limit))


def read_json_feed(body: bytes, limit: int) -> FeedEntries:
    """Return the entries of a JSON feed, at most `limit`; other JSON has none."""
    entries = FeedEntries(limit)
    try:
        feed = msgspec.json.decode(body, type=_JsonFeed)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return entries
    if "jsonfeed.org/version" in feed.version:
        items = [item for item in feed.items if item.url][:limit]
        entries.pages = [item.url[:MAX_URL_CHARS] for item in items]
        entries.dates = [(item.date_modified or item.date_published)[:_MAX_DATE_CHARS] for item in items]
    return entries


def feeds_of(alternates: Iterable[tuple[str, str]], base: str) -> tuple[str, ...]:
    """List the feeds among a page's alternate forms (media type, reference), by canonical URL."""
    named = (find_url(href, base) for kind, href in alternates if kind.partition(";")[0].strip().lower() in FEED_TYPES)
    return tuple(dict.fromkeys(url for url in named if url))[:MAX_NAMED]
