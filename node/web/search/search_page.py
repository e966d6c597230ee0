"""Answers /search for people: asks the node, puts what it found into the reader's own order, renders a page."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from aiohttp import web

from index import QueryError, SearchRequest, image_query
from node.api.body import Json
from node.extras import RESULT_FORMS, added
from node.service.service import Service
from node.views.safe_text import around, plain
from node.web.rendering.pages import ROLE, Pages, page_response
from node.web.rendering.rendered_pages import RenderedPages
from node.web.requests.api import parameters, search_request
from node.web.requests.asker_language import asker_language
from node.web.requests.forms import read_form, read_query
from node.web.requests.own_origin import caller_of
from node.web.requests.parameters import Values, read_parameters
from node.web.requests.problems import BadParameter, Problem, problem_of
from node.web.requests.reader_settings import languages_of, settings_of
from node.web.requests.route_table import route
from node.web.search.preferences import Preferences
from node.web.search.results import result_page
from node.web.search.running_searches import RunningSearches
from node.web.search.site_rules import RULED_RESULTS, SiteRule, SiteRules, ordered

PAGE_DEADLINE_MS = 2500  # what a reader waits for before a partial answer is better
REST_MS = 10_000  # where a reader asks for the rest of a partial answer
FILTER_NAMES = ("lang", "site")
IMAGES = "images"  # a value of `tab`


@dataclass(frozen=True, slots=True)
class PageOfResults:
    """Holds an answer whose results are those of one page, in the reader's order.

    `following`: the parameters of the next page, empty where there is none.
    `touched`: how many of the first hundred results each kind of rule touched.
    `later`: the token by which the page's script fetches all of it, where these are the first results."""

    answer: Json
    following: Mapping[str, object] = field(default_factory=dict)
    touched: Mapping[SiteRule, int] = field(default_factory=dict)
    later: str = ""


ResultForm = Callable[[Service, web.Request, Values], Awaitable[web.Response]]


class SearchPage:
    """Holds the handlers of the results page, named as in the table of routes."""

    def __init__(self, service: Service, pages: Pages, preferences: Preferences, searches: RunningSearches) -> None:
        self._service, self._pages, self._preferences, self._searches = service, pages, preferences, searches
        self._rendered = RenderedPages()

    async def results(self, request: web.Request) -> web.Response:
        """Show results, in another form where one is asked for; an empty query leads to the front page."""
        values = parameters(request, "results")
        if values.text("format") not in ("", "html"):
            return await self._in_form(request, values)
        return await self._show(request, values, is_posted=False)

    async def _in_form(self, request: web.Request, values: Values) -> web.Response:
        """Answer in the form for programs that `format` names. Raises BadParameter for one that is none."""
        form = values.text("format")
        if not values.text("q").strip():
            raise BadParameter("q", "is empty; it takes words to look for")
        if form not in RESULT_FORMS:
            raise BadParameter("format", f"is {plain(form)!r}; it takes html, {', '.join(RESULT_FORMS)}")
        answer: ResultForm = added(RESULT_FORMS[form])
        return await answer(self._service, request, values)

    async def posted_results(self, request: web.Request) -> web.Response:
        """Show results of a query that stands in no address, so that no browser's history keeps it. A button of such a
        page sends all its parameters in one field. Programs for SearXNG post a form, or (LangChain for JavaScript)
        nothing beside the address."""
        if "format" in request.query:
            return await self.results(request)
        values = await read_form(request, "posted_results")
        if values.text("format") not in ("", "html"):
            return await self._in_form(request, values)
        if go := values.text("go"):
            values = read_parameters(route("results"), read_query("go", go))
        return await self._show(request, values, is_posted=True)

    async def _show(self, request: web.Request, values: Values, is_posted: bool) -> web.Response:
        query = values.text("q").strip()
        if not query:
            raise web.HTTPSeeOther("/?by=post" if is_posted else "/")
        rules = SiteRules() if values.flag("unruled") else self._preferences.rules(request)
        try:
            page = await self._ask(request, values, query, rules)
            warnings = self._service.warnings()
            if is_posted or rules or values.flag("unruled"):  # what it shows is this reader's own
                return await self._render(request, values, query, rules, page, warnings, is_posted)
            key = request.path_qs, languages_of(request), settings_of(request), request.get(ROLE, "")
            if kept := self._rendered.find(key, page.answer, warnings):
                return page_response(kept.body, kept.tongue)
            response = await self._render(request, values, query, rules, page, warnings)
        except QueryError as error:
            if values.text("cursor") and not is_posted:  # an old link, whose first page is as good
                raise web.HTTPSeeOther(f"/search?{urlencode(_kept(values, query))}") from None
            return self._bad_query(request, query, error, is_posted)
        self._rendered.keep(key, response, page.answer, warnings)
        return response

    async def _render(
        self,
        request: web.Request,
        values: Values,
        query: str,
        rules: SiteRules,
        page: PageOfResults,
        warnings: Sequence[str],
        is_posted: bool = False,
    ) -> web.Response:
        """Write a page of results."""
        shown, page_number, kept = result_page(page.answer), values.count("page"), _kept(values, query)
        asker = asker_language(values.text("hl"), languages_of(request))
        feed = {name: kept[name] for name in ("q", *FILTER_NAMES) if kept[name]}
        if kept["tab"]:  # other queries would be told as they are asked, not as they were typed
            shown = replace(shown, corrected="", others=(), suggestions=(), definition=None, related=())
        return self._pages.render(
            request,
            "results.html",
            wanted_tongue=values.text("hl"),
            is_posted=is_posted,
            query=query,
            kept=kept,
            is_verbatim=values.flag("verbatim"),
            answer=shown,
            filters={name: kept[name] for name in FILTER_NAMES},
            sort=kept["sort"],
            tab=kept["tab"],
            page_number=page_number,
            following={**page.following, "page": page_number + 1} if page.following else {},
            reader=asker,
            feeds=f"/search?{urlencode(feed)}&format=",
            rules=rules,
            touched=page.touched,
            is_unruled=values.flag("unruled") and bool(self._preferences.rules(request)),
            later=page.later,
            warnings=warnings,
        )

    async def _ask(self, request: web.Request, values: Values, query: str, rules: SiteRules) -> PageOfResults:
        """Ask for a page; under rules, for the hundred results that it is a part of."""
        start, most = values.count("start") if rules else 0, settings_of(request).results
        deadline_ms = REST_MS if values.flag("rest") else PAGE_DEADLINE_MS
        query = image_query(query) if values.text("tab") == IMAGES else query
        asker = asker_language(values.text("hl"), languages_of(request))
        question = search_request(values, query, RULED_RESULTS if rules else most, deadline_ms, asker)
        question = replace(question, explain=True, facets=question.facets or not start)
        answer, later = await self._answer(request, values, question)
        cursor = answer.get("next_cursor")
        following: dict[str, object] = {"cursor": cursor} if cursor else {}
        if not rules:
            return PageOfResults(answer, following, later=later)
        batch = ordered(answer.get("results") or (), rules, question.is_by_date)
        end = start + most
        if end < len(batch.results):
            following = {"cursor": question.cursor, "start": end}
        return PageOfResults({**answer, "results": list(batch.results[start:end])}, following, batch.touched, later)

    async def _answer(self, request: web.Request, values: Values, question: SearchRequest) -> tuple[Json, str]:
        """Return an answer; of one whose rest the page's script fetches, the token of the rest."""
        if (token := values.text("later")) and (answer := await self._searches.rest(token, question)):
            return answer, ""
        if values.flag("quick"):
            return await self._searches.first(question, caller_of(request))
        return await self._service.search(question, caller_of(request)), ""

    def _bad_query(self, request: web.Request, query: str, error: QueryError, is_posted: bool) -> web.Response:
        problem = problem_of(error) or Problem(400, "")
        marked = around(query, problem.position)
        return self._pages.render(
            request,
            "badquery.html",
            status_code=400,
            query=query,
            problem=problem,
            marked=marked,
            is_posted=is_posted,
        )


def _kept(values: Values, query: str) -> dict[str, str]:
    """Return the fields of a search that the links of its page keep."""
    kept = {"q": query, **{name: plain(values.text(name)) for name in FILTER_NAMES}}
    kept["sort"] = "date" if values.text("sort") == "date" else ""
    kept["tab"] = IMAGES if values.text("tab") == IMAGES else ""
    return kept | {name: "1" for name in ("unruled", "verbatim") if values.flag(name)}
