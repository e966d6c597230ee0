"""Answers the HTTP API below /api/v1: reads a request by the table of routes, asks the node, answers JSON."""

from typing import TypeVar

import msgspec
from aiohttp import web

from crawl import SITE_ORDERS
from dht import MALFORMED
from index import SearchRequest
from node.api.crawl import CrawlOrder, ProgressList, ProgressOrder, RemovalOrder
from node.api.documents import DocumentList
from node.api.evidence import EvidenceOrder
from node.api.peers import Peers
from node.api.search import Suggestions
from node.api.strategy_schema import strategy_schema
from node.config.toml_reader import body_flaw
from node.jobs.job_progress import MAX_ASKED
from node.owner.member_page import ORDERS
from node.service.service import Service
from node.views.safe_text import plain
from node.web.requests.asker_language import asker_language
from node.web.requests.openapi import openapi
from node.web.requests.own_origin import caller_of
from node.web.requests.parameters import Values, read_parameters
from node.web.requests.problems import BadParameter
from node.web.requests.route_table import route
from node.web.requests.routes import MAX_DEPTH, MAX_URL

MAX_SEEDS = 1000

Body = TypeVar("Body", bound=msgspec.Struct)


def parameters(request: web.Request, name: str) -> Values:
    """Read a request's parameters by the route that bears the handler's name."""
    return read_parameters(route(name), list(request.query.items()))


def json_response(body: object, status: int = 200) -> web.Response:
    """Return a JSON answer; NaN and infinities become null, as JSON has none."""
    return web.Response(body=msgspec.json.encode(body), status=status, content_type="application/json", charset="utf-8")


def search_request(values: Values, query: str, limit: int, deadline_ms: int, asker_language: str) -> SearchRequest:
    """Make the search that a request's parameters ask for; the rest differs between API and page."""
    return SearchRequest(
        query,
        limit=limit,
        cursor=values.text("cursor"),
        language=values.text("lang"),
        site=values.text("site"),
        deadline_ms=deadline_ms,
        explain=values.flag("explain"),
        facets=values.flag("facets"),
        is_by_date=values.text("sort") == "date",
        is_verbatim=values.flag("verbatim"),
        asker_language=asker_language,
    )


def slot_wish(values: Values, start: str = "from") -> tuple[str, bool, int | None, int]:
    """Read which slots are asked for: of which member, with few copies, of which number, and from where on."""
    typed = values.text("slot").strip()
    if typed and not (typed.isascii() and typed.isdecimal()):
        raise BadParameter("slot", f"is {plain(typed)!r}; it takes the number of a slot")
    return plain(values.text("member").strip()), values.flag("few"), int(typed) if typed else None, values.count(start)


class Api:
    """Holds the handlers of the API, named as in the table of routes."""

    def __init__(self, service: Service, version: str) -> None:
        self._service = service
        self._openapi = openapi(version)

    async def search(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/search."""
        values = parameters(request, "search")
        asker = asker_language(values.text("asker_lang"), request.headers.get("Accept-Language", ""))
        question = search_request(values, values.text("q"), values.count("limit"), values.count("deadline_ms"), asker)
        return json_response(await self._service.search(question, caller_of(request)))

    async def suggest(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/suggest."""
        typed = parameters(request, "suggest").text("q")
        return json_response(Suggestions(query=typed, suggestions=await self._service.suggest(typed)))

    async def opensearch_suggestions(self, request: web.Request) -> web.Response:
        """Answer GET /suggest as OpenSearch has it: what was typed, then a list."""
        typed = parameters(request, "opensearch_suggestions").text("q")
        body = msgspec.json.encode([typed, await self._service.suggest(typed)])
        return web.Response(body=body, content_type="application/x-suggestions+json", charset="utf-8")

    async def status(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/status."""
        return json_response(await self._service.status())

    async def peers(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/peers."""
        values = parameters(request, "peers")
        order = next((each for each in ORDERS if each == values.text("order")), None)
        return json_response(Peers(peers=await self._service.peers(plain(values.text("find").strip()), order)))

    async def slots(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/slots."""
        values = parameters(request, "slots")
        return json_response(await self._service.slots.slots(*slot_wish(values), values.count("limit")))

    async def sites(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/sites."""
        values = parameters(request, "sites")
        order = next(each for each in SITE_ORDERS if each == values.text("order"))
        begins = plain(values.text("begins").strip().lower())
        wanted = begins, order, values.count("from"), values.count("limit")
        desk = self._service.sites
        return json_response(await desk.network(*wanted) if values.flag("network") else desk.own(*wanted))

    async def strategy(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/strategy."""
        values = parameters(request, "strategy")
        return json_response(await self._service.strategy(values.text("version")))

    async def strategy_schema(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/strategy/schema."""
        return json_response(strategy_schema())

    async def strategy_log(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/strategy/log."""
        return json_response(await self._service.strategy_log())

    async def preview_strategy(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/strategy/preview."""
        return json_response(await self._service.preview_strategy(await request.read()))

    async def document(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/document."""
        values = parameters(request, "document")
        found = await self._service.document(values.texts("url"), local=values.flag("local"))
        return json_response(DocumentList(documents=found))

    async def crawl(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/crawl, within the bounds of one request; 202 where too few owners keep the seeds yet."""
        order = await read_body(request, CrawlOrder)
        given = [*order.urls, *order.sitemaps]
        if not 1 <= len(given) <= MAX_SEEDS:
            raise BadParameter("urls", f"has {len(given)} addresses; 1 to {MAX_SEEDS} are taken at once")
        if any(len(url) > MAX_URL for url in given):
            raise BadParameter("urls", f"has an address of more than {MAX_URL} characters")
        if not 0 <= order.depth <= MAX_DEPTH:
            raise BadParameter("depth", f"is {order.depth}; it takes 0 to {MAX_DEPTH}")
        found = await self._service.crawl(
            order.urls,
            depth=order.depth,
            scope=order.scope,
            sitemaps=order.sitemaps,
            dry_run=order.dry_run,
            every=order.every,
            exclude=order.exclude,
        )
        return json_response(found, 202 if found.waits else 200)

    async def remove(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/remove."""
        return json_response(await self._service.remove((await read_body(request, RemovalOrder)).url))

    async def progress(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/crawl/progress."""
        asked = await read_body(request, ProgressOrder)
        if len(asked.urls) > MAX_ASKED:
            raise BadParameter("urls", f"has {len(asked.urls)} addresses; {MAX_ASKED} are looked at at once")
        return json_response(ProgressList(urls=await self._service.progress(asked.urls)))

    async def evidence(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/evidence."""
        order = await read_body(request, EvidenceOrder)
        return json_response(await self._service.evidence(fetches=order.fetch))

    async def explain(self, request: web.Request) -> web.Response:
        """Answer GET /api/v1/explain."""
        values = parameters(request, "explain")
        return json_response(await self._service.explain(values.text("url")))

    async def publish_strategy(self, request: web.Request) -> web.Response:
        """Answer POST /api/v1/strategy."""
        return json_response(await self._service.publish_strategy(await request.read()))

    async def openapi(self, request: web.Request) -> web.Response:
        """Answer GET /openapi.json."""
        return json_response(self._openapi)


async def read_body(request: web.Request, kind: type[Body]) -> Body:
    """Read a request's body, which is JSON; raises BadParameter."""
    if request.content_type != "application/json":
        raise BadParameter("Content-Type", f"is {plain(request.content_type)!r}; it takes application/json")
    try:
        return msgspec.json.decode(await request.read(), type=kind)
    except MALFORMED as error:
        raise BadParameter("body", body_flaw(str(error), kind)) from None
