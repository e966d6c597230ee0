"""Checks every request on its way in and every answer on its way out: host, token, bounds, headers, errors."""

import asyncio
import ipaddress
import logging
import re
import secrets
from collections.abc import Callable

import msgspec
from aiohttp import HttpVersion11, web

from dht import LocalError
from node.api.body import NODE_HEADER
from node.config.settings import NodeConfig
from node.web.monitoring import Metrics
from node.web.owner.login import Logins, role_in
from node.web.rendering.pages import ROLE
from node.web.requests.caller_limit import CallerLimit
from node.web.requests.own_origin import note_caller, note_origin
from node.web.requests.problems import MEDIA_TYPE, Problem, problem_of, unreadable
from node.web.requests.proxied_caller import ProxiedCallers, ProxyLogins, is_passed_on
from node.web.requests.route_table import Handler
from node.web.requests.routes import MAX_LINE_BYTES, HttpRoute
from node.web.requests.sharing import Sharing, tagged

log = logging.getLogger(__name__)

PagesProblem = Callable[[web.Request, Problem], web.Response]

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; "
    "form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # a result's site does not learn the query; our forms say that they are ours
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",  # answers tell what somebody searched for
    "Server": "dse-node",
}
_HOST = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[^:\[\]]{1,255}))(?::(?P<port>[0-9]{1,5}))?")
MAX_PORT = 65_535
HEALTH_PATHS = frozenset({"/healthz", "/readyz"})
ALWAYS_ANSWERED = frozenset({"healthz", "readyz", "metrics"})  # an operator must see a busy node


class Guard:
    """Wraps the handlers of one listener in its checks, and counts the requests under way."""

    def __init__(
        self,
        config: NodeConfig,
        token: str,
        metrics: Metrics,
        page: PagesProblem,
        logins: Logins,
        node_id: str = "",
    ) -> None:
        self._config = config
        self._all_headers = HEADERS | ({NODE_HEADER: node_id} if node_id else {})
        self._names = frozenset(name.lower().rstrip(".") for name in ("localhost", *config.web_names))
        self._token = token.encode()
        self._metrics = metrics
        self._page, self._logins = page, logins
        self._callers = CallerLimit(config.web_caller_per_s, config.web_caller_burst)
        self._proxied = ProxiedCallers(config.web_trusted_proxies, config.web_proxy_header)
        self._proxy_logins = ProxyLogins(config)
        self._sharing = Sharing(config.web_origins)
        self._open = 0

    def wrap(self, route: HttpRoute, handler: Handler) -> Handler:
        """Return a route's handler with all checks around it."""

        async def guarded(request: web.Request) -> web.StreamResponse:
            response = tagged(route, request, await self._answer(request, route, handler))
            self._sharing.share(route, request, response)
            self._metrics.count(route.name, response.status)
            return response

        return guarded

    async def preflight(self, request: web.Request) -> web.Response:
        """Answer OPTIONS of a public route, and count it against its caller."""
        late = self._over_rate(request)
        return self._show(request, late) if late else await self._sharing.preflight(request)

    def unreadable(self, message: str) -> web.Response:
        """Answer what the web library could not read as HTTP. `message`: what it says about that."""
        response = _json(unreadable(message))
        response.headers.update(self._all_headers)
        return response

    async def headers(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Check the host, answer what no route serves, and set the headers of every answer. The handler is all of the
        application, whose library reads more of a request before it asks a route."""
        try:
            flaw = self._flaw(request)
            if flaw:
                response: web.StreamResponse = self._turned_away(request, flaw)
            else:
                note_origin(request, self._proxied, self._is_named)
                response = await handler(request)
        except web.HTTPException as error:  # from the router: no such path, or method
            late = self._over_rate(request)
            response = self._show(request, late) if late else self._of_http(request, error)
        except ValueError as error:  # a route's own are caught where it is asked
            log.debug("request not read method=%s: %s", request.method, type(error).__name__)
            detail = "This request cannot be read: its address or a header holds what HTTP has no meaning for."
            response = self._turned_away(request, Problem(400, detail))
        for name, value in self._all_headers.items():
            response.headers.setdefault(name, value)
        return response

    def _flaw(self, request: web.Request) -> Problem | None:
        """Say why a request reaches no route. HTTP/1.0 needs no Host (RFC 9112, 3.2), and no browser leaves it out; the
        programs of proxies and containers ask for health by names of their own."""
        if len(request.raw_path) > MAX_LINE_BYTES:
            return Problem(414, f"The address is longer than {MAX_LINE_BYTES} bytes; ask for fewer words.")
        hosts = request.headers.getall("Host", ())
        if len(hosts) > 1 or (not hosts and request.version >= HttpVersion11):
            return Problem(400, "The request needs one header Host.")
        return None if not hosts or request.path in HEALTH_PATHS else self._host_flaw(hosts[0])

    def _host_flaw(self, host: str) -> Problem | None:
        match = _HOST.fullmatch(host)
        if match and int(match["port"] or 0) > MAX_PORT:
            return Problem(400, f"Host: {match['port']} is no port, which is {MAX_PORT} at most.")
        if not self.is_host_allowed(host):
            return Problem(421, "This name is not one of this node's; add it to node.web_names in config.toml.")
        return None

    def _turned_away(self, request: web.Request, problem: Problem) -> web.Response:
        """Answer a request that reaches no route; it counts against its caller as any other."""
        return self._show(request, self._over_rate(request) or problem)

    def is_host_allowed(self, host: str) -> bool:
        """Tell whether a Host header may reach us: a literal address or one of our names. Anything else could be a
        stranger's name that points here (DNS rebinding), whose pages would then read our answers."""
        match = _HOST.fullmatch(host)
        if match is None:
            return False
        name = match["v6"] or match["name"]
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name.lower().rstrip(".") in self._names
        return True

    def _is_named(self, host: str) -> bool:
        """Tell whether a host, with or without a port, is one of our names; no address is."""
        match = _HOST.fullmatch(host)
        name, _, port = host.partition(":")
        return match is not None and name.lower().rstrip(".") in self._names and 0 < int(port or 1) < 1 << 16

    async def _answer(self, request: web.Request, route: HttpRoute, handler: Handler) -> web.StreamResponse:
        role = role_in(request, self._logins, self._proxy_logins)
        request[ROLE] = role or ""
        is_owner = role == "owner" or self._has_token(request)
        if not is_owner and (problem := self._over_rate(request, route.weight)):
            return self._show(request, problem)
        if role == "viewer" and not is_owner and route.needs_token and route.method != "GET" and route.name != "logout":
            return self._show(request, Problem(403, "This login may look at everything here, and change nothing."))
        may_look = is_owner or role == "viewer"
        if not may_look and (route.needs_token or (route.is_private and is_passed_on(request.headers))):
            detail = "Missing or wrong token; send Authorization: Bearer <content of admin.token>."
            response = self._show(request, Problem(401, detail))
            response.headers["WWW-Authenticate"] = "Bearer"
            return response
        if self._open >= self._config.web_max_requests and route.name not in ALWAYS_ANSWERED:
            return self._show(request, Problem(503, "This node has too much to do just now.", retry_after_s=1))
        self._open += 1
        try:
            async with asyncio.timeout(self._config.web_timeout_s):
                return await handler(request)
        except web.HTTPException as error:
            return self._of_http(request, error)
        except Exception as error:  # one API request: the third of the three named places
            return self._show(request, _problem(request, error))
        finally:
            self._open -= 1

    def _over_rate(self, request: web.Request, weight: int = 1) -> Problem | None:
        """Count a request against its caller, wrong tokens included, and return what is told a caller of too many."""
        wait_s = self._callers.wait_s(note_caller(request, self._proxied), asyncio.get_running_loop().time(), weight)
        if not wait_s:
            return None
        rate = f"{self._config.web_caller_per_s:g} a second, and {self._config.web_caller_burst} at once"
        cost = f" This one counts as {weight}." if weight > 1 else ""
        detail = f"Your address asks too often; this node answers {rate}.{cost} Ask again in {wait_s} s."
        return Problem(429, detail, retry_after_s=wait_s)

    def _has_token(self, request: web.Request) -> bool:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        return scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), self._token)

    def _of_http(self, request: web.Request, error: web.HTTPException) -> web.StreamResponse:
        is_preflight = "Access-Control-Request-Method" in request.headers  # of a page, which is shared with nobody here
        if error.status == 405 and request.method == "OPTIONS" and not is_preflight:  # HAProxy asks so for health
            return web.Response(status=204, headers={"Allow": f"{error.headers['Allow']},OPTIONS"})
        if error.status < 400:
            return web.Response(status=error.status, headers={"Location": error.headers.get("Location", "/")})
        details = {
            404: "There is nothing at this address; /openapi.json lists what there is.",
            405: f"This address takes {error.headers.get('Allow', '').replace(',', ', ')}, not {request.method}.",
            413: f"The body of the request is too long. {error.text or ''}".strip(),
        }
        response = self._show(request, Problem(error.status, details.get(error.status, error.reason)))
        if "Allow" in error.headers:
            response.headers["Allow"] = error.headers["Allow"]
        return response

    def _show(self, request: web.Request, problem: Problem) -> web.Response:
        wants_page = "text/html" in request.headers.get("Accept", "") and not request.path.startswith("/api/")
        if wants_page and request.query.get("format") != "json":
            response = self._page(request, problem)
            if problem.retry_after_s:
                response.headers["Retry-After"] = str(problem.retry_after_s)
            return response
        return _json(problem)


def _json(problem: Problem) -> web.Response:
    body = msgspec.json.encode(problem.body())
    headers = {"Retry-After": str(problem.retry_after_s)} if problem.retry_after_s else {}
    return web.Response(body=body, status=problem.status, content_type=MEDIA_TYPE, headers=headers)


def _problem(request: web.Request, error: Exception) -> Problem:
    """Return the problem of an error of ours; log anything else here, once, and tell nobody outside."""
    if isinstance(error, web.RequestPayloadError):
        return Problem(400, "The body is not what Content-Encoding or Transfer-Encoding says.")
    problem = problem_of(error)
    if problem is None:
        log.exception("request failed method=%s path=%s", request.method, request.path, exc_info=error)
        return Problem(500, "Something unforeseen happened on this node; its log says what.")
    if problem.status == 503:  # only a fault of this machine is one for its operator to mend
        level = logging.ERROR if isinstance(error, LocalError) else logging.INFO
        log.log(level, "request refused method=%s path=%s: %s", request.method, request.path, error)
    return problem
