"""Lists the routes of other programs' clients, and makes their handlers.

`node/extras/__init__.py` names this module.
"""

from typing import Any

from node.api.body import Json
from node.config.settings import NodeConfig
from node.extras.clients.bodies import OpenWebUiLoad, OpenWebUiSearch, TavilyExtract, TavilySearch
from node.service.service import Service
from node.web.requests.route_table import Handlers, handlers_of
from node.web.requests.routes import JSON, MAX_COUNT, MAX_QUERY, MAX_START, HttpRoute, Parameter

_YACY = (
    Parameter("query", "words, and YaCy's /date and /language/xx", default=None, most=MAX_QUERY),
    Parameter("startRecord", "results to leave out before the first", "count", 0, 0, MAX_START),
    Parameter("maximumRecords", "results, 0 for 10", "count", 0, 0, MAX_COUNT),
    Parameter("offset", "another name of startRecord", "count", 0, 0, MAX_START),
    Parameter("start", "another name of startRecord", "count", 0, 0, MAX_START),
    Parameter("count", "another name of maximumRecords", "count", 0, 0, MAX_COUNT),
    Parameter("resource", "global: the whole network answers", default="global", most=16),
    Parameter("contentdom", "text, or image; of others nothing is found", default="text", most=16),
    Parameter("lr", "only documents in this language: lang_en", most=16),
)
_YACY_SUGGEST = (
    Parameter("query", "what was typed so far", most=MAX_QUERY),
    Parameter("q", "what was typed so far", most=MAX_QUERY),
)


def _client(path: str, name: str, about: str, schema: Any, takes: Any, weight: int = 1) -> HttpRoute:
    return HttpRoute("POST", f"/clients{path}", name, about, JSON, schema, takes, weight=weight)


def _yacy(path: str, name: str, gives: str, schema: Any) -> HttpRoute:
    about = "Results as YaCy gives them"
    return HttpRoute("GET", path, name, about, gives, schema, parameters=_YACY, is_public=True)


_SUGGESTED = "The same as YaCy gives it"
_SEARCHED = "Results as an external search of Open WebUI"
_LOADED = "Stored pages as an external loader of Open WebUI"
_EXTRACTED = "Stored pages as Tavily extracts them"
ROUTES: tuple[HttpRoute, ...] = (
    _yacy("/yacysearch.json", "yacy_search", JSON, Json),
    _yacy("/yacysearch.rss", "yacy_feed", "application/rss+xml", str),
    HttpRoute("GET", "/suggest.json", "yacy_suggest", _SUGGESTED, JSON, list[Any], None, _YACY_SUGGEST, is_public=True),
    _client("/open-webui/search", "open_webui_search", _SEARCHED, list[Json], OpenWebUiSearch),
    _client("/open-webui/load", "open_webui_load", _LOADED, list[Json], OpenWebUiLoad, weight=2),
    _client("/tavily/search", "tavily_search", "Results as Tavily gives them", Json, TavilySearch, weight=2),
    _client("/tavily/extract", "tavily_extract", _EXTRACTED, Json, TavilyExtract, weight=2),
    HttpRoute("POST", "/mcp", "mcp", "Tools for AI clients by MCP (Streamable HTTP)", JSON, Json, Json, is_public=True),
)


def handlers(service: Service, config: NodeConfig) -> Handlers:
    """Make what answers the routes."""
    from node.extras.clients.client_handlers import Clients
    from node.extras.clients.mcp_http import Mcp

    return handlers_of(Clients(service), Mcp(service, config.web_origins))
