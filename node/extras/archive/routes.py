"""Lists the route by which archives' programs list what is stored. `node/extras/__init__.py` names this module."""

from node.captures.scope import MATCH_TYPES
from node.config.settings import NodeConfig
from node.service.service import Service
from node.web.requests.route_table import Handlers, handlers_of
from node.web.requests.routes import MAX_URL, TEXT, HttpRoute, Parameter

_CDX = (
    Parameter(
        "url", "a URL or host; with * at its end a prefix, with *. before it a domain", default=None, most=MAX_URL
    ),
    Parameter("matchType", "what of `url` must be equal", default="exact", choices=MATCH_TYPES),
    Parameter("from", "the first instant: 4 to 14 digits, year first, UTC", most=14),
    Parameter("to", "the last instant, in the same way", most=14),
    Parameter("output", "text for CDXJ lines, json for an object a line", default="text", choices=("text", "json")),
    Parameter("limit", "lines, at most", "count", 1000, 1, 10_000),
    Parameter("cursor", "that of the link `next` of the answer before", most=40),
)
_ABOUT = "The stored versions of pages, as CDX servers list them"
ROUTES: tuple[HttpRoute, ...] = (
    HttpRoute(
        "GET",
        "/cdx",
        "cdx",
        _ABOUT,
        TEXT,
        parameters=_CDX,
        weight=20,
        is_public=True,
    ),
)


def handlers(service: Service, config: NodeConfig) -> Handlers:
    """Make what answers the route."""
    from node.extras.archive.cdx_handler import Cdx

    return handlers_of(Cdx(service))
