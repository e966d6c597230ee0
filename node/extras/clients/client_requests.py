"""Reads the bodies that other programs' clients send, within bounds; what they say beyond that is ignored."""

import re
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

import msgspec
from aiohttp import web

from node.extras.clients.bodies import MAX_LOADED, MAX_SITES, TOPICS, TavilySearch
from node.extras.clients.narrowing import TIME_RANGES, Narrowing, days_before, narrowed, since_range
from node.views.safe_text import plain
from node.web.requests.api import read_body
from node.web.requests.problems import BadParameter
from node.web.requests.routes import MAX_COUNT, MAX_QUERY, MAX_URL

MAX_BODY_BYTES = 64 << 10  # 20 URLs of 2 kB, and as many hosts
_SITE = re.compile(r"(?:https?://)?(?:\*\.)?([\w-]+(?:\.[\w-]+)*)/?")

ClientBody = TypeVar("ClientBody", bound=msgspec.Struct)


async def read_client_body(request: web.Request, kind: type[ClientBody]) -> ClientBody:
    """Read a body of at most 64 KiB; raises BadParameter, and what becomes a 413."""
    small = request.clone(client_max_size=MAX_BODY_BYTES)
    assert isinstance(small, web.Request)
    return await read_body(small, kind)


def words_of(query: str) -> str:
    """Return the words of a query; raises BadParameter where there are none, or too many."""
    words = query.strip()
    if not words:
        raise BadParameter("query", "is empty; it takes words to look for")
    if len(words) > MAX_QUERY:
        raise BadParameter("query", f"has {len(words)} characters; at most {MAX_QUERY} are read")
    return words


def count_of(name: str, count: int, least: int = 1, most: int = MAX_COUNT) -> int:
    """Return a number of results; raises BadParameter where it is out of bounds."""
    if not least <= count <= most:
        raise BadParameter(name, f"is {count}; it takes {least} to {most}")
    return count


def addresses_of(urls: str | Sequence[str]) -> list[str]:
    """Return the addresses of pages that are asked for, each once; raises BadParameter where they are too many."""
    given = [urls] if isinstance(urls, str) else list(dict.fromkeys(urls))
    if not 1 <= len(given) <= MAX_LOADED:
        raise BadParameter("urls", f"has {len(given)} addresses; it takes 1 to {MAX_LOADED}")
    for url in given:
        if len(url) > MAX_URL:
            raise BadParameter("urls", f"has an address of {len(url)} characters; it takes {MAX_URL}: {url[:80]}…")
    return given


def tavily_query(asked: TavilySearch, today: date) -> str:
    """Write a search of Tavily's as a query of ours; raises BadParameter for what none can say."""
    if asked.topic and asked.topic not in TOPICS:
        raise BadParameter("topic", f"is {_shown(asked.topic)}; it takes {', '.join(TOPICS)}")
    by = Narrowing(
        _sites("include_domains", asked.include_domains or []),
        _sites("exclude_domains", asked.exclude_domains or []),
        _since(asked, today),
        _day("end_date", asked.end_date),
    )
    query = narrowed(words_of(asked.query), by)
    if len(query) > MAX_QUERY:
        reason = f"make the query {len(query)} characters long; at most {MAX_QUERY} are read: name fewer"
        raise BadParameter("include_domains, exclude_domains", reason)
    return query


def _since(asked: TavilySearch, today: date) -> date | None:
    if asked.time_range and asked.time_range not in TIME_RANGES:
        raise BadParameter("time_range", f"is {_shown(asked.time_range)}; it takes {', '.join(TIME_RANGES)}")
    if asked.days is not None and asked.days < 1:
        raise BadParameter("days", f"is {asked.days}; it takes 1 or more")
    spans = days_before(today, asked.days) if asked.days else None
    return _day("start_date", asked.start_date) or since_range(asked.time_range or "", today) or spans


def _day(name: str, text: str | None) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadParameter(name, f"is {_shown(text)}; it takes a day like 2026-11-24") from None


def _sites(name: str, domains: list[str]) -> list[str]:
    if len(domains) > MAX_SITES:
        raise BadParameter(name, f"has {len(domains)} hosts; it takes {MAX_SITES}")
    found = [_SITE.fullmatch(domain.strip()) for domain in domains]
    for domain, match in zip(domains, found, strict=True):
        if match is None or len(match[1]) > 255:
            raise BadParameter(name, f"has {_shown(domain)}; it takes hosts like example.org, without a path")
    return [match[1] for match in found if match]


def _shown(text: object) -> str:
    return repr(plain(text, 80))
