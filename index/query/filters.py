"""The filters that may be written in a query as `name:value`, what they mean, and how their values are read.

Pure: values only. FILTERS is the parser's own table, and the help page is made from it.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

import ada_url

from dht import codes_of
from index.query.query_tree import LanguageFilter, QueryNode, SiteFilter, TagFilter, all_of, any_of
from index.text.site_host import MAX_FOLDERS, digest_of_host, folder_tags, name_of_host, port_tag
from index.text.tags import FIRST_YEAR, LAST_YEAR, WEB_PAGE, date_tags, word_tags

MAX_SITE_CHARS = 255
MAX_VALUE_CHARS = 64  # of a word that a title or an address is to hold
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_SITE = re.compile(
    r"(?:https?://)?(?!https?:/)(?P<below>\*\.)?(?P<host>\[[0-9a-f:.]+\]|[^\s:/?#@\\\ud800-\udfff]+)"
    r"(?::(?P<port>[0-9]{1,5})?)?(?P<path>/(?:[^\s?#\\\ud800-\udfff]*))?",
    re.IGNORECASE,
)
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:]+\]")
_TYPE = re.compile(r"[a-z0-9]{1,5}")
_ALIASES = {"htm": WEB_PAGE, "php": WEB_PAGE, "web": WEB_PAGE}


@dataclass(frozen=True, slots=True)
class FilterRule:
    """One filter: how its value is read (None where it cannot be), and an example."""

    read: Callable[[str], QueryNode | None]
    example: str
    scores: bool = False  # whether its value is looked for as a word, too
    weighs: bool = False  # whether the text scores by its value, which it need not hold


@lru_cache(256)  # a query may say the same many times
def read_filter(name: str, value: str) -> QueryNode | None:
    """Return what a filter asks for; None where its value cannot be."""
    return FILTERS[name].read(value)


def _site(value: str) -> QueryNode | None:
    found = _SITE.fullmatch(value) if len(value) <= MAX_SITE_CHARS else None
    host = _host(found["host"]) if found else ""
    if not found or not host:
        return None
    whole: list[QueryNode] = [SiteFilter(host)]
    if found["port"]:
        if not 0 < (port := int(found["port"])) < 1 << 16:
            return None
        whole.append(TagFilter(port_tag(port)))
    if path := (found["path"] or "").removesuffix("*").rstrip("/"):
        folders = list(folder_tags(path := ada_url.URL(f"http://{host}{path}").pathname))
        if path.count("/") > MAX_FOLDERS or "*" in path:
            return None  # deeper than pages are found by: nothing may be left out that was not named
        whole += map(TagFilter, folders[-1:])
    return all_of(whole, [SiteFilter(name_of_host(digest_of_host(host)))] if found["below"] else None)


def _host(written: str) -> str:
    """Return a host's name as URLs have it, by either form of an international name; "" where it cannot be one."""
    try:
        host = str(ada_url.URL(f"http://{written.strip('.')}").hostname)
    except ValueError:
        return ""
    return host if _HOST.fullmatch(host) else ""


def _language(value: str) -> QueryNode | None:
    codes: list[QueryNode] = [LanguageFilter(code) for code in codes_of(value)]
    return any_of(codes) if codes else None


def _in_field(field: str) -> Callable[[str], QueryNode | None]:
    def read(value: str) -> QueryNode | None:
        found: list[QueryNode] = (
            [TagFilter(tag) for tag in word_tags(field, value)] if len(value) <= MAX_VALUE_CHARS else []
        )
        return all_of(found) if found else None

    return read


def _type(value: str) -> TagFilter | None:
    ending = value.lower().removeprefix(".")
    return TagFilter(f"type:{_ALIASES.get(ending, ending)}") if _TYPE.fullmatch(ending) else None


def _before(value: str) -> QueryNode | None:
    days = _days(value)
    return _dated(date(FIRST_YEAR, 1, 1), days[0] - timedelta(1)) if days else None


def _after(value: str) -> QueryNode | None:
    days = _days(value)
    return _dated(days[0], date(LAST_YEAR, 12, 31)) if days else None


def _dated(first: date, last: date) -> QueryNode | None:
    tags: list[QueryNode] = [TagFilter(tag) for tag in date_tags(first, last)]
    return any_of(tags) if tags else None


def _days(value: str) -> tuple[date, date] | None:
    """The first and last day of a year, a month or a day; None where it is none between FIRST_YEAR and LAST_YEAR."""
    found = _DATE.fullmatch(value)
    if found is None:
        return None
    year, month, day = (int(part) if part else 0 for part in found.groups())
    if not (FIRST_YEAR <= year <= LAST_YEAR and month <= 12 and (not day or month >= 1)):
        return None
    if (found[2] and not month) or (found[3] and not 1 <= day <= monthrange(year, month)[1]):
        return None
    last = month or 12
    return date(year, month or 1, day or 1), date(year, last, day or monthrange(year, last)[1])


FILTERS = {
    "site": FilterRule(_site, "site:example.org/docs"),
    "lang": FilterRule(_language, "lang:de"),
    "intitle": FilterRule(_in_field("title"), "intitle:tutorial", True),
    "inurl": FilterRule(_in_field("url"), "inurl:docs", True),
    "inimage": FilterRule(_in_field("image"), "inimage:sunset", weighs=True),
    "filetype": FilterRule(_type, "filetype:pdf"),
    "before": FilterRule(_before, "before:2024-05"),
    "after": FilterRule(_after, "after:2023"),
}
