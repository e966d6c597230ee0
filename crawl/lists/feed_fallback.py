"""feedparser, for the feeds that our own reader cannot read: markup in capitals, HTML in entries, Microsoft's CDF.

Pure: bytes in, addresses and dates out. Our own reader (feeds.py) comes first: it takes a fortieth of the time, and
reads sitemaps and broken JSON, too. feedparser is given a stream, since it would fetch a text that is an address.
"""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

from crawl.content.decode import decode_text
from crawl.lists.xml_events import without_doctype

MAX_BYTES = 262_144  # a third of a second; the newest entries come first


def read_oddly(body: bytes, limit: int) -> list[tuple[str, str]]:
    """Return the pages of a feed's entries, with their dates ("" unknown), at most `limit`; none where entities are
    declared, whose expansion is nobody's here."""
    text, declared = without_doctype(decode_text(body[:MAX_BYTES])[0])
    if not text or declared:
        return []
    try:
        import feedparser  # 10 MB, for one feed in thousands

        found = feedparser.parse(BytesIO(text.encode()), sanitize_html=False, resolve_relative_uris=False)
        named = [(_page_of(each), dict(each).get("updated") or each.get("published")) for each in found.entries]
    except Exception:  # one list of a stranger: it may break a parser in any way
        return []
    return [(page, str(date or "")) for page, date in named if page][:limit]


def _page_of(entry: Mapping[str, Any]) -> str:
    """Return the address of an entry's page, "" where its link is only a name (`guid`)."""
    link = str(entry.get("link") or "")
    return link if "://" in link or not entry.get("guidislink") else ""
