"""Serves MCP at /mcp by Streamable HTTP, without sessions: each POST has one message and is answered by one.

Nothing is ever sent unasked, so there is no stream to open (GET is answered 405), and nothing to resume.
"""

from collections.abc import Awaitable, Collection
from typing import TypeVar

import msgspec
from aiohttp import web

from dht import DseError
from index import SearchRequest
from node.errors import RefusedByNode
from node.extras.clients.mcp_protocol import (
    MAX_MESSAGE_BYTES,
    NO_METHOD,
    McpRefusal,
    answer,
    check_headers,
    is_stateless,
    read_message,
    refused,
)
from node.extras.clients.mcp_tools import SearchArguments
from node.extras.clients.open_webui import open_webui_pages
from node.extras.clients.stored_pages import stored_pages
from node.service.service import Service
from node.views.lenient_json import Json
from node.web.requests.own_origin import own_host
from node.web.requests.problems import BadParameter, problem_of

DEADLINE_MS = 2000  # as the API's

Read = TypeVar("Read")


class Mcp:
    """Holds the handler of /mcp. `origins`: of pages that may ask, beside those of this node itself."""

    def __init__(self, service: Service, origins: Collection[str]) -> None:
        self._node = NodeReads(service)
        self._origins = frozenset(origins)

    async def mcp(self, request: web.Request) -> web.Response:
        """Answer POST /mcp."""
        self._check_origin(request)
        if request.content_type != "application/json":
            raise BadParameter("Content-Type", "is not application/json")
        small = request.clone(client_max_size=MAX_MESSAGE_BYTES)
        try:
            message = read_message(await small.read())
            check_headers(message, request.headers)
        except McpRefusal as error:
            return _json(refused(error), 400)
        told = await answer(self._node, message)
        if told is None:
            return web.Response(status=202)
        return _json(told, _status(told) if is_stateless(message) else 200)

    def _check_origin(self, request: web.Request) -> None:
        """Refuse what a page of another site sends by its reader's browser, unless the owner named it."""
        origin = request.headers.get("Origin")
        own = (f"http://{own_host(request)}", f"https://{own_host(request)}")  # https: of a proxy that is not named
        if origin is not None and origin not in own and not self._origins & {origin, "*"}:
            raise web.HTTPForbidden(reason="Pages of this origin may not ask; the owner names them in node.web_origins")


class NodeReads:
    """Reads of this node itself what the tools need; errors say no more than the HTTP API says."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def search(self, asked: SearchArguments) -> Json:
        """Search as GET /api/v1/search does."""
        by_date = asked.sort == "date"
        question = SearchRequest(
            asked.query,
            limit=asked.limit,
            language=asked.lang,
            site=asked.site,
            deadline_ms=DEADLINE_MS,
            is_by_date=by_date,
        )
        return await _told(self._service.search(question))

    async def load(self, url: str) -> list[Json]:
        """Read a stored page as POST /clients/open-webui/load does."""
        return open_webui_pages(await _told(stored_pages(self._service, [url])))


async def _told(reading: Awaitable[Read]) -> Read:
    try:
        return await reading
    except DseError as error:
        problem = problem_of(error)
        assert problem is not None, "each of our errors is a problem"
        raise RefusedByNode(problem.detail, problem.status, problem.position) from None


def _status(told: Json) -> int:
    """Return the HTTP status of an answer, as the stateless version wants it."""
    if "error" not in told:
        return 200
    return 404 if told["error"]["code"] == NO_METHOD else 400


def _json(told: Json, status: int) -> web.Response:
    return web.Response(body=msgspec.json.encode(told), status=status, content_type="application/json")
