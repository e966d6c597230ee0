"""The one table of routes: what the server serves and what it reads from a request.

Pure: values only. `server.py` finds a handler for each route by its `name`; `parameters.py` reads requests by it;
`openapi.py` publishes it.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "count", "flag", "texts"]

JSON, HTML, TEXT = "application/json", "text/html", "text/plain"
MAX_QUERY = 1000  # characters; longer ones are no questions
MAX_URL = 2048  # bytes of a canonical URL
MAX_URLS = 100  # URLs in one request for documents


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter: its kind, default and bounds. For texts `most` bounds their number, else the length."""

    name: str
    about: str
    kind: Kind = "text"
    default: str | int | bool | None = ""  # None: it must be there
    least: int = 0
    most: int = 200


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """A method and a path, the name of its handler, and what the OpenAPI document says about it."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    about: str
    gives: str = JSON
    schema: str = ""
    takes: str = ""
    parameters: tuple[Parameter, ...] = ()
    needs_token: bool = False


_SYNTAX = 'words, "a phrase", -without, site:host, lang:zh, OR, parentheses'
_QUERY = Parameter("q", _SYNTAX, default=None, most=MAX_QUERY)
_LANGUAGE = Parameter("lang", "only documents in this language (ISO 639-1)", most=8)
_SITE = Parameter("site", "only documents of this host and those below it", most=255)
_CURSOR = Parameter("cursor", "`next_cursor` of the page before; good at any node", most=2000)
_INTERFACE = Parameter("hl", "the language of the page: en or zh", most=16)
_URL = Parameter("url", "the address of the page", default=None, most=MAX_URL)

_SEARCH = (
    _QUERY,
    Parameter("limit", "results on a page", "count", 10, 1, 100),
    _CURSOR,
    _LANGUAGE,
    _SITE,
    Parameter("deadline_ms", "answer within this time, with what there is", "count", 2000, 50, 20_000),
    Parameter("explain", "say how each score came about", "flag", False),
)
_SEARCH_PAGE = (
    Parameter("q", _SYNTAX, most=MAX_QUERY),
    _CURSOR,
    Parameter("page", "the number to show for this page", "count", 1, 1, 1000),
    _LANGUAGE,
    _SITE,
    _INTERFACE,
    Parameter("explain", "say how each score came about", "flag", False),
    Parameter("format", "json for the body of /api/v1/search", most=8),
)

ROUTES: tuple[HttpRoute, ...] = (
    HttpRoute("GET", "/", "home", "The front page", HTML, parameters=(_INTERFACE,)),
    HttpRoute("GET", "/search", "results", "Results as a page", HTML, parameters=_SEARCH_PAGE),
    HttpRoute("GET", "/status", "status_page", "The state of this node as a page", HTML, parameters=(_INTERFACE,)),
    HttpRoute("GET", "/cache", "cache", "A stored copy of a page, framed", HTML, parameters=(_URL, _INTERFACE)),
    HttpRoute("GET", "/cache/raw", "cache_raw", "The stored copy itself, with no rights", HTML, parameters=(_URL,)),
    HttpRoute("GET", "/bot", "bot", "Who crawls, and how to slow or stop it", HTML, parameters=(_INTERFACE,)),
    HttpRoute("GET", "/api/v1/search", "search", "Search the network", JSON, "Search", parameters=_SEARCH),
    HttpRoute("GET", "/api/v1/status", "status", "The state of this node", JSON, "Status"),
    HttpRoute("GET", "/api/v1/peers", "peers", "The members of the network, as this node sees them", JSON, "Peers"),
    HttpRoute(
        "GET",
        "/api/v1/strategy",
        "strategy",
        "The strategy document in force, or another accepted version",
        JSON,
        "Object",
        parameters=(Parameter("version", "a number, or newest; default: the one in force", most=16),),
    ),
    HttpRoute("GET", "/api/v1/strategy/log", "strategy_log", "Every accepted version, and its forks", JSON, "Object"),
    HttpRoute(
        "POST",
        "/api/v1/strategy/preview",
        "preview_strategy",
        "What a draft would move: owners, documents, bytes, hosts",
        JSON,
        "Object",
        "Object",
        (),
        True,
    ),
    HttpRoute(
        "GET",
        "/api/v1/document",
        "document",
        "Stored documents by URL, in order; null where there is none",
        JSON,
        "Documents",
        parameters=(
            Parameter("url", "the address of a page; may be repeated", "texts", None, 1, MAX_URLS),
            Parameter("local", "only what lies on this node's own disk", "flag", False),
        ),
    ),
    HttpRoute("POST", "/api/v1/crawl", "crawl", "Hand URLs to their owners", JSON, "Crawled", "CrawlOrder", (), True),
    HttpRoute(
        "POST",
        "/api/v1/crawl/progress",
        "progress",
        "What became of URLs that were handed in, and what they led to",
        JSON,
        "Progress",
        "ProgressOf",
        (),
        True,
    ),
    HttpRoute(
        "GET",
        "/api/v1/explain",
        "explain",
        "Would a URL be fetched, by whom, when, why not",
        JSON,
        "Explained",
        parameters=(_URL,),
    ),
    HttpRoute(
        "POST", "/api/v1/pause", "pause", "Stop or resume this node's fetching", JSON, "Pause", "Pause", (), True
    ),
    HttpRoute(
        "POST",
        "/api/v1/strategy",
        "publish_strategy",
        "Adopt a signed strategy document and spread it",
        JSON,
        "Object",
        "Object",
        (),
        True,
    ),
    HttpRoute("GET", "/healthz", "healthz", "200 while the process answers", TEXT),
    HttpRoute("GET", "/readyz", "readyz", "200 when this node serves at least one slot, else 503", TEXT),
    HttpRoute("GET", "/metrics", "metrics", "Figures in the Prometheus text format", TEXT),
    HttpRoute("GET", "/openapi.json", "openapi", "This document", JSON, "Object"),
    HttpRoute(
        "GET",
        "/opensearchdescription.xml",
        "opensearch",
        "Lets a browser add this search engine",
        "application/opensearchdescription+xml",
    ),
    HttpRoute("GET", "/style.css", "style", "The pages' style sheet", "text/css"),
    HttpRoute("GET", "/favicon.ico", "favicon", "The pages' icon", "image/svg+xml"),
)


def route(name: str) -> HttpRoute:
    """The route of a handler's name; raises StopIteration where there is none."""
    return next(entry for entry in ROUTES if entry.name == name)
