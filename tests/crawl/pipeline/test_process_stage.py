"""Responses become pages, redirects, links and canonical addresses, as the pages ask."""

import itertools
import re
from datetime import UTC, datetime

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from crawl import (
    CrawlConfig,
    InlineParsers,
    Visit,
    VisitState,
    open_fetcher,
)
from crawl.content.page import ParseResult
from crawl.content.robots_directives import NOINDEX, UNAVAILABLE, header_directives
from crawl.fetch.link_header import links_of
from crawl.fetch.response import Fetched
from crawl.pipeline.fetch_outcome import judge, parse_task_of
from crawl.pipeline.process_stage import MAX_KEPT_HEADER_BYTES, last_modified, page_of
from crawl.schedule.revisit_policy import RevisitStatistics
from dht import system_clock
from tests.crawl.world import Crawl, Handler, Web, answer, linked, seed, state


async def test_redirects_go_to_their_owners_and_loops_end(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": answer(301, Location="/x"), "/x": answer(302, Location="http://b.test:1/")})
    site.add("a.test", {"/loop": answer(302, Location="/pool"), "/pool": answer(302, Location="/loop")})
    site.add("a.test", {f"/{n}": answer(307, Location=f"/{n + 1}") for n in range(20)})
    site.add("a.test", {"/self": answer(301, Location="/self")})
    crawl.access.denied = ("b.test",)
    await crawl.run(*(seed(site.url("a.test", path)) for path in ("/", "/loop", "/0", "/self")))
    assert crawl.owner.visits[site.url("a.test")].target == site.url("a.test", "/x")
    assert crawl.owner.visits[site.url("a.test", "/x")].target == "http://b.test:1/"
    assert "http://b.test:1/" not in crawl.owner.visits
    assert state(crawl, site.url("a.test", "/pool"))[0] == VisitState.REDIRECT
    assert state(crawl, site.url("a.test", "/10")) == (VisitState.REFUSED, "more than 10 redirects")
    assert site.url("a.test", "/11") not in crawl.owner.visits
    assert state(crawl, site.url("a.test", "/self")) == (VisitState.REFUSED, "redirect to itself")
    assert len(site.paths("a.test")) == len(set(site.paths("a.test")))


async def test_a_canonical_address_elsewhere_is_like_a_link(site: Web, crawl: Crawl) -> None:
    elsewhere = site.url("b.test", "/1")
    site.add("a.test", {"/": linked("/1", head=f'<link rel="canonical" href="{site.url("b.test")}">')})
    site.add("a.test", {"/1": linked(head=f'<link rel="canonical" href="{elsewhere}">')})
    site.add("b.test", {"/": linked(), "/1": linked()})
    await crawl.run(seed(site.url("a.test"), depth=1))
    assert site.url("b.test") in crawl.owner.visits
    assert elsewhere not in crawl.owner.visits, "no deeper than links"


async def test_what_a_page_asks_for_is_done(site: Web, crawl: Crawl) -> None:
    site.add(
        "a.test", {"/": linked("/noindex", "/nofollow", "/header", "/canonical") + '<a rel=nofollow href="/n">n</a>'}
    )
    site.add("a.test", {"/noindex": linked("/1", head='<meta name="robots" content="noindex">')})
    site.add("a.test", {"/nofollow": linked("/2", head='<meta name="robots" content="nofollow">')})
    site.add("a.test", {"/header": answer(200, linked("/3"), X_Robots_Tag="none")})
    site.add("a.test", {"/canonical": linked(head='<link rel="canonical" href="/better">')})
    site.add("a.test", {"/for-us": answer(200, linked("/4"), X_Robots_Tag="x: none, dse-node: noindex")})
    site.add("a.test", {"/": site.pages["a.test"]["/"] + '<a rel=ugc href="/u">u</a><a href="/for-us">f</a>'})
    await crawl.run(seed(site.url("a.test")))
    found = {url.removeprefix(site.url("a.test"))[0:] for url in crawl.owner.visits}
    assert found == {"", "noindex", "nofollow", "header", "canonical", "1", "better", "for-us", "4"}
    assert crawl.owner.pages[site.url("a.test", "/for-us")].gone
    assert site.url("a.test", "/u") not in {link.url for link in crawl.owner.pages[site.url("a.test")].links}
    assert crawl.owner.pages[site.url("a.test", "/nofollow")].links == ()
    assert state(crawl, site.url("a.test", "/noindex")) == (VisitState.GONE, NOINDEX)
    assert crawl.owner.pages[site.url("a.test", "/noindex")].gone
    assert crawl.owner.pages[site.url("a.test", "/noindex")].content == b""
    assert crawl.owner.pages[site.url("a.test", "/header")].gone
    assert not crawl.owner.pages[site.url("a.test", "/canonical")].gone


async def test_an_unchanged_page_is_not_kept_again(site: Web, crawl: Crawl) -> None:
    async def page(request: web.Request) -> web.Response:
        if request.headers.get("If-None-Match") == '"1"':
            return web.Response(status=304)
        return web.Response(text=linked(), content_type="text/html", headers={"ETag": '"1"'})

    site.add("a.test", {"/": page})
    url = site.url("a.test")
    await crawl.run(seed(url))
    first = crawl.owner.visits[url]
    crawl.owner.visits[url] = replace(first, due_at=first.visited_at)
    crawl.owner.story.clear()
    await crawl.run()
    again = crawl.owner.visits[url]
    assert (again.state, again.status, again.etag) == (VisitState.FETCHED, 304, '"1"')
    assert [what for what, _ in crawl.owner.story] == ["record"]


async def test_a_page_keeps_the_day_of_its_first_copy_when_it_changes(site: Web, crawl: Crawl) -> None:
    url = site.url("a.test")
    for text in ("one", "two"):
        site.add("a.test", {"/": f"<p>{text}"})
        known = crawl.owner.visits.get(url, seed(url))
        before = crawl.owner.pages.get(url)
        later = replace(known.history, first_seen=1_000) if before else known.history
        crawl.owner.visits[url] = replace(known, due_at=known.visited_at, history=later)
        await crawl.run(crawl.owner.visits[url])
        page = crawl.owner.pages[url]
        assert page.text == text and page.first_seen == (1_000 if before else page.fetched_at // 86_400 + 1)


async def test_a_page_that_needs_scripts_says_so_until_it_has_text(site: Web, crawl: Crawl) -> None:
    texts = ["<script src=a.js></script><div id=root></div>", "", "<div id=root>Here is the text.</div>"]

    async def page(request: web.Request) -> web.Response:
        if not (text := texts.pop(0)):
            return web.Response(status=304)
        return web.Response(text=text, content_type="text/html", headers={"ETag": '"1"'})

    site.add("a.test", {"/": page})
    url, reasons = site.url("a.test"), []
    await crawl.run(seed(url))
    while texts:
        visit = crawl.owner.visits[url]
        reasons.append(visit.reason)
        crawl.owner.visits[url] = replace(visit, due_at=visit.visited_at)
        await crawl.run()
    assert reasons == ["needs JavaScript, which is not run"] * 2
    assert (crawl.owner.visits[url].state, crawl.owner.visits[url].reason) == (VisitState.FETCHED, "")


class Endless(dict[str, Handler | str]):
    """Pages by the beginning of their path, whatever the query."""

    def get(self, path: str, default: object = None) -> Handler | str | None:  # type: ignore[override]
        return super().get(path.partition("?")[0])


async def test_an_endless_site_ends_and_each_url_left_has_a_reason(site: Web, crawl: Crawl) -> None:
    numbers = itertools.count()

    async def endless(request: web.Request) -> web.Response:
        links = linked(*(f"/trap?n={next(numbers)}" for _ in range(3)), body="The same again.")
        return web.Response(text=links.replace("to /trap", "more"), content_type="text/html")

    site.pages["a.test"] = Endless({"/": linked("/trap?n=x", "/real"), "/real": "Real words.", "/trap": endless})
    await crawl.run(seed(site.url("a.test"), depth=200))
    assert site.url("a.test", "/real") in crawl.owner.pages
    assert len(site.paths("a.test")) < 30
    left = [visit for visit in crawl.owner.visits.values() if visit.state != VisitState.FETCHED]
    assert len(left) > 10 and {visit.state for visit in left} <= {VisitState.REFUSED, VisitState.REDIRECT}
    assert all(visit.reason.startswith("guard: ") for visit in left)


async def test_session_ids_of_a_sites_own_making_are_left_out_once_they_are_known(site: Web, crawl: Crawl) -> None:
    numbers, names = itertools.count(), [f"/{chr(97 + n)}" for n in range(20)]

    def chapter(name: str) -> Handler:
        async def respond(_: web.Request) -> web.Response:
            links = linked(*(f"{other}?sid={next(numbers)}" for other in names), body=f"Chapter {name * 9}.")
            return web.Response(text=re.sub("sid=[0-9]+<", "<", links), content_type="text/html")

        return respond

    site.pages["a.test"] = Endless({name: chapter(name) for name in names})
    await crawl.run(seed(site.url("a.test", "/a"), depth=50))
    assert len(site.paths("a.test")) < 150  # 20 pages, each with endless names
    last = {visit.target for visit in crawl.owner.visits.values() if visit.state == VisitState.REDIRECT}
    assert last and last <= {site.url("a.test", name) for name in names}
    assert {site.url("a.test", name) for name in names} <= crawl.owner.visits.keys()


async def test_a_feed_that_pages_name_leads_to_new_pages_and_is_asked_for_once(site: Web, crawl: Crawl) -> None:
    here = site.url("a.test", "/")
    feed = "<rss><channel><item><link>/new</link></item><item><link>http://b.test/x</link></item></channel></rss>"
    site.add("a.test", {"/feed": answer(200, feed, "application/rss+xml", ETag='"1"'), "/new": linked("/deeper")})
    site.add("a.test", {"/atom": answer(200, "<feed><entry><link href='/newer'/></entry></feed>"), "/newer": linked()})
    head = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    site.add("a.test", {"/": linked("/one", head=head), "/one": linked(head=head), "/deeper": linked()})
    named = answer(200, "Words.", "text/plain", Link='</atom>; rel="alternate"; type="application/atom+xml"')
    site.add("a.test", {"/": linked("/one", "/text", head=head), "/text": named})
    await crawl.run(seed(here, depth=2))
    assert site.paths("a.test").count("/feed") == 1
    assert crawl.owner.pages.keys() == {here, *(here + path for path in ("one", "text", "new", "newer", "deeper"))}
    visit = crawl.owner.visits[here + "feed"]
    assert (visit.state, visit.reason, visit.etag) == (VisitState.FETCHED, "feed: 1 page, 0 sitemaps", '"1"')
    assert crawl.owner.visits[here + "deeper"].depth == 0, "as if the page had linked to it"


async def test_a_page_that_has_moved_or_was_closed_is_found_no_more_and_comes_back(
    site: Web, config: CrawlConfig, crawl: Crawl
) -> None:
    here = site.url("a.test", "/")
    paths = ("moves", "closes", "blinks")
    site.add("a.test", {f"/{path}": linked(body=path) for path in paths})
    await crawl.run(*(seed(here + path) for path in paths))
    changed = {"/moves": answer(301, Location="/there"), "/there": linked(body="moves"), "/closes": answer(401)}
    changed |= {"/blinks": answer(302, Location="/there")}

    async def later(crawl: Crawl) -> Crawl:
        async with open_fetcher(config, "0", system_clock) as fetcher:
            again = Crawl(config, fetcher, InlineParsers())
            again.owner.visits = {url: replace(visit, due_at=0.0) for url, visit in crawl.owner.visits.items()}
            again.owner.pages = crawl.owner.pages
            await again.run()
        return again

    def found(crawl: Crawl) -> list[str]:
        return sorted(url.removeprefix(here) for url, page in crawl.owner.pages.items() if not page.gone)

    before = dict(site.pages["a.test"])
    site.add("a.test", changed)
    second = await later(crawl)
    assert found(second) == ["blinks", "there"], "what moves for a while only, stays"
    third = await later(second)
    assert found(third) == ["there"]
    assert state(third, here + "moves") == (VisitState.REDIRECT, "")
    assert state(third, here + "closes") == (VisitState.REFUSED, "status 401")
    site.add("a.test", before)
    assert found(await later(third)) == ["blinks", "closes", "moves", "there"]


async def test_a_page_is_gone_after_the_date_that_it_names(site: Web, config: CrawlConfig, crawl: Crawl) -> None:
    here = site.url("a.test", "/")
    past, future = "unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after: 2031-01-01T00:00:00Z"
    at = datetime(2031, 1, 1, tzinfo=UTC).timestamp()
    asked: list[str] = []

    async def offer(request: web.Request) -> web.Response:
        asked.append(request.headers.get("If-None-Match", ""))
        return web.Response(text=linked(), content_type="text/html", headers={"X-Robots-Tag": future, "ETag": '"1"'})

    site.add(
        "a.test",
        {"/": linked(head=f'<meta name="robots" content="noarchive, {past}">'), "/offer": offer, "/over": offer},
    )
    await crawl.run(seed(here), seed(here + "offer"))
    assert state(crawl, here) == (VisitState.GONE, UNAVAILABLE) and crawl.owner.pages[here].gone
    page, visit = crawl.owner.pages[here + "offer"], crawl.owner.visits[here + "offer"]
    assert (page.gone, page.unavailable_at, visit.unavailable_at) == (False, at, at)
    assert visit.due_at <= at
    async with open_fetcher(config, "0", system_clock) as fetcher:
        again = Crawl(config, fetcher, InlineParsers())
        await again.run(replace(visit, due_at=0.0), replace(visit, url=here + "over", due_at=0.0, unavailable_at=1.0))
    assert sorted(asked) == ["", "", '"1"'], "of a page whose date has come, only the page says if it is still there"
    assert again.owner.visits[here + "over"].unavailable_at == at


CONFIG = CrawlConfig()
NAMES = st.sampled_from(
    ("Content-Type", "Retry-After", "X-Robots-Tag", "Link", "Location", "ETag", "Last-Modified", "X" * 9_000)
)
PIECES = (
    *("text/html", ";", '"', ",", ":", "<", ">", "rel=canonical", "-1", "; charset=", "Fri, 25-Jun-10 15:00"),
    "9" * 30,
)
VALUES = (
    st.binary(max_size=80).map(lambda raw: raw.decode("utf-8", "replace"))  # as fetcher.py gives them
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)
STATUSES = st.sampled_from((200, 204, 301, 304, 404, 429, 503, 999))


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(NAMES, VALUES), max_size=6), STATUSES, st.booleans())
def test_any_header_is_read(headers: list[tuple[str, str]], status: int, is_sitemap: bool) -> None:
    url = "http://a.test/"
    fetched = Fetched(url, status, tuple(headers), b"<p>x", False, 0.1, "")
    visit = Visit(url, 1, is_sitemap=is_sitemap)
    outcome = judge(visit, fetched, 1e9, CONFIG, RevisitStatistics(CONFIG)).visit
    assert len(outcome.etag) <= 200 and len(outcome.reason) <= 200 and outcome.due_at < 1e12
    assert len(parse_task_of(fetched, CONFIG).header_charset) <= 40
    assert fetched.retry_after_s(1e9) >= 0.0
    directives = header_directives(fetched.headers, "dse-node")
    links_of(fetched.headers, url)
    page = page_of(fetched, ParseResult("", "", "", (), "", ()), 1e9, directives)
    assert sum(len((name + value).encode()) for name, value in page.headers) <= MAX_KEPT_HEADER_BYTES


@pytest.mark.parametrize(
    ("url", "headers", "is_dated"),
    [
        ("http://a.test/x", (), True),
        ("http://a.test/x?id=1", (), False),
        ("http://a.test/x", (("Set-Cookie", "a=b"),), False),
        ("http://a.test/x", (("Cache-Control", "max-age=0, private"),), False),
        ("http://a.test/x", (("Date", "Sun, 09 Sep 2001 01:46:40 GMT"),), True),
    ],
)
def test_a_page_without_a_date_has_that_of_its_file(
    url: str, headers: tuple[tuple[str, str], ...], is_dated: bool
) -> None:
    modified = ("Last-Modified", "Sat, 01 Sep 2001 00:00:00 GMT")
    fetched = Fetched(url, 200, (modified, *headers), b"<p>x", False, 0.1, "")
    assert last_modified(fetched, 1e9) == (999_302_400.0 if is_dated else 0.0)
    assert last_modified(fetched, 999_302_401.0) == 0.0  # it was made when it was asked for
    assert last_modified(fetched, 9e8) == 0.0  # it lies in the future
