"""Feeds: a site's newest pages with their dates, in RSS 2.0, RSS 1.0 (RDF), Atom or JSON.

Pure: bytes in, addresses and dates out. Only an entry's own page is taken, not its enclosures and comments. The date of
a page is when it was last changed where the feed says so, else when it was published. Sources: RSS 2.0; RDF Site
Summary 1.0; RFC 4287; JSON Feed 1.1.
"""

import json
import re
from typing import Any
from urllib.parse import urljoin

from crawl.content.decode import decode_text
from crawl.fetch.response import HTML_TYPES
from crawl.lists.feed_fallback import read_oddly
from crawl.lists.xml_events import XML_BASE, Enough, EntryReader, read_xml

ROOTS = frozenset(("rss", "feed", "RDF"))
MAX_URL_CHARS = 4_096
_MAX_DATE_CHARS = 64
_STARTS = re.compile(rb"<(?:[a-z][\w.-]*:)?(?:item|entry)[\s/>]", re.IGNORECASE)
_JSON = json.JSONDecoder(strict=False)  # control characters in strings have been seen
_JSON_HEAD_CHARS = 65_536  # the version stands before the items in all that we saw
_ITEMS = re.compile(r'"items"\s*:\s*\[[^{]*\{')
_NEXT = re.compile(r"[},]\s*,?\s*\{")
_MAX_FLAWS = 64  # each costs a look at what follows
_CHANGED, _PUBLISHED = frozenset(("updated", "modified")), frozenset(("pubDate", "date", "published", "issued"))


class FeedEntries(EntryReader):
    """Collects the pages of a feed's entries and their dates ("" unknown), side by side, from XML events. Of the links
    of an Atom entry that to HTML comes first, then the first of any type; references count from `xml:base`."""

    entries = ("item", "entry")

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.pages: list[str] = []
        self.dates: list[str] = []
        self._links: dict[str, str] = {}
        self._times: dict[str, str] = {}
        self._depth = 0
        self._bases: list[tuple[int, str]] = [(0, "")]  # (depth of the element that has it, base)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if base := attributes.get(XML_BASE):
            self._bases.append((self._depth, _joined(self._bases[-1][1], base[:MAX_URL_CHARS])))
        super().start(tag, attributes)

    def end(self, tag: str, text: str) -> None:
        super().end(tag, text)
        if self._bases[-1][0] == self._depth > 0:
            self._bases.pop()
        self._depth -= 1

    def _begin(self, tag: str) -> None:
        self._links, self._times = {}, {}

    def _start_inside(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "link" and attributes.get("href") and _relation(attributes) == "alternate":
            kind = attributes.get("type", "").partition(";")[0].strip().lower()
            self._take_link("html" if kind in HTML_TYPES else "link" if not kind else "other", attributes["href"])
        elif tag == "guid" and attributes.get("isPermaLink", "true").lower() == "true":
            self._links.setdefault("guid", "")

    def _end_inside(self, tag: str, text: str) -> None:
        if tag == "link" and text:
            self._take_link("link", text)
        elif tag == "guid" and "guid" in self._links:
            self._links["guid"] = text[:MAX_URL_CHARS] if "://" in text else ""
        elif tag in _CHANGED:
            self._times.setdefault("changed", text[:_MAX_DATE_CHARS])
        elif tag in _PUBLISHED:
            self._times.setdefault("published", text[:_MAX_DATE_CHARS])

    def _take_link(self, kind: str, reference: str) -> None:
        self._links.setdefault(kind, _joined(self._bases[-1][1], reference[:MAX_URL_CHARS]))

    def _take(self) -> None:
        page = next(filter(None, map(self._links.get, ("html", "link", "other", "guid"))), "")
        if page:
            self.pages.append(page)
            self.dates.append(self._times.get("changed") or self._times.get("published") or "")
        if len(self.pages) >= self._limit:
            raise Enough


def _relation(attributes: dict[str, str]) -> str:
    """Return the relation of a link, which may be written as its address at IANA (RFC 4287, 4.2.7.2)."""
    return attributes.get("rel", "alternate").strip().lower().rpartition("/")[2]


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference.strip()) if base else reference
    except ValueError:
        return reference


def read_feed(body: bytes, limit: int) -> FeedEntries:
    """Return the entries of an XML feed, at most `limit`; of a broken one those that can be told. feedparser reads it,
    too, where it has more than our reader finds."""
    entries = read_xml(body, lambda: FeedEntries(limit))
    if (entries.is_broken or not entries.pages) and len(entries.pages) < min(limit, count_entries(body)):
        found = read_oddly(body, limit)
        if len(found) > len(entries.pages):
            entries.pages = [page[:MAX_URL_CHARS] for page, _ in found]
            entries.dates = [date[:_MAX_DATE_CHARS] for _, date in found]
    return entries


def count_entries(body: bytes) -> int:
    """Return how many entries a feed seems to have, whatever the case of its markup."""
    return sum(1 for _ in _STARTS.finditer(body))


def read_json_feed(body: bytes, limit: int) -> FeedEntries:
    """Return the entries of a JSON feed, at most `limit`; other JSON has none. An item that is none costs itself; of a
    feed that breaks off, or is no JSON somewhere, the items are read that can be told."""
    entries = FeedEntries(limit)
    text = decode_text(body)[0]
    try:
        feed = _JSON.decode(text.strip())
        items = feed.get("items")
        version = feed.get("version")
    except (ValueError, RecursionError):
        version, items = text[:_JSON_HEAD_CHARS], _items_of(text)
    if "jsonfeed.org/version" in str(version) and isinstance(items, list):
        for item in items:
            if isinstance(item, dict) and (page := _page_of(item)) and len(entries.pages) < limit:
                entries.pages.append(page)
                dates = (item.get("date_modified"), item.get("date_published"))
                entries.dates.append(
                    next((date[:_MAX_DATE_CHARS] for date in dates if date and isinstance(date, str)), "")
                )
    return entries


def _page_of(item: dict[str, Any]) -> str:
    """Return the address of an item's page; an `id` is one where it is absolute, as in RSS."""
    url, name = item.get("url"), item.get("id")
    if isinstance(url, str) and url.strip():
        return url[:MAX_URL_CHARS]
    return name[:MAX_URL_CHARS] if isinstance(name, str) and name.startswith(("http://", "https://")) else ""


def _items_of(text: str) -> list[Any]:
    """Return the items that can be read one by one of a text that is no JSON as a whole."""
    found: list[Any] = []
    begin, flaws = _ITEMS.search(text), 0
    while begin is not None and flaws < _MAX_FLAWS:
        try:
            item, at = _JSON.raw_decode(text, begin.end() - 1)
            found.append(item)
        except (ValueError, RecursionError):
            at, flaws = begin.end(), flaws + 1
        begin = _NEXT.search(text, at)
    return found
