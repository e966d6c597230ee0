"""Writes results in the forms that programs read: feeds, and the JSON of SearXNG."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal
from urllib.parse import urlencode

from aiohttp import web

from node.extras.clients.feeds import Feed, atom, rss
from node.extras.clients.found import FoundAnswer, read_found
from node.extras.clients.narrowing import TIME_RANGES, Narrowing, narrowed, since_range
from node.extras.clients.searxng import searxng_json
from node.service.service import Service
from node.views.safe_text import plain
from node.web.rendering.translations import choose, translator
from node.web.requests.api import json_response, search_request
from node.web.requests.asker_language import asker_language
from node.web.requests.own_origin import own_origin
from node.web.requests.paging import search_from
from node.web.requests.parameters import Values
from node.web.requests.problems import BadParameter

FeedForm = Literal["rss", "atom"]

FEED_ITEMS = 20
SEARXNG_RESULTS = 20  # on a page; its own pages have some 20, too, and its clients cannot say how many
DEADLINE_MS = 2500  # as the page has it; programs wait 3 to 10 s


async def searxng_form(service: Service, request: web.Request, values: Values) -> web.Response:
    """Answer as SearXNG does."""
    query, time_range = values.text("q").strip(), values.text("time_range")
    if time_range and time_range not in TIME_RANGES:
        raise BadParameter("time_range", f"is {plain(time_range)!r}; it takes {', '.join(TIME_RANGES)}")
    within = Narrowing(since=since_range(time_range, datetime.now(UTC).date()))
    question = search_request(values, narrowed(query, within), SEARXNG_RESULTS, DEADLINE_MS, _asker(request))
    question = replace(question, language=question.language or language_of(values.text("language")))
    start = (values.count("pageno") - 1) * SEARXNG_RESULTS
    return json_response(searxng_json(read_found(await search_from(service, question, start), query, start)))


async def feed_form(service: Service, request: web.Request, values: Values) -> web.Response:
    """Answer with a feed: the newest first, unless the best are asked for."""
    query = values.text("q").strip()
    question = search_request(values, query, FEED_ITEMS, DEADLINE_MS, _asker(request))
    question = replace(question, is_by_date=values.text("sort") != "relevance")
    found = read_found(await service.search(question), query)
    sort = "date" if question.is_by_date else ""
    page = address_of(request, q=query, lang=question.language, site=question.site, sort=sort)
    form: FeedForm = "rss" if values.text("format") == "rss" else "atom"
    return feed_response(request, form, found, page, FEED_ITEMS)


def feed_response(
    request: web.Request, form: FeedForm, found: FoundAnswer, page: str, count: int, *, has_images: bool = False
) -> web.Response:
    """Answer with results as a feed. `page`: the address of the same results as a page, `count`: how many were asked
    for. `has_images`: RSS names the images of each page."""
    tongue = choose(request.query.get("hl", "")[:16], request.headers.get("Accept-Language", ""))
    origin = own_origin(request)
    about = translator(tongue)("feed.about", query=found.query)
    feed = Feed(f"{found.query} – dse", about, f"{origin}{request.rel_url.raw_path_qs}", page, origin, count)
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    text = rss(feed, found, has_images=has_images) if form == "rss" else atom(feed, found, today)
    return web.Response(text=text, content_type=f"application/{form}+xml", headers={"Vary": "Accept-Language"})


def address_of(request: web.Request, **query: str) -> str:
    """Write the address of the results page of a query; what is empty is left out."""
    given = {name: value for name, value in query.items() if value}
    return f"{own_origin(request)}/search?{urlencode(given)}"


def _asker(request: web.Request) -> str:
    return asker_language(request.query.get("hl", "")[:16], request.headers.get("Accept-Language", ""))


def language_of(code: str) -> str:
    """Return the language that a client's code means, en-US like en; "" for any."""
    language = code.lower().partition("-")[0].partition("_")[0]
    return "" if language in ("all", "any", "auto", "default") else language
