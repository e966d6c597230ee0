"""The bodies that other programs' clients send, as they are described in the OpenAPI document.

Pure: values only. `client_requests.py` checks the bounds, so that its errors name a remedy.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from node.extras.clients.narrowing import TIME_RANGES
from node.web.requests.routes import MAX_COUNT

MAX_LOADED = 20  # pages in one request of Tavily's or Open WebUI's clients, as these bound it themselves
MAX_SITES = 20  # wanted in one search of Tavily's, and unwanted: a query has 64 leaves
MAX_TAVILY = 20  # results of such a search, by Tavily's own bound
TOPICS = ("general", "news", "finance")  # that it may name


def _said(**schema: object) -> Meta:
    return Meta(extra_json_schema=schema)


_DAY, _HOSTS, _ADDRESSES = _said(format="date"), _said(maxItems=MAX_SITES), _said(minItems=1, maxItems=MAX_LOADED)


class OpenWebUiSearch(msgspec.Struct):
    """The body of POST /clients/open-webui/search."""

    query: str
    count: Annotated[int, _said(minimum=1, maximum=MAX_COUNT)] = 10


class OpenWebUiLoad(msgspec.Struct):
    """The body of POST /clients/open-webui/load."""

    urls: Annotated[list[str], _ADDRESSES]


class TavilySearch(msgspec.Struct):
    """The body of POST /clients/tavily/search, as far as it means something here."""

    query: str
    max_results: Annotated[int | None, _said(minimum=0, maximum=MAX_TAVILY)] = None
    topic: Annotated[str | None, _said(enum=[*TOPICS, None])] = None
    days: Annotated[int | None, _said(minimum=1)] = None
    time_range: Annotated[str | None, _said(enum=[*TIME_RANGES, None])] = None
    start_date: Annotated[str | None, _DAY] = None
    end_date: Annotated[str | None, _DAY] = None
    include_domains: Annotated[list[str] | None, _HOSTS] = None
    exclude_domains: Annotated[list[str] | None, _HOSTS] = None
    include_raw_content: bool | str | None = None


class TavilyExtract(msgspec.Struct):
    """The body of POST /clients/tavily/extract: one address, or a list."""

    urls: Annotated[str | list[str], _ADDRESSES]
