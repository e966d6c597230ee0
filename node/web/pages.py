"""Renders the pages for people: complete without JavaScript, nothing from anywhere else."""

from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

import jinja2
from aiohttp import web

from dht import CrawlerKey, InputError, thumbprint
from index import FILTERS
from node.app.service import Service
from node.views.peers import peer_rows
from node.views.safe_text import around, plain
from node.views.status import size, view_of
from node.web.api import parameters, search_request
from node.web.problems import Problem, problem_of
from node.web.result_forms import ResultForms
from node.web.results import result_page
from node.web.routes import route
from node.web.translations import choose, translator

PAGE_RESULTS = 10
PAGE_DEADLINE_MS = 2500  # what a reader waits for before a partial answer is better
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
IS_OWNER = web.RequestKey("is_owner", bool)  # whether a browser asks that the owner logged in, as the guard found it
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

    def __init__(self, service: Service, crawler: CrawlerIdentity) -> None:
        self._service = service
        self._forms = ResultForms(service)
        self._crawler = crawler
        here = files("node.web")
        self._style = (here / "static" / "style.css").read_text()
        self._version = sha256(self._style.encode()).hexdigest()[:10]  # a new style sheet gets a new address
        self._templates = jinja2.Environment(
            loader=jinja2.PackageLoader("node.web"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self._templates.filters.update(size=size, number="{:,}".format)

    async def home(self, request: web.Request) -> web.Response:
        """Show the front page; a query leads to its results, as clients of SearXNG may ask for them here."""
        if "q" in request.query:
            raise web.HTTPSeeOther(f"/search?{request.rel_url.raw_query_string}")
        status = view_of(await self._service.status())
        return self.render(request, "home.html", status=status, warnings=self._service.warnings())

    async def results(self, request: web.Request) -> web.Response:
        """Show results, in another form where one is asked for; an empty query leads to the front page."""
        values = parameters(request, "results")
        if values.text("format") not in ("", "html"):
            return await self._forms.answer(request, values)
        query = values.text("q").strip()
        if not query:
            raise web.HTTPSeeOther("/")
        question = search_request(values, query, PAGE_RESULTS, PAGE_DEADLINE_MS)
        try:
            answer = await self._service.search(replace(question, facets=True))
        except InputError as error:
            return self._bad_query(request, query, error)
        filters = {name: plain(values.text(name)) for name in ("lang", "site")}
        page = values.count("page")
        shown = result_page(answer)
        corrected = "" if shown.results or shown.is_partial or page > 1 else next(iter(shown.corrections), "")
        if corrected:
            answer = await self._service.search(replace(question, text=corrected, facets=True))
            shown = replace(result_page(answer), corrections=shown.corrections, suggestions=shown.suggestions)
        return self.render(
            request,
            "results.html",
            query=query,
            corrected=corrected if shown.results else "",
            answer=shown,
            filters=filters,
            sort="date" if question.is_by_date else "",
            page_number=page,
            warnings=self._service.warnings(),
        )

    async def status_page(self, request: web.Request) -> web.Response:
        """Show the state of this node and its peers."""
        status = view_of(await self._service.status())
        rows = peer_rows((await self._service.peers())[:MAX_PEERS])
        live = "live" in request.query
        is_owner = request.get(IS_OWNER, False)
        return self.render(
            request, "status.html", status=status, peers=rows, live=live, me=status.node_id, is_owner=is_owner
        )

    async def help_page(self, request: web.Request) -> web.Response:
        """Show how to ask, by the parser's own table of filters."""
        return self.render(request, "help.html", signs=SIGNS, filter_rules=FILTERS)

    async def bot(self, request: web.Request) -> web.Response:
        """Show who crawls, and how to slow or stop it."""
        return self.render(request, "bot.html", crawler=self._crawler, keys=route("key_directory").path)

    async def opensearch(self, request: web.Request) -> web.Response:
        """Answer with the description by which a browser adds this search engine."""
        text = self._templates.get_template("opensearch.xml").render(origin=f"{request.scheme}://{request.host}")
        return web.Response(text=text, content_type="application/opensearchdescription+xml")

    async def style(self, request: web.Request) -> web.Response:
        """Answer with the pages' style sheet."""
        headers = {"Cache-Control": "public, max-age=604800"}
        return web.Response(text=self._style, content_type="text/css", headers=headers)

    async def favicon(self, request: web.Request) -> web.Response:
        """Answer with the pages' icon."""
        headers = {"Cache-Control": "public, max-age=604800"}
        return web.Response(text=ICON, content_type="image/svg+xml", headers=headers)

    def problem(self, request: web.Request, problem: Problem) -> web.Response:
        """Show a page that says what was wrong, kindly."""
        return self.render(request, "error.html", status_code=problem.status, problem=problem)

    def render(self, request: web.Request, template: str, *, status_code: int = 200, **values: Any) -> web.Response:
        """Fill in a template in the reader's language."""
        wanted = request.query.get("hl", "")[:16]
        tongue = choose(wanted, request.headers.get("Accept-Language", ""))
        chosen = {"hl": tongue} if wanted else {}

        def address(path: str, **query: object) -> str:
            """Write a link on this site; keep the language where it was asked for, leave out what is empty."""
            given = {name: value for name, value in {**query, **chosen}.items() if value not in ("", None)}
            return f"{path}?{urlencode(given)}" if given else path

        text = self._templates.get_template(template).render(
            t=translator(tongue),
            tongue=tongue,
            hl=chosen.get("hl", ""),
            here=address,
            other_tongue=_other_tongue(request, tongue),
            style_version=self._version,
            **{"query": "", "filters": {"lang": "", "site": ""}, "sort": "", **values},
        )
        headers = {"Vary": "Accept-Language", "Content-Language": tongue}
        return web.Response(text=text, status=status_code, content_type="text/html", headers=headers)

    def _bad_query(self, request: web.Request, query: str, error: InputError) -> web.Response:
        problem = problem_of(error) or Problem(400, "")
        marked = around(query, problem.position)
        return self.render(request, "badquery.html", status_code=400, query=query, problem=problem, marked=marked)


def _other_tongue(request: web.Request, tongue: str) -> str:
    """Write the address of this very page in the other language."""
    query = {**dict(request.query), "hl": "en" if tongue == "zh" else "zh"}
    return f"{request.path}?{urlencode(query)}"
