"""Lists the routes of other programs' clients, and makes their handlers.

`node/extras/__init__.py` names this module.
"""

from node.config.settings import NodeConfig
from node.extras.clients.bodies import schemas
from node.service.service import Service
from node.web.requests.handlers import Handlers
from node.web.requests.routes import JSON, MAX_COUNT, MAX_QUERY, MAX_START, HttpRoute, Parameter

_YACY = (
    Parameter("query", "words, and YaCy's /date and /language/xx", default=None, most=MAX_QUERY),
    Parameter("startRecord", "results to leave out before the first", "count", 0, 0, MAX_START),
    Parameter("maximumRecords", "results, 0 for 10", "count", 0, 0, MAX_COUNT),
    Parameter("offset", "another name of startRecord", "count", 0, 0, MAX_START),
    Parameter("start", "another name of startRecord", "count", 0, 0, MAX_START),
    Parameter("count", "another name of maximumRecords", "count", 0, 0, MAX_COUNT),
    Parameter("resource", "global: the whole network answers", default="global", most=16),
    Parameter("contentdom", "text; of others nothing is found", default="text", most=16),
    Parameter("lr", "only documents in this language: lang_en", most=16),
)
_YACY_SUGGEST = (
    Parameter("query", "what was typed so far", most=MAX_QUERY),
    Parameter("q", "what was typed so far", most=MAX_QUERY),
)


def _client(path: str, name: str, about: str, schema: str, takes: str, weight: int = 1) -> HttpRoute:
    return HttpRoute("POST", f"/clients{path}", name, about, JSON, schema, takes, weight=weight)


ROUTES: tuple[HttpRoute, ...] = (
    HttpRoute(
        "GET",
        "/yacysearch.json",
        "yacy_search",
        "Results as YaCy gives them",
        JSON,
        "Object",
        "",
        _YACY,
        is_public=True,
    ),
    HttpRoute(
        "GET",
        "/yacysearch.rss",
        "yacy_feed",
        "Results as YaCy gives them",
        "application/rss+xml",
        "",
        "",
        _YACY,
        is_public=True,
    ),
    HttpRoute(
        "GET",
        "/suggest.json",
        "yacy_suggest",
        "The same as YaCy gives it",
        JSON,
        "Listed",
        "",
        _YACY_SUGGEST,
        is_public=True,
    ),
    _client(
        "/open-webui/search",
        "open_webui_search",
        "Results as an external search of Open WebUI",
        "Listed",
        "OpenWebUiSearch",
    ),
    _client(
        "/open-webui/load",
        "open_webui_load",
        "Stored pages as an external loader of Open WebUI",
        "Listed",
        "OpenWebUiLoad",
        weight=2,
    ),
    _client("/tavily/search", "tavily_search", "Results as Tavily gives them", "Object", "TavilySearch", weight=2),
    _client(
        "/tavily/extract", "tavily_extract", "Stored pages as Tavily extracts them", "Object", "TavilyExtract", weight=2
    ),
    HttpRoute("POST", "/mcp", "mcp", "Tools for AI clients by MCP (Streamable HTTP)", JSON, "Object", "Object"),
)
SCHEMAS = schemas()


def handlers(service: Service, config: NodeConfig) -> Handlers:
    """Make what answers the routes."""
    from node.extras.clients.client_handlers import Clients
    from node.extras.clients.mcp_http import Mcp

    return Clients(service).handlers() | Mcp(service, config.web_origins).handlers()
