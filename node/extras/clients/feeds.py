"""Writes results as feeds, RSS 2.0 and Atom (RFC 4287), with the elements of OpenSearch 1.1.

Pure: values in, XML out. All text has gone through `plain`, so no character is in it that XML cannot hold.
"""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from node.extras.clients.found import FoundAnswer, FoundPage

OPENSEARCH = "http://a9.com/-/spec/opensearch/1.1/"
ATOM = "http://www.w3.org/2005/Atom"
MEDIA = "http://search.yahoo.com/mrss/"
DESCRIPTION = "application/opensearchdescription+xml"


@dataclass(frozen=True, slots=True)
class Feed:
    """Holds what a feed says of itself: addresses of this feed, of the same results as a page, and of the node."""

    title: str
    about: str
    here: str
    page: str
    origin: str
    count: int  # results that were asked for


def rss(feed: Feed, found: FoundAnswer, *, has_images: bool = False) -> str:
    """Write results as RSS 2.0; with the images of each page as Media RSS names them, where they were asked for."""
    root = Element("rss", {"version": "2.0", "xmlns:opensearch": OPENSEARCH, "xmlns:atom": ATOM})
    if has_images:
        root.set("xmlns:media", MEDIA)
    channel = SubElement(root, "channel")
    _add(channel, "title", feed.title)
    _add(channel, "link", feed.page)
    _add(channel, "description", feed.about)
    SubElement(channel, "atom:link", rel="self", type="application/rss+xml", href=feed.here)
    SubElement(channel, "atom:link", rel="search", type=DESCRIPTION, href=_description(feed))
    _add_opensearch(channel, feed, found)
    for page in found.pages:
        item = SubElement(channel, "item")
        _add(item, "title", page.title)
        _add(item, "link", page.url)
        SubElement(item, "guid", isPermaLink="true").text = page.url
        if page.day_rfc822:
            _add(item, "pubDate", page.day_rfc822)
        _add(item, "description", page.text)
        for image in page.images if has_images else ():
            sides = {"width": str(image.width), "height": str(image.height)} if image.width and image.height else {}
            media = SubElement(item, "media:content", {"url": image.url, "medium": "image", **sides})
            SubElement(media, "media:title").text = image.text
    return _written(root)


def atom(feed: Feed, found: FoundAnswer, today: str) -> str:
    """Write results as Atom. `today`: ISO 8601, said where nothing is known of when a feed changed."""
    root = Element("feed", {"xmlns": ATOM, "xmlns:opensearch": OPENSEARCH})
    _add(root, "title", feed.title)
    _add(root, "subtitle", feed.about)
    _add(root, "id", feed.here)
    _add(root, "updated", _instant(max(map(_changed, found.pages), default="") or today))
    SubElement(SubElement(root, "author"), "name").text = "dse"
    SubElement(root, "link", rel="self", type="application/atom+xml", href=feed.here)
    SubElement(root, "link", rel="alternate", type="text/html", href=feed.page)
    SubElement(root, "link", rel="search", type=DESCRIPTION, href=_description(feed))
    _add_opensearch(root, feed, found)
    for page in found.pages:
        entry = SubElement(root, "entry")
        _add(entry, "title", page.title)
        _add(entry, "id", page.url)
        SubElement(entry, "link", href=page.url)
        _add(entry, "updated", _instant(_changed(page) or today))
        if page.day:
            _add(entry, "published", _instant(page.day))
        _add(entry, "summary", page.text)
    return _written(root)


def _add_opensearch(parent: Element, feed: Feed, found: FoundAnswer) -> None:
    _add(parent, "opensearch:totalResults", str(found.total))
    _add(parent, "opensearch:startIndex", str(found.start + 1))  # results are numbered from 1
    _add(parent, "opensearch:itemsPerPage", str(feed.count))
    SubElement(parent, "opensearch:Query", role="request", searchTerms=found.query)


def _add(parent: Element, name: str, text: str) -> None:
    SubElement(parent, name).text = text


def _changed(page: FoundPage) -> str:
    return page.day or page.fetched_day


def _instant(day: str) -> str:
    return f"{day}T00:00:00Z"


def _description(feed: Feed) -> str:
    return f"{feed.origin}/opensearchdescription.xml"


def _written(root: Element) -> str:
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")
