"""When a page was published and last modified, as it says itself.

Pure: text in, Unix seconds out. The most explicit source counts: linked data, then meta elements, then time elements,
of which only those count that stand in the head of the article. Sources: schema.org, Open Graph, Dublin Core (DCMI
terms, W3CDTF), Highwire Press tags, PRISM, WHATWG time element.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawl.content.printed_date import day_in_words

EARLIEST = 631_152_000.0  # 1990: there was no web before
LATEST = 4_102_444_800.0  # 2100
_IN_PATH = re.compile(r"/((?:19|20)\d\d)[/-]?(0[1-9]|1[0-2])[/-]?(0[1-9]|[12]\d|3[01])(?=[/_.-]|$)")
_MAX_CHARS = 64
_PUBLISHED = (
    *("datepublished", "article:published_time", "article:published", "og:published_time", "citation_publication_date"),
    *("citation_date", "citation_online_date", "dcterms.issued", "dc.date.issued", "dc.issued", "dcterms.created"),
    *("dc.date.created", "dc.created", "prism.publicationdate", "bt:pubdate", "rnews:datepublished", "pubdate"),
    *("pub_date", "publishdate", "publish-date", "publish_date", "publication_date", "publicationdate"),
    *("publish-time", "publishtime", "published_time", "published-date", "originalpublicationdate", "parsely-pub-date"),
    *("sailthru.date", "displaydate", "dcterms.date", "dc.date", "date", "datecreated", "time"),
)
_MODIFIED = (
    *("datemodified", "article:modified_time", "article:modified", "og:updated_time", "og:modified_time"),
    *("dcterms.modified", "dc.date.modified", "dc.modified", "prism.modificationdate", "modified_time"),
    *("last-modified", "lastmod", "revised"),
)
_TOLD = frozenset((*_PUBLISHED, *_MODIFIED))
_LIBRARIES = frozenset(name for name in _TOLD if name.startswith(("citation_", "dc", "prism")))  # a month, or a year
_COARSE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")
_EPOCH = re.compile(r"(\d{10})(?:\d{3})?")
_ZONE = re.compile(r"\s+(?=(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})$)")
_COMMENT = re.compile(
    r"(?<![\w-])(?:comments?|replies)(?:[-_](?:list|area|body|section|meta|thread))?(?![\w-])|/Comment"
)
_BESIDE = frozenset(("nav", "aside", "footer"))
HEAD_CHARS = 500  # between an article's title and its date: a line of authors and a summary


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a heading or a time element stands on its page."""

    at: int  # characters of text before it
    article: int  # which outermost article element it is in, 0: in none
    is_beside: bool  # in a menu, a footer, or a comment
    name: str  # of a heading its tag, of a time as `find_dates` calls it
    text: str = ""  # of a time


def place_of(
    parents: Sequence[tuple[str, Mapping[str, str | None]]], articles: Sequence[int], at: int, name: str, text: str
) -> Placed:
    """Return the place of an element by its parents (tag, attributes), and the numbers of those that are articles, the
    innermost first. An article inside another is a comment, and so is what is called one."""
    is_beside = len(articles) > 1 or any(
        tag in _BESIDE or any(_COMMENT.search(values.get(key) or "") for key in ("itemtype", "class", "id"))
        for tag, values in parents
        if tag not in ("html", "body")
    )
    return Placed(at, articles[-1] if articles else 0, is_beside, name, text)


def times_of_head(headings: Sequence[Placed], times: Sequence[Placed]) -> list[tuple[str, str]]:
    """Return those times that are the page's own, as (name, text): near the title of the article, or called its date.

    Of a list of articles, none is."""
    titles = [each for each in headings if each.name == "h1"] or list(headings[:1])
    times = [each for each in times if not each.is_beside]
    if len({each.article for each in times if each.article}) > 1:
        own = titles[0].article if titles else 0
        times = [each for each in times if own and each.article == own]
    elif len({_above(headings, each) for each in times}) > 1 and titles and _above(headings, times[0]) > titles[0].at:
        return []  # a heading above each time
    found = []
    for each in times:
        near = [*titles[:1], *[heading for heading in headings if each.article and heading.article == each.article][:1]]
        if each.name != "time" or not near or min(abs(each.at - title.at) for title in near) <= HEAD_CHARS:
            found.append((each.name, each.text))
    return found


def _above(headings: Sequence[Placed], time: Placed) -> int:
    """Return where the last heading before a time stands, -1 where none does."""
    return max((heading.at for heading in headings if heading.at <= time.at), default=-1)


def time_name(itemprop: str, classes: str, *, is_pubdate: bool) -> str:
    """Return what a time element is by its own attributes: the name of a date of the page, or "time"."""
    named = {itemprop.lower(), *classes.lower().split()}
    if is_pubdate or not named.isdisjoint(("datepublished", "dt-published")):
        return "datepublished"
    if "datemodified" in named or (
        not named.isdisjoint(("updated", "dt-updated", "modified")) and "published" not in named
    ):
        return "datemodified"
    return "time"


def find_dates(named: Iterable[tuple[str, str]]) -> tuple[float, float]:
    """Return when a page was published and modified, in Unix seconds, 0.0 unknown. `named`: lower-case name and text of
    properties in linked data, of meta elements, and of time elements, in this order."""
    found: dict[str, float] = {}
    for name, text in named:
        if name in _TOLD and name not in found and (instant := find_date(text, is_coarse=name in _LIBRARIES)):
            found[name] = instant
    if not found:
        return 0.0, 0.0
    published = next((found[name] for name in _PUBLISHED if name in found), 0.0)
    modified = next((found[name] for name in _MODIFIED if name in found), 0.0)
    return published, max(modified, published) if modified else 0.0


def date_of_path(url: str) -> float:
    """Return the day that an address names, as blogs and newspapers have it (/2017/10/06/); 0.0: none."""
    found = _IN_PATH.search(url.partition("?")[0])
    return find_date("-".join(found.groups())) if found else 0.0


def find_date(text: str, *, is_coarse: bool = False) -> float:
    """Read an ISO 8601 or RFC 5322 date, Unix seconds or a date in words into Unix seconds; 0.0: none. Without a zone
    it is UTC, without a time midnight. `is_coarse`: of a month or a year it is the first day."""
    text = " ".join(text[: 2 * _MAX_CHARS].split())[:_MAX_CHARS].replace("/", "-")
    for parse in (_parse_iso, parsedate_to_datetime):
        try:
            found = parse(text)
            instant = (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
        if EARLIEST <= instant <= LATEST:
            return instant
    if (day := _COARSE.fullmatch(text)) and (day[3] or is_coarse):
        return find_date(f"{day[1]}-{int(day[2] or 1):02}-{int(day[3] or 1):02}") if len(text) < 10 else 0.0
    return day_in_words(text)


def _parse_iso(text: str) -> datetime:
    if epoch := _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(epoch[1]), UTC)
    zoned = _ZONE.sub("", text)
    return datetime.fromisoformat(zoned[:-3] + "Z" if zoned.endswith(("UTC", "GMT")) else zoned)
