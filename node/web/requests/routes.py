"""Lists all routes: what the server serves and what it reads from a request.

Pure: values only. a handler is found by a route's `name` (`route_table.py`); `parameters.py` reads requests by it;
`openapi.py` writes the document from the types of the bodies.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from crawl import SITE_ORDERS
from dht import Strategy
from node.api import crawl, documents, evidence, operation, owner, peers, search, sites, slots, status, strategy
from node.api.body import Json
from node.owner.member_page import ORDERS
from node.sites.asked_removals import MAX_CONTACT, MAX_PREFIX, MAX_WHY

Kind = Literal["text", "count", "flag", "texts"]

JSON, HTML, TEXT = "application/json", "text/html", "text/plain"
KEY_DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
FORM, FILES = "application/x-www-form-urlencoded", "multipart/form-data"
MAX_LINE_BYTES = 40_960  # of a request's first line; browsers send more, and RFC 9112 asks for 8,000 at least
MAX_TYPED = MAX_LINE_BYTES  # characters that are kept in the box; index.MAX_CHARS of them are searched, and it says so
MAX_QUERY = 1000  # characters of a query from a program; longer ones are no questions
MAX_URL = 2048  # bytes of a canonical URL
MAX_URLS = 100  # URLs in one request for documents
MAX_COUNT = 100  # results of one search
MAX_DEPTH = 100  # links to follow from what is handed in
MAX_START = 900  # results before them, so that the last one is the thousandth, where paging ends (index.max_results)
MAX_PAGE = 46  # of twenty results: the last one begins at MAX_START


@dataclass(frozen=True, slots=True)
class Parameter:
    """Describes a query parameter: kind, default, bounds. For texts `most` bounds their number, else the length."""

    name: str
    about: str
    kind: Kind = "text"
    default: str | int | bool | tuple[str, ...] | None = ""  # None: it must be there
    least: int = 0
    most: int = 200
    choices: tuple[str, ...] = ()  # the texts that it takes beside its default; none given: any


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """Names a method, a path and its handler, and what the OpenAPI document says about it."""

    method: Literal["GET", "POST"]
    path: str
    name: str
    about: str
    gives: str = JSON
    schema: Any = str  # the type of its answer's body
    takes: Any = None  # the type of the JSON that is sent as its body, None where none is
    parameters: tuple[Parameter, ...] = ()
    needs_token: bool = False
    form: tuple[Parameter, ...] = ()  # the fields of a form that is sent as its body
    form_type: str = FORM  # how that form is sent
    weight: int = 1  # as how many requests one counts against its caller's allowance; a search is 1
    is_public: bool = False  # a read that gives everybody the same: nothing of the node's machine, or of its owner
    is_private: bool = False  # shows members' addresses, or the machine: a proxy's callers need the token for it


_SYNTAX = 'words, "a phrase", -without, site:host, lang:zh, OR, parentheses; /help has all'
_QUERY = Parameter("q", _SYNTAX, default=None, most=MAX_QUERY)
_LANGUAGE = Parameter("lang", "only documents in this language (ISO 639-1)", most=8)
_SITE = Parameter("site", "only documents of this host and those below it", most=255)
_SORT = Parameter(
    "sort", "date: of the pages that hold enough of the words, the newest first", choices=("relevance", "date")
)
_VERBATIM = Parameter("verbatim", "look for every word just as it is typed, and for no other", "flag", False)
_ASKER = Parameter(
    "asker_lang", "pages in others stand a little lower; without it the first of Accept-Language", most=16
)
_TYPED = Parameter("q", "what was typed so far", most=MAX_QUERY)
_CURSOR = Parameter("cursor", "`next_cursor` of the page before; good at any node", most=2000)
INTERFACE = Parameter("hl", "the language of the page: en or zh", most=16)
_URL = Parameter("url", "the address of the page", default=None, most=MAX_URL)

_SEARCH = (
    _QUERY,
    Parameter("limit", "results on a page", "count", 10, 1, MAX_COUNT),
    _CURSOR,
    _LANGUAGE,
    _SITE,
    _SORT,
    _VERBATIM,
    _ASKER,
    Parameter("deadline_ms", "answer within this time, with what there is", "count", 2000, 50, 20_000),
    Parameter("explain", "say how each score came about", "flag", False),
    Parameter("facets", "count all matches by site, language, year and type", "flag", False),
)
_SEARCH_PAGE = (
    Parameter("q", _SYNTAX, most=MAX_TYPED),
    _CURSOR,
    Parameter("page", "the number to show for this page", "count", 1, 1, 1000),
    _LANGUAGE,
    _SITE,
    _SORT,
    _VERBATIM,
    Parameter("tab", "images: pages with images that the words tell of", most=8),
    INTERFACE,
    Parameter("quick", "show what has come after 400 ms; the page's script fetches the rest", "flag", False),
    Parameter("later", "the token of a search whose first results were shown: show all of it, once", most=64),
    Parameter("rest", "wait up to ten seconds for what is late", "flag", False),
    Parameter("unruled", "leave the reader's rules for sites aside", "flag", False),
    Parameter(
        "start", "under such rules: how many of these hundred earlier pages have shown", "count", 0, 0, MAX_COUNT
    ),
    Parameter("explain", "say how each score came about; the page does", "flag", False),
    Parameter("facets", "count all matches by site, language, year and type; the page does", "flag", False),
    Parameter("format", "html; json as SearXNG gives it; rss or atom for a feed of the newest", most=8),
    Parameter("pageno", "with json: which page of twenty results", "count", 1, 1, MAX_PAGE),
    Parameter("language", "with json: only documents in this language; all for any", most=16),
    Parameter("time_range", "with json: only what is dated within the last day, week, month or year", most=8),
)


_GO = Parameter("go", "the fields of a button, as one query string; the others are not read then", most=2 * MAX_TYPED)
_RULES_FORM = (
    Parameter("set", "one rule, as `block example.org`; forget takes one back", most=300),
    Parameter("text", "where `set` is not given: all rules, a line each", most=1 << 16),
    Parameter("back", "the fields of the search to lead back to, as a query string", most=2 * MAX_TYPED),
    INTERFACE,
)
_SETTINGS_FORM = (
    Parameter("tongue", "the language of the pages, en or zh; else as the browser asks", most=8),
    Parameter("theme", "light or dark; else as the reader's system has it", most=8),
    Parameter("results", "results a page: 10, 20 or 50", most=8),
    Parameter("keys", "off: single keys are no shortcuts", most=8),
)
_TIP = (
    Parameter("url", "the address of a site", most=2 * MAX_URL),
    Parameter("take", "for the node's owner: the suggested address to crawl", most=MAX_URL),
    Parameter("drop", "for the node's owner: the suggested address to forget", most=MAX_URL),
    INTERFACE,
)


def _page(
    path: str, name: str, about: str, *parameters: Parameter, is_public: bool = False, is_private: bool = False
) -> HttpRoute:
    route = HttpRoute("GET", path, name, about, HTML, parameters=parameters)
    return replace(route, is_public=is_public, is_private=is_private)


def _get(
    path: str,
    name: str,
    about: str,
    schema: Any,
    *parameters: Parameter,
    weight: int = 1,
    is_public: bool = False,
    is_private: bool = False,
) -> HttpRoute:
    route = HttpRoute("GET", f"/api/v1{path}", name, about, JSON, schema, None, parameters)
    return replace(route, weight=weight, is_public=is_public, is_private=is_private)


def _form(path: str, name: str, about: str, *fields: Parameter) -> HttpRoute:
    return HttpRoute("POST", path, name, about, HTML, form=fields)


def _post(path: str, name: str, about: str, schema: Any = Json, takes: Any = Json) -> HttpRoute:
    return HttpRoute("POST", f"/api/v1{path}", name, about, JSON, schema, takes, needs_token=True)


def _owners_get(path: str, name: str, about: str, schema: Any, *parameters: Parameter) -> HttpRoute:
    return HttpRoute("GET", f"/api/v1{path}", name, about, JSON, schema, None, parameters, needs_token=True)


BEGINS = Parameter("begins", "only hosts that begin so", most=255)
FIND = Parameter("find", "only members with this in name, id, address, state or needs", most=64)
ORDER = Parameter("order", "what comes first; default: by id", choices=ORDERS)
FROM = Parameter("from", "leave out this many of the first", "count", 0, 0, 1 << 20)
SLOTS = (
    Parameter("member", "only slots that a member with this in name or id owns or crawls", most=64),
    Parameter("few", "only slots with fewer live copies than owners", "flag", False),
    Parameter("slot", "only the slot of this number", most=5),
)
_LIMIT = Parameter("limit", "rows in one answer, at most", "count", 50, 1, 200)
_SITES_ABOUT = "The sites that this node crawls, or those of the network"
_SITES_ASKED = (
    BEGINS,
    Parameter("order", "what comes first", default="name", choices=SITE_ORDERS),
    Parameter("network", "ask all members for their 1,000 largest sites", "flag", False),
    FROM,
    _LIMIT,
)

_SITE_OWNERS = Parameter("url", "the address of a site, or how the addresses to remove begin", most=MAX_URL)
_ASKED = (
    Parameter("pages", "a host, or how the addresses of the pages begin", default=None, most=MAX_PREFIX),
    Parameter("why", "why they shall be removed", default=None, most=MAX_WHY),
    Parameter("contact", "how to reach who asks", most=MAX_CONTACT),
)
_BACK = Parameter("draft", "the draft of a strategy to which a password leads back", most=64)
_CODE = Parameter("code", "what the link holds, or the link; it counts once, for five minutes", most=300)
_PASSWORD = Parameter("password", "as `dse-node password set` took it", default=None, most=256)
_VERSION = Parameter("version", "a number, or newest; default: the one in force", most=16)
_READY_AS = Parameter("format", "text or json; default: json where Accept asks for it", most=8)
_URLS = Parameter("url", "the address of a page; may be repeated", "texts", None, 1, MAX_URLS)
_LOCAL = Parameter("local", "only what lies on this node's own disk", "flag", False)
_AT = Parameter("at", "the copy nearest to this instant: 4 to 14 digits, year first, UTC", most=14)
_VIEW = Parameter("view", "page: the copy as it was stored; default: its text", most=8)
_SLOT = Parameter("slot", "only this slot of the key space, by its number", most=5)
_HOST = Parameter("site", "only this host and those below it", most=255)
_PREFIX = Parameter("prefix", "only URLs that begin so, with http or https", most=MAX_URL)
_ONLY = Parameter("url", "only these pages; may be repeated", "texts", (), 0, MAX_URLS)
_READ = (
    _SLOT,
    _HOST,
    _PREFIX,
    _ONLY,
    Parameter("cursor", "`next_cursor` of the answer before; good at any node", most=40),
    Parameter("limit", "documents in one answer, at most", "count", 100, 1, 1000),
    Parameter("content", "with the bytes of the pages, in Base64", "flag", False),
    Parameter("links", "with the addresses that each page links to", "flag", False),
    Parameter("lifetimes", "with when each page was first and last there, and by when it had gone", "flag", False),
    Parameter("at", "the version of each page that was the newest at the end of this: 4 to 14 digits, UTC", most=14),
    Parameter("all_versions", "all versions of each page that are kept", "flag", False),
)
_READS = "Stored documents in the order of the key space: of a slot, a site, or the whole network"
_DOCUMENTS = "Stored documents by URL, in order; null where there is none"
_PREVIEW = "What a draft would move and change; a signed document is taken, too"
_PUBLISH = "Adopt a signed strategy document and spread it"
_STRATEGY = "The strategy document in force, or another accepted version"
_PROGRESS = "The outcome of URLs that were handed in, and the links found on them"
_BROWSERS = "The same as browsers ask for it"
_SUGGESTED = "application/x-suggestions+json"
_ENGINE, _OPENSEARCH = "/opensearchdescription.xml", "application/opensearchdescription+xml"
_KEYS = "/.well-known/http-message-signatures-directory"
_KEYS_ABOUT = "The keys by which the network's nodes sign requests to sites"
_BEGIN = "Say for whom this node waits; where the owner is sure, go on without them until they are heard"
_LEAVE = "Leave the network for good; ask again for how far it is"
_CANCEL = "End a crawl: what still waits of it here is not fetched"
_LOGIN = "A link that logs a browser in as the owner's, once"
_SCRUB = "Read all that lies on this node's disk at once, and heal it"
_SCRIPT = "The pages' script, without which they are whole"
_KEYID = Parameter("keyid", "only the key of this name: a JWK thumbprint, as in Signature-Input", most=43)


def _memento(path: str, name: str, about: str, gives: str) -> HttpRoute:
    return HttpRoute("GET", path, name, about, gives, parameters=(_URL,), is_public=True)


CORE_ROUTES: tuple[HttpRoute, ...] = (
    _page("/", "home", "The front page; a query q leads to /search", INTERFACE),
    _page("/search", "results", "Results as a page", *_SEARCH_PAGE, is_public=True),
    _page("/status", "status_page", "The state of this node as a page", INTERFACE, is_private=True),
    _page("/cache", "cache", "The text of a stored page, or its stored copy in a frame", _URL, _AT, _VIEW, INTERFACE),
    _page("/cache/raw", "cache_raw", "The stored copy itself, with no rights", _URL, _AT),
    _form("/search", "posted_results", "The same for a form: the query stands in no address", _GO, *_SEARCH_PAGE),
    _page("/sites", "site_rules", "The sites that this browser raises, lowers and blocks", INTERFACE),
    _form("/sites", "set_site_rules", "Change these rules", *_RULES_FORM),
    HttpRoute("GET", "/sites/rules.txt", "site_rules_text", "These rules as a file", TEXT),
    _page("/settings", "reader_settings", "Language, theme and results a page of this browser", INTERFACE),
    _form("/settings", "set_reader_settings", "Change these settings", *_SETTINGS_FORM),
    _page("/suggest-site", "suggest_site", "Where readers suggest a site", INTERFACE),
    _form("/suggest-site", "suggested_site", "Suggest a site to the node's owner", *_TIP),
    _page("/privacy", "privacy", "Who sees what of a query", INTERFACE),
    _page("/help", "help_page", "How to ask: signs and filters", INTERFACE),
    _page("/login", "login", "Where the link of `dse-node open` leads, and a password is typed", _CODE, _BACK),
    _form("/login", "log_in", "Log a browser in by a password", _PASSWORD),
    HttpRoute("POST", "/logout", "logout", "End this browser's login", HTML, needs_token=True),
    _page("/bot", "bot", "For site owners: how to stop the crawler, and who crawls", INTERFACE),
    replace(_form("/bot", "check_removal", "Look whether a site's removal file counts", _SITE_OWNERS), weight=20),
    replace(_form("/ask-removal", "ask_removal", "Ask the operator to remove pages", *_ASKED), weight=20),
    _get("/search", "search", "Search the network", search.Search, *_SEARCH, is_public=True),
    _get("/suggest", "suggest", "Queries that begin with what was typed", search.Suggestions, _TYPED, is_public=True),
    _get("/status", "status", "The state of this node", status.Status, is_private=True),
    _get("/peers", "peers", "The network's members, as this node sees them", peers.Peers, FIND, ORDER, is_private=True),
    _get(
        "/slots", "slots", "The slots: owners, holder, copies", slots.SlotTable, *SLOTS, FROM, _LIMIT, is_private=True
    ),
    _owners_get("/sites", "sites", _SITES_ABOUT, sites.SiteTable, *_SITES_ASKED),
    _owners_get("/jobs", "jobs", "The last crawls that were handed in here, and those that repeat", owner.JobTable),
    _post("/jobs/cancel", "cancel_job", _CANCEL, owner.JobEntry, owner.CancelOrder),
    _owners_get("/log", "log_lines", "The newest lines of the log", owner.LogLines),
    _owners_get("/settings", "settings", "All settings in force", owner.SettingTable),
    _post("/settings", "change_setting", "Change a setting in the node's file", owner.SettingTaken, owner.SettingOrder),
    _get("/strategy", "strategy", _STRATEGY, strategy.StrategyShown, _VERSION, is_public=True),
    _get("/strategy/schema", "strategy_schema", "The JSON Schema of strategy documents", Json, is_public=True),
    _get(
        "/strategy/log", "strategy_log", "Every accepted version, and its forks", strategy.StrategyLog, is_public=True
    ),
    _post("/strategy/preview", "preview_strategy", _PREVIEW, strategy.Preview, Strategy),
    _get("/document", "document", _DOCUMENTS, documents.DocumentList, _URLS, _LOCAL, weight=2, is_public=True),
    _get("/documents", "documents", _READS, documents.DocumentsRead, *_READ, weight=20, is_public=True),
    _post("/crawl", "crawl", "Hand URLs to their owners", crawl.Crawled, crawl.CrawlOrder),
    _post("/remove", "remove", "Have URLs removed that a file at their site names", crawl.Removed, crawl.RemovalOrder),
    _post("/crawl/progress", "progress", _PROGRESS, crawl.ProgressList, crawl.ProgressOrder),
    _post("/import", "take_pages", "Take pages of an archive in", documents.Imported, documents.ImportOrder),
    _post("/evidence", "evidence", "The evidence against authors of pages", evidence.Accused, evidence.EvidenceOrder),
    _get("/explain", "explain", "Whether, when and by which node a URL is fetched, and why", crawl.Explained, _URL),
    _post("/pause", "pause", "Stop or resume this node's fetching", operation.Paused, operation.PauseOrder),
    _post("/begin", "begin_alone", _BEGIN, operation.Begun, operation.BeginOrder),
    _post("/leave", "leave", _LEAVE, operation.LeaveProgress, operation.LeaveOrder),
    _post("/login", "make_login_link", _LOGIN, operation.LoginLink, operation.NoFields),
    _post("/scrub", "scrub", _SCRUB, operation.ScrubProgress, operation.NoFields),
    _post("/strategy", "publish_strategy", _PUBLISH, strategy.StrategyShown, strategy.SignedDocument),
    _memento("/timegate/{url}", "timegate", "Leads to the version nearest to Accept-Datetime (RFC 7089)", TEXT),
    _memento("/timemap/link/{url}", "timemap", "All versions of a page (RFC 7089)", "application/link-format"),
    HttpRoute("GET", _KEYS, "key_directory", _KEYS_ABOUT, KEY_DIRECTORY_TYPE, Json, parameters=(_KEYID,)),
    HttpRoute("GET", "/healthz", "healthz", "200 while the process answers", TEXT, weight=0),
    HttpRoute("GET", "/readyz", "readyz", "200 when it serves a slot, else 503 and why", TEXT, parameters=(_READY_AS,)),
    HttpRoute("GET", "/metrics", "metrics", "Figures in the Prometheus text format", TEXT, weight=2, is_private=True),
    HttpRoute("GET", "/openapi.json", "openapi", "This document", JSON, Json, is_public=True),
    HttpRoute("GET", _ENGINE, "opensearch", "Lets a browser add this search engine", _OPENSEARCH, is_public=True),
    HttpRoute(
        "GET", "/suggest", "opensearch_suggestions", _BROWSERS, _SUGGESTED, list[Any], None, (_TYPED,), is_public=True
    ),
    HttpRoute("GET", "/robots.txt", "robots", "What crawlers may fetch here", TEXT, weight=0),
    HttpRoute("GET", "/style.css", "style", "The pages' style sheet", "text/css", weight=0),
    HttpRoute("GET", "/page.js", "script", _SCRIPT, "text/javascript", weight=0),
    HttpRoute("GET", "/favicon.ico", "favicon", "The pages' icon", "image/svg+xml", weight=0),
)
