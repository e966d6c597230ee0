"""Lets pages of other sites read public answers in a browser (CORS), and spares callers an answer that they have.

Only reads that tell everybody the same are shared, with the origins that the node's owner names. Cookies and the
owner's token never count there: a page could otherwise use the reader's node as the reader. Source: the Fetch standard;
RFC 9110.
"""

from collections.abc import Collection
from hashlib import blake2b

from aiohttp import web

from node.web.requests.route_table import ROUTES
from node.web.requests.routes import HttpRoute

ANY = "*"
KEPT_S = 86_400  # how long a browser remembers what it was told; what follows is checked at each answer anyway
READABLE = "Content-Language, ETag, Link, Memento-Datetime, Retry-After, X-Unread-Slots"
SENDABLE = (  # no Authorization
    "Accept, Accept-Datetime, Accept-Language, Content-Type, If-None-Match, Mcp-Method, Mcp-Name, MCP-Protocol-Version"
)
# What is no answer to a question may be kept by caches and is asked for again by its tag; questions leave no trace.
_KEPT_BY_CACHES = frozenset({"openapi", "opensearch", "strategy", "strategy_log"})


class Sharing:
    """Says which origins may read the answers of one listener."""

    def __init__(self, origins: Collection[str]) -> None:
        self._origins = frozenset(origins)

    def share(self, route: HttpRoute, request: web.Request, response: web.StreamResponse) -> None:
        """Allow the asking page to read an answer of a public route, where its origin is allowed; no page is shared."""
        if route.is_public and response.content_type != "text/html":
            allowed = self._allowed(request)
            if "Vary" in response.headers and "Vary" in allowed:
                allowed["Vary"] = f"{response.headers['Vary']}, {allowed['Vary']}"
            response.headers.update(allowed)

    async def preflight(self, request: web.Request) -> web.Response:
        """Answer OPTIONS of a public route: what a page of the asking origin may do with it."""
        resource = request.match_info.route.resource
        orders = {each.method: each for each in ROUTES if resource and each.path == resource.canonical}
        head = {"HEAD"} if "GET" in orders else set()
        headers = {"Allow": ", ".join(sorted({"OPTIONS", *head, *orders}))}
        if allowed := self._allowed(request):
            headers |= allowed | {
                "Access-Control-Allow-Methods": "GET, HEAD" if head else "POST",
                "Access-Control-Allow-Headers": SENDABLE,
                "Access-Control-Max-Age": str(KEPT_S),
            }
        return web.Response(status=204, headers=headers)

    def _allowed(self, request: web.Request) -> dict[str, str]:
        if not self._origins:
            return {}
        if ANY in self._origins:
            return {"Access-Control-Allow-Origin": ANY, "Access-Control-Expose-Headers": READABLE}
        origin = request.headers.get("Origin", "")
        if origin not in self._origins:
            return {"Vary": "Origin"}
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": READABLE,
            "Vary": "Origin",
        }


def tagged(route: HttpRoute, request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Give an answer of a public route an ETag, or return a 304 where the caller has that answer already."""
    if not route.is_public or route.method != "GET" or response.status != 200 or response.content_type == "text/html":
        return response
    if not isinstance(response, web.Response) or not isinstance(response.body, bytes):
        return response
    tag = blake2b(response.body, digest_size=16).hexdigest()
    response.headers["ETag"] = f'"{tag}"'
    if route.name in _KEPT_BY_CACHES:
        response.headers["Cache-Control"] = "no-cache"
    if not any(each.value in (tag, ANY) for each in request.if_none_match or ()):
        return response
    kept = {name: text for name, text in response.headers.items() if name in ("ETag", "Cache-Control", "Link", "Vary")}
    return web.Response(status=304, headers=kept)
