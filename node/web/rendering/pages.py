"""Renders the pages for people: complete without JavaScript, nothing from anywhere else."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import jinja2
from aiohttp import web
from markupsafe import Markup, escape

from dht import CrawlerKey, thumbprint
from index import FILTERS
from node.service.service import Service
from node.views.peers import peer_rows
from node.views.safe_text import plain
from node.views.status import size, view_of
from node.views.strategy import clock, instant
from node.web.rendering.score_view import chart, sentence
from node.web.rendering.translations import choose, translator
from node.web.requests.own_origin import own_origin
from node.web.requests.problems import Problem
from node.web.requests.proxied_caller import is_passed_on
from node.web.requests.reader_settings import languages_of, settings_of
from node.web.requests.route_table import ROUTES, route

SIGNS = (
    "phrase",
    "demanded",
    "without",
    "or",
    "group",
    "prefix",
    "fuzzy",
    "option",
)  # of queries, as the help page explains them
# What any page may show.
_OF_ALL = {"query": "", "filters": {"lang": "", "site": ""}, "sort": "", "tab": "", "is_posted": False}
_FOR_CRAWLERS = frozenset(  # routes; the first part of the path of each other one is closed to them
    {"home", "bot", "check_removal", "help_page", "privacy", "key_directory", "robots", "style", "script", "favicon"}
)
ROLE = web.RequestKey("role", str)  # that of a browser that somebody logged in, as the guard found it; "": none
CACHED = {"Cache-Control": "public, max-age=604800"}  # under an address of its version
MAX_PEERS = 200  # rows of the table; the API gives all

ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><g fill="none" stroke="#2a6f97" stroke-width="3">\
<circle cx="14" cy="14" r="9"/><path d="M21 21l8 8" stroke-linecap="round"/></g><g fill="#2a6f97">\
<circle cx="14" cy="10" r="2"/><circle cx="10.5" cy="16" r="2"/><circle cx="17.5" cy="16" r="2"/></g></svg>"""


@dataclass(frozen=True, slots=True)
class CrawlerIdentity:
    """Says how this node's crawler names itself to sites: its name in robots.txt, its full header, its network and
    that network's page for site owners."""

    name: str = "dse-node"
    user_agent: str = "dse-node"
    network: str = ""
    info_url: str = ""  # whom to ask
    key: CrawlerKey | None = None  # by which it signs its requests; None: it signs none

    @property
    def keyid(self) -> str:
        """Return the name of its key, "" where it has none."""
        return thumbprint(self.key.public_key) if self.key else ""


class Pages:
    """Holds the handlers of the pages, named as in the table of routes."""

    def __init__(
        self, service: Service, crawler: CrawlerIdentity, has_password: Callable[[], bool] = lambda: False
    ) -> None:
        """`has_password`: whether anybody can log in by a password."""
        self._service, self._has_password = service, has_password
        self._crawler = crawler
        here = files("node.web")
        self._style, self._script = ((here / "static" / name).read_text() for name in ("style.css", "page.js"))
        told = f"{self._style}{self._script}"
        self._version = sha256(told.encode()).hexdigest()[:10]  # what is new gets a new address
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("node.web"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
            auto_reload=False,  # an upgrade lays other files under a running node
        )
        self._templates.filters.update(size=size, number="{:,}".format, plain=plain)
        self._templates.filters.update(instant=instant, clock=clock)
        self._templates.filters.update(sentence=sentence, chart=chart, ticked=ticked)

    async def home(self, request: web.Request) -> web.Response:
        """Show the front page; a query leads to its results, as clients of SearXNG may ask for them here."""
        if "q" in request.query:
            raise web.HTTPSeeOther(f"/search?{request.rel_url.raw_query_string}")
        status = view_of((await self._service.status()).plain())
        pages = status.network_documents if status.knows_network else status.documents
        is_empty = not pages and not status.frontier and not status.is_client
        is_posted = request.query.get("by") == "post"
        warnings = self._service.warnings()
        return self.render(request, "home.html", is_empty=is_empty, warnings=warnings, is_posted=is_posted)

    async def status_page(self, request: web.Request) -> web.Response:
        """Show the state of this node and its peers."""
        status = view_of((await self._service.status()).plain())
        rows = peer_rows([peer.plain() for peer in (await self._service.peers())[:MAX_PEERS]])
        live = "live" in request.query
        return self.render(request, "status.html", status=status, peers=rows, live=live, me=status.node_id)

    async def help_page(self, request: web.Request) -> web.Response:
        """Show how to ask, by the parser's own table of filters."""
        return self.render(request, "help.html", signs=SIGNS, filter_rules=FILTERS)

    async def privacy(self, request: web.Request) -> web.Response:
        """Show who sees what of a query."""
        return self.render(request, "privacy.html")

    async def bot(self, request: web.Request) -> web.Response:
        """Show site owners how to stop the crawler and to have pages removed, and who crawls."""
        return self.show_bot(request)

    def show_bot(
        self,
        request: web.Request,
        said: str = "",
        url: str = "",
        status_code: int = 200,
        asked: Mapping[str, str] | None = None,
        **about: str,
    ) -> web.Response:
        """Show the page for site owners. `said`: the key of what a check of their file found, with its values, or of
        what became of a request to the operator. `asked`: the fields of such a request, where it is one."""
        keys = route("key_directory").path
        told: dict[str, Any] = {"crawler": self._crawler, "keys": keys, "said": said, "url": url, "about": about}
        return self.render(request, "bot.html", status_code=status_code, asked=asked, **told)

    async def opensearch(self, request: web.Request) -> web.Response:
        """Answer with the description by which a browser adds this search engine."""
        text = self._templates.get_template("opensearch.xml").render(origin=own_origin(request))
        return web.Response(text=text, content_type="application/opensearchdescription+xml")

    async def robots(self, request: web.Request) -> web.Response:
        """Answer with what crawlers may fetch here: pages about this node, and no answers to questions."""
        closed = sorted({f"/{each.path.split('/')[1]}" for each in ROUTES if each.name not in _FOR_CRAWLERS})
        text = "".join(f"{line}\n" for line in ("User-agent: *", *(f"Disallow: {path}" for path in closed)))
        return web.Response(text=text, headers={"Cache-Control": "public, max-age=3600"})

    async def style(self, request: web.Request) -> web.Response:
        """Answer with the pages' style sheet."""
        return web.Response(text=self._style, content_type="text/css", headers=CACHED)

    async def script(self, request: web.Request) -> web.Response:
        """Answer with the pages' script, without which they are whole."""
        return web.Response(text=self._script, content_type="text/javascript", headers=CACHED)

    async def favicon(self, request: web.Request) -> web.Response:
        """Answer with the pages' icon."""
        return web.Response(text=ICON, content_type="image/svg+xml", headers=CACHED)

    def problem(self, request: web.Request, problem: Problem) -> web.Response:
        """Show a page that says what was wrong, kindly."""
        if problem.status == 401:
            return self.login(request, status_code=401)
        return self.render(request, "error.html", status_code=problem.status, problem=problem)

    def login(self, request: web.Request, status_code: int = 200, said: str = "", wait_s: int = 0) -> web.Response:
        """Show how to log in. `said`: the key of why a link or password was not taken; `wait_s`: until another try."""
        told: dict[str, Any] = {"said": said, "wait_s": wait_s, "has_password": self._has_password()}
        told["draft"] = request.query.get("draft", "")[:64]
        return self.render(request, "login.html", status_code=status_code, **told)

    def render(
        self,
        request: web.Request,
        template: str,
        *,
        status_code: int = 200,
        wanted_tongue: str = "",
        **values: Any,
    ) -> web.Response:
        """Fill in a template in the reader's language: as a form or the address wants it, else as the reader has
        chosen, else as the browser wants it."""
        wanted = (wanted_tongue or request.query.get("hl", ""))[:16]
        tongue, chose = choose(wanted, languages_of(request)), settings_of(request)
        chosen = {"hl": tongue} if wanted else {}

        def address(path: str, **query: object) -> str:
            """Write a link on this site; leave out what is empty. A link to a page keeps the language that was asked
            for; the API has none."""
            kept = {} if path.startswith("/api/") else chosen
            given = {name: value for name, value in {**query, **kept}.items() if value not in ("", None)}
            return f"{path}?{urlencode(given)}" if given else path

        text = self._templates.get_template(template).render(
            t=translator(tongue),
            page_lang="zh-Hans" if tongue == "zh" else "en",
            tongue=tongue,
            theme=chose.theme,
            has_keys=chose.has_keys,
            hl=chosen.get("hl", ""),
            here=address,
            other_tongue=_other_tongue(request, tongue),
            style_version=self._version,
            is_owner=request.get(ROLE) == "owner",
            is_viewer=request.get(ROLE) == "viewer",
            locked=Markup(" disabled" * (request.get(ROLE) == "viewer")),  # of each button that changes anything
            sees_status=bool(request.get(ROLE)) or not is_passed_on(request.headers),
            **{**_OF_ALL, **values},
        )
        return page_response(text.encode(), tongue, status_code)


def ticked(text: str) -> Markup:
    """Escape a text, and show as code what stands in it between backticks."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def page_response(body: bytes, tongue: str, status_code: int = 200) -> web.Response:
    """Answer with a page in UTF-8, in a language."""
    headers = {"Vary": "Accept-Language", "Content-Language": tongue}
    return web.Response(body=body, status=status_code, content_type="text/html", charset="utf-8", headers=headers)


def _other_tongue(request: web.Request, tongue: str) -> str:
    """Write the address of this very page in the other language; a posted query is in none."""
    if request.method == "POST" and request.path == "/search":
        return f"/?by=post&hl={'en' if tongue == 'zh' else 'zh'}"
    query = {**dict(request.query), "hl": "en" if tongue == "zh" else "zh"}
    return f"{request.path}?{urlencode(query)}"
