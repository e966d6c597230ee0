"""Answers clients of other search programs, unmodified: each reads a request, asks the node, and has it translated."""

import asyncio
from datetime import UTC, datetime

from aiohttp import web

from index import SearchRequest, image_query
from node.extras.clients.bodies import MAX_TAVILY, OpenWebUiLoad, OpenWebUiSearch, TavilyExtract, TavilySearch
from node.extras.clients.client_requests import (
    addresses_of,
    count_of,
    read_client_body,
    tavily_query,
    words_of,
)
from node.extras.clients.found import FoundAnswer, read_found
from node.extras.clients.open_webui import open_webui_pages, open_webui_results
from node.extras.clients.result_forms import address_of, feed_response, language_of
from node.extras.clients.stored_pages import stored_pages
from node.extras.clients.tavily import tavily_pages, tavily_results
from node.extras.clients.yacy import YacyQuery, is_held, is_of_images, read_yacy_query, yacy_json
from node.service.service import Service
from node.views.safe_text import plain
from node.web.requests.api import json_response, parameters
from node.web.requests.paging import search_from
from node.web.requests.parameters import Values
from node.web.requests.problems import BadParameter

PAGE_COUNT = 10  # results of a page, where a client does not say
TAVILY_RESULTS = 5  # where a client does not say
DEADLINE_MS = 2000  # as the API's; clients wait some 3 s


class Clients:
    """Holds the handlers for other programs' clients, named as in the table of routes."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def yacy_search(self, request: web.Request) -> web.Response:
        """Answer GET /yacysearch.json."""
        values = parameters(request, "yacy_search")
        asked, found = await self._yacy(values)
        has_images = is_of_images(values.text("contentdom"))
        page = _page_of(request, asked, "images" if has_images else "")
        return json_response(yacy_json(found, page, _yacy_count(values), has_images=has_images))

    async def yacy_feed(self, request: web.Request) -> web.Response:
        """Answer GET /yacysearch.rss."""
        values = parameters(request, "yacy_feed")
        asked, found = await self._yacy(values)
        has_images = is_of_images(values.text("contentdom"))
        page = _page_of(request, asked, "images" if has_images else "")
        return feed_response(request, "rss", found, page, _yacy_count(values), has_images=has_images)

    async def yacy_suggest(self, request: web.Request) -> web.Response:
        """Answer GET /suggest.json: what was typed, then a list."""
        values = parameters(request, "yacy_suggest")
        typed = values.text("query") or values.text("q")
        return json_response([plain(typed), [plain(text) for text in await self._service.suggest(typed)]])

    async def open_webui_search(self, request: web.Request) -> web.Response:
        """Answer POST /clients/open-webui/search."""
        asked = await read_client_body(request, OpenWebUiSearch)
        words, count = words_of(asked.query), count_of("count", asked.count)
        answer = await self._service.search(SearchRequest(words, limit=count, deadline_ms=DEADLINE_MS))
        return json_response(open_webui_results(read_found(answer, words)))

    async def open_webui_load(self, request: web.Request) -> web.Response:
        """Answer POST /clients/open-webui/load: stored pages alone, nothing is fetched."""
        asked = await read_client_body(request, OpenWebUiLoad)
        return json_response(open_webui_pages(await stored_pages(self._service, addresses_of(asked.urls))))

    async def tavily_search(self, request: web.Request) -> web.Response:
        """Answer POST /clients/tavily/search."""
        asked = await read_client_body(request, TavilySearch)
        given = TAVILY_RESULTS if asked.max_results is None else asked.max_results
        count = count_of("max_results", given, 0, MAX_TAVILY)
        query = tavily_query(asked, datetime.now(UTC).date())
        question = SearchRequest(query, limit=count, deadline_ms=DEADLINE_MS)
        found = read_found(await self._service.search(question) if count else {}, asked.query.strip())
        urls = [page.url for page in found.pages] if asked.include_raw_content else []
        stored = await stored_pages(self._service, urls)
        return json_response(tavily_results(found, stored))

    async def tavily_extract(self, request: web.Request) -> web.Response:
        """Answer POST /clients/tavily/extract: stored pages alone, nothing is fetched."""
        clock = asyncio.get_running_loop().time
        began, asked = clock(), await read_client_body(request, TavilyExtract)
        urls = addresses_of(asked.urls)
        stored = await stored_pages(self._service, urls)
        return json_response(tavily_pages(urls, stored, clock() - began))

    async def _yacy(self, values: Values) -> tuple[YacyQuery, FoundAnswer]:
        if (resource := values.text("resource")) != "global":
            reason = f"is {plain(resource)!r}: a node answers for the whole network, never for itself alone; say global"
            raise BadParameter("resource", reason)
        query, start = values.text("query"), max(map(values.count, ("startRecord", "offset", "start")))
        asked = read_yacy_query(query, values.text("lr"))
        if not is_held(values.text("contentdom")):
            return asked, read_found({}, query, start)
        language = language_of(asked.language)
        question = SearchRequest(
            image_query(asked.words) if is_of_images(values.text("contentdom")) else asked.words,
            limit=_yacy_count(values),
            language=language,
            deadline_ms=DEADLINE_MS,
            is_by_date=asked.is_by_date,
        )
        return asked, read_found(await search_from(self._service, question, start), query, start)


def _yacy_count(values: Values) -> int:
    return values.count("maximumRecords") or values.count("count") or PAGE_COUNT


def _page_of(request: web.Request, asked: YacyQuery, tab: str) -> str:
    sort = "date" if asked.is_by_date else ""
    return address_of(request, q=asked.words, lang=language_of(asked.language), sort=sort, tab=tab)
