"""When a page was published and last modified, as it says itself.

Pure: text in, Unix seconds out. The most explicit source counts: linked data, then meta elements, then time elements.
Sources: schema.org (datePublished, dateModified), Open Graph, Dublin Core, WHATWG time element.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

EARLIEST = 631_152_000.0  # 1990: there was no web before
LATEST = 4_102_444_800.0  # 2100
_MAX_CHARS = 64
_LINKED = re.compile(r'"(datePublished|dateModified)"\s*:\s*"([^"]{4,64})"')
_PUBLISHED = (
    *("datepublished", "article:published_time", "og:published_time", "dcterms.issued", "dc.date.issued"),
    *("dcterms.created", "dc.date.created", "citation_publication_date", "pubdate", "publishdate", "publish-date"),
    *("publication_date", "parsely-pub-date", "sailthru.date", "dcterms.date", "dc.date", "date", "time"),
)
_MODIFIED = (
    *("datemodified", "article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified"),
    *("last-modified", "lastmod", "revised"),
)
_TOLD = frozenset((*_PUBLISHED, *_MODIFIED))


def find_dates(linked_data: str, named: Iterable[tuple[str, str]]) -> tuple[float, float]:
    """Return when a page was published and modified, in Unix seconds, 0.0 unknown. `named`: lower-case name and text of
    meta elements and of time elements, the latter called "datepublished", "datemodified" or "time"."""
    found: dict[str, float] = {}
    for name, text in (*((match[1].lower(), match[2]) for match in _LINKED.finditer(linked_data)), *named):
        if name in _TOLD and name not in found and (instant := find_date(text)):
            found[name] = instant
    if not found:
        return 0.0, 0.0
    published = next((found[name] for name in _PUBLISHED if name in found), 0.0)
    modified = next((found[name] for name in _MODIFIED if name in found), 0.0)
    return published, max(modified, published) if modified else 0.0


def find_date(text: str) -> float:
    """Read an ISO 8601 or RFC 5322 date into Unix seconds; without a zone it is UTC, without a time midnight; 0.0:
    none."""
    text = " ".join(text[: 2 * _MAX_CHARS].split())[:_MAX_CHARS].replace("/", "-")
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            instant = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
        if EARLIEST <= instant <= LATEST:
            return instant
    return 0.0
