"""Says by which scheme, host and port a caller reached this node, so that its addresses and cookies fit there, and from
which address."""

from collections.abc import Callable

from aiohttp import web

from node.web.requests.proxied_caller import ProxiedCallers

_ORIGIN = web.RequestKey("origin", str)
_CALLER = web.RequestKey("caller", str)


def note_origin(request: web.Request, proxied: ProxiedCallers, is_named: Callable[[str], bool]) -> None:
    """Find the origin of a request whose Host header was checked. `is_named`: whether a host is one of ours."""
    peer = request.remote or ""
    host = request.headers.get("Host") or _own_address(request)  # one in the target of the request was not checked
    request[_ORIGIN] = proxied.origin(
        peer, request.scheme, host, lambda name: request.headers.getall(name, ()), is_named
    )


def _own_address(request: web.Request) -> str:
    """Return the address that a connection came in at."""
    address, port = request.get_extra_info("sockname", ("localhost", 80))[:2]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def note_caller(request: web.Request, proxied: ProxiedCallers) -> str:
    """Find and return the address that asks, as far as the proxies of this node tell it."""
    request[_CALLER] = proxied.caller(request.remote or "", request.headers.getall(proxied.header, ()))
    return request[_CALLER]


def caller_of(request: web.Request) -> str:
    """Return the address that asks, "" where it is the owner's."""
    return str(request.get(_CALLER, ""))


def own_origin(request: web.Request) -> str:
    """Return what each address of this node begins with for this caller, such as https://search.example.edu."""
    return request[_ORIGIN]


def own_host(request: web.Request) -> str:
    """Return the host of this node, with its port where that is not the scheme's."""
    return own_origin(request).partition("://")[2]


def is_https(request: web.Request) -> bool:
    """Tell whether the caller came by https, so that a cookie may demand it."""
    return own_origin(request).startswith("https:")


def cookie_name(request: web.Request, stem: str) -> str:
    """Name a cookie: those of one machine are shared by all its ports, so each port has its own."""
    port = own_host(request).rpartition("]")[2].partition(":")[2]
    return f"{stem}-{port or (443 if is_https(request) else 80)}"


def own_cookie(request: web.Request, stem: str) -> str:
    """Return the value of a cookie of this node, "" where the browser sends none or the request reaches no route."""
    return request.cookies.get(cookie_name(request, stem), "") if _ORIGIN in request else ""
