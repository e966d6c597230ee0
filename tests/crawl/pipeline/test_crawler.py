"""The whole crawler against real servers."""

import asyncio
import gzip
import itertools
import re
from collections import Counter
from datetime import UTC, datetime
from email.utils import formatdate
from itertools import pairwise

import pytest
from aiohttp import web
from msgspec.structs import replace

from crawl import (
    AliasEvidence,
    CrawlConfig,
    FamilyMissing,
    InlineParsers,
    MirrorAlias,
    Visit,
    VisitState,
    open_fetcher,
    scope_for,
)
from crawl.schedule.change_rate import History
from crawl.schedule.lastmod import TEST_EACH
from dht import system_clock
from tests.crawl.world import SLOT, Crawl, Handler, Web, seed


def linked(*paths: str, head: str = "", body: str = "") -> str:
    anchors = "".join(f'<a href="{path}">to {path}</a> ' for path in paths)
    return f"<html><head><title>T</title>{head}</head><body>{body}{anchors}</body></html>"


async def test_a_site_is_crawled_once_in_scope_and_politely(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked("/1", "/2#x", "/1"), "/1": linked("/", "/deep"), "/2": linked("/1")})
    site.add("a.test", {"/deep": linked("/deeper"), "/deeper": linked()})
    await crawl.run(seed(site.url("a.test"), depth=2))
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/deep", "/robots.txt"]
    assert sorted(crawl.owner.pages) == [site.url("a.test", path) for path in ("/", "/1", "/2", "/deep")]
    assert {visit.state for visit in crawl.owner.visits.values()} == {VisitState.FETCHED}
    for (*_, ended), (*_, started, _) in pairwise(site.log):
        assert started - ended >= 0.019
    assert crawl.crawler.status().fetched == 4


def answer(status: int, text: str = "", media_type: str = "text/html", **headers: str) -> Handler:
    async def respond(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=text, content_type=media_type, headers=named)

    return respond


def state(crawl: Crawl, url: str) -> tuple[VisitState, str]:
    visit = crawl.owner.visits[url]
    return visit.state, visit.reason


async def test_nothing_is_recorded_before_it_is_safe(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked("/1", "/2"), "/1": linked(), "/2": linked()})
    crawl.owner.deaf = 5  # owners that do not acknowledge cost time, never a second fetch
    await crawl.run(seed(site.url("a.test")))
    top = site.url("a.test")
    order = [what for what, url in crawl.owner.story if url == top or url == site.url("a.test", "/1")]
    assert order == ["keep", "discover", "record", "keep", "record"]
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/robots.txt"]


async def test_redirects_go_to_their_owners_and_loops_end(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": answer(301, Location="/x"), "/x": answer(302, Location="http://b.test:1/")})
    site.add("a.test", {"/loop": answer(302, Location="/pool"), "/pool": answer(302, Location="/loop")})
    site.add("a.test", {f"/{n}": answer(307, Location=f"/{n + 1}") for n in range(20)})
    site.add("a.test", {"/self": answer(301, Location="/self")})
    crawl.denied = ("b.test",)
    await crawl.run(*(seed(site.url("a.test", path)) for path in ("/", "/loop", "/0", "/self")))
    assert crawl.owner.visits[site.url("a.test")].target == site.url("a.test", "/x")
    assert crawl.owner.visits[site.url("a.test", "/x")].target == "http://b.test:1/"
    assert "http://b.test:1/" not in crawl.owner.visits
    assert state(crawl, site.url("a.test", "/pool"))[0] == VisitState.REDIRECT
    assert state(crawl, site.url("a.test", "/10")) == (VisitState.REFUSED, "more than 10 redirects")
    assert site.url("a.test", "/11") not in crawl.owner.visits
    assert state(crawl, site.url("a.test", "/self")) == (VisitState.REFUSED, "redirect to itself")
    assert len(site.paths("a.test")) == len(set(site.paths("a.test")))


async def test_redirects_between_hosts_end_too(site: Web, crawl: Crawl) -> None:
    """Each hop is a URL of its own, asked for once; a chain that comes back ends there, others with a reason."""
    a, b = (lambda path: site.url("a.test", path)), (lambda path: site.url("b.test", path))
    site.add("a.test", {"/loop": answer(301, Location=b("/loop")), "/back": answer(302, Location=b("/x?n=0"))})
    site.add("b.test", {"/loop": answer(301, Location=a("/loop"))})
    for n in range(20):
        site.add("b.test", {f"/x?n={n}": answer(307, Location=a(f"/y?n={n}"))})
        site.add("a.test", {f"/y?n={n}": answer(303, Location=b(f"/x?n={n + 1}"))})
    await crawl.run(seed(a("/loop")), seed(a("/back")))
    assert state(crawl, a("/loop")) == state(crawl, b("/loop")) == (VisitState.REDIRECT, "")
    assert crawl.owner.visits[b("/loop")].target == a("/loop")
    assert state(crawl, a("/y?n=4")) == (VisitState.REFUSED, "more than 10 redirects")
    assert b("/x?n=5") not in crawl.owner.visits
    asked = [*map(a, site.paths("a.test")), *map(b, site.paths("b.test"))]
    assert len(asked) == len(set(asked)) == 2 + 2 + 11


async def test_a_canonical_address_elsewhere_is_like_a_link(site: Web, crawl: Crawl) -> None:
    elsewhere = site.url("b.test", "/1")
    site.add("a.test", {"/": linked("/1", head=f'<link rel="canonical" href="{site.url("b.test")}">')})
    site.add("a.test", {"/1": linked(head=f'<link rel="canonical" href="{elsewhere}">')})
    site.add("b.test", {"/": linked(), "/1": linked()})
    await crawl.run(seed(site.url("a.test"), depth=1))
    assert site.url("b.test") in crawl.owner.visits
    assert elsewhere not in crawl.owner.visits, "no deeper than links"


async def test_a_host_that_redirects_everything_is_left_alone(site: Web, crawl: Crawl) -> None:
    old, new = (lambda path: site.url("a.test", path)), (lambda path: site.url("b.test", path))
    crawl.control.hear_aliases(
        f"a.test:{site.port}", [MirrorAlias(old("/"), new("/"), system_clock().wall - 60.0, AliasEvidence.REDIRECTS)]
    )
    pages = [f"/{n}" for n in range(12)]
    site.add("a.test", {path: answer(301, Location=new(path)) for path in ("/", *pages)})
    site.add("b.test", {path: linked() for path in ("/", *pages)})
    await crawl.run(*(seed(old(path)) for path in ("/", *pages)))
    left = [path for path in pages if state(crawl, old(path)) == (VisitState.REFUSED, f"alias of {new('/')}")]
    assert len(left) >= 10 and not set(left) & set(site.paths("a.test"))
    assert "/" in site.paths("a.test"), "its front page is looked at"
    assert {new(path) for path in pages} <= crawl.owner.pages.keys()
    assert crawl.crawler.status().refused == {"alias": len(left)}
    assert crawl.crawler.inspect(old(left[0])).trap == f"alias of {new('/')}"
    crawl.control.hear_aliases(f"a.test:{site.port}", [])
    await crawl.run()
    assert {state(crawl, old(path))[0] for path in pages} == {VisitState.REDIRECT}


async def test_robots_rules_and_guards_are_obeyed_with_reasons(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/robots.txt": answer(200, "User-agent: *\nDisallow: /no\n", "text/plain")})
    site.add("a.test", {"/": linked("/no/1", "/rule/1", "/a/a/a/a/a", "/yes")})
    site.add("a.test", {"/yes": linked(), "/no/1": linked()})
    crawl.denied = ("/rule",)
    await crawl.run(seed(site.url("a.test")))
    assert sorted(site.paths("a.test")) == ["/", "/robots.txt", "/yes"]
    assert state(crawl, site.url("a.test", "/no/1")) == (VisitState.REFUSED, "robots")
    refused = crawl.crawler.status().refused
    assert refused == {"robots": 1, "rule 1": 1, "guard: path repeats itself": 1}


async def test_robots_of_another_host_are_asked_for_in_that_hosts_turn(site: Web, crawl: Crawl) -> None:
    elsewhere = site.url("b.test", "/rules")
    site.add("a.test", {"/robots.txt": answer(301, location=elsewhere), "/": linked("/no"), "/no": linked()})
    site.add("b.test", {"/rules": "User-agent: *\nDisallow: /no\nCrawl-delay: 0.1"})
    site.add("b.test", {"/": linked(*(f"/{n}" for n in range(8))), **{f"/{n}": linked() for n in range(8)}})
    await crawl.run(seed(site.url("b.test")), seed(site.url("a.test")))
    assert site.paths("a.test") == ["/robots.txt", "/"]
    assert site.paths("b.test").count("/rules") == 1
    assert len(site.paths("b.test")) == 11
    assert state(crawl, site.url("a.test", "/no")) == (VisitState.REFUSED, "robots")
    for host in ("a.test", "b.test"):
        for (*_, ended), (*_, started, _) in pairwise(row for row in site.log if row[0] == host):
            assert started - ended >= 0.019


async def test_robots_that_redirect_to_a_host_that_nobody_may_ask_lead_nowhere(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/robots.txt": answer(301, location=site.url("b.test", "/rules")), "/": linked()})
    site.add("b.test", {"/rules": "User-agent: *\nDisallow: /"})
    crawl.denied = ("b.test",)
    await crawl.run(seed(site.url("a.test")))
    assert site.paths("b.test") == []
    assert site.paths("a.test") == ["/robots.txt", "/"]


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
    assert state(crawl, site.url("a.test", "/noindex")) == (VisitState.GONE, "noindex")
    assert crawl.owner.pages[site.url("a.test", "/noindex")].gone
    assert crawl.owner.pages[site.url("a.test", "/noindex")].content == b""
    assert crawl.owner.pages[site.url("a.test", "/header")].gone
    assert not crawl.owner.pages[site.url("a.test", "/canonical")].gone


async def test_statuses_become_states(site: Web, crawl: Crawl) -> None:
    pages = {"/410": answer(410), "/403": answer(403), "/zip": answer(200, "x", "application/zip")}
    pages |= {"/429": answer(429, Retry_After="3000"), "/500": answer(500)}
    site.add("a.test", {"/robots.txt": answer(404)})
    for name, page in pages.items():
        site.add(f"{'abcdefg'[list(pages).index(name)]}.test", {name: page})
    urls = {name: site.url(f"{'abcdefg'[n]}.test", name) for n, name in enumerate(pages)}
    before = system_clock().wall
    await crawl.run(*map(seed, urls.values()), within_s=20)
    states = {name: state(crawl, url) for name, url in urls.items()}
    assert states["/410"] == (VisitState.GONE, "status 410")
    assert crawl.owner.pages[urls["/410"]].gone
    assert states["/403"] == (VisitState.REFUSED, "status 403")
    assert states["/zip"] == (VisitState.REFUSED, "media type: application/zip")
    assert states["/429"] == (VisitState.FAILED, "status 429")
    assert crawl.owner.visits[urls["/429"]].due_at >= before + 2999
    assert states["/500"] == (VisitState.FAILED, "status 500")
    assert len(site.paths("e.test")) > 2


async def test_a_page_in_a_coding_that_nobody_asked_for_is_no_fault_of_its_host(site: Web, crawl: Crawl) -> None:
    """One request for it, and the site's other pages are not made to wait."""
    site.add("a.test", {f"/{n}": answer(200, "x", Content_Encoding="br") for n in range(8)} | {"/": linked()})
    await crawl.run(*(seed(site.url("a.test", f"/{n}")) for n in range(8)), seed(site.url("a.test"), depth=0))
    assert len(site.paths("a.test")) == 1 + 8 + 1
    assert state(crawl, site.url("a.test", "/3")) == (
        VisitState.REFUSED,
        "coding: content coding 'br', which we did not offer",
    )
    assert state(crawl, site.url("a.test"))[0] == VisitState.FETCHED


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


async def test_sitemaps_are_fetched_politely_and_their_urls_found(site: Web, crawl: Crawl) -> None:
    xml, here = "application/xml", site.url("a.test", "/")
    site.add("a.test", {"/robots.txt": answer(200, f"Sitemap: {here}index.xml\nSitemap: http://z.test/s.xml\n")})
    index = f"<sitemapindex><sitemap><loc>{here}s.xml</loc></sitemap></sitemapindex>"
    urls = f"<urlset><url><loc>{here}hidden</loc></url><url><loc>http://z.test/</loc></url></urlset>"
    site.add("a.test", {"/index.xml": answer(200, index, xml), "/s.xml": answer(200, urls, xml)})
    site.add("a.test", {"/": linked(), "/hidden": linked()})
    await crawl.run(seed(here))
    assert sorted(site.paths("a.test")) == ["/", "/hidden", "/index.xml", "/robots.txt", "/s.xml"]
    assert crawl.owner.visits.keys() == {here, here + "hidden"}
    assert crawl.owner.visits[here + "hidden"].depth == 3
    for (*_, ended), (*_, started, _) in pairwise(site.log):
        assert started - ended >= 0.019


async def test_a_site_without_reachable_robots_is_left_alone(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/robots.txt": answer(503), "/": linked()})
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: len(site.log) >= 2)
        running.cancel()
    assert set(site.paths("a.test")) == {"/robots.txt"}
    assert state(crawl, site.url("a.test")) == (VisitState.FAILED, "robots.txt unreachable: status 503")


async def test_retry_after_is_obeyed_in_both_forms_and_where_robots_says_it(site: Web, crawl: Crawl) -> None:
    now = system_clock().wall
    site.add("a.test", {"/robots.txt": answer(503, retry_after="300"), "/": linked()})
    site.add("b.test", {"/": answer(429, retry_after=formatdate(now + 300, usegmt=True)), "/x": linked()})
    urls = [site.url("a.test"), site.url("b.test"), site.url("b.test", "/x")]
    crawl.crawler.hold(SLOT, 1, [seed(url) for url in urls])
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: len(site.log) == 3 and crawl.crawler.status().open == 0)
        for url in urls:
            assert 290 < crawl.crawler.inspect(url).position.host_rest_s <= 300
        assert crawl.crawler.status().reason.startswith("all 2 due URLs wait until their sites may be asked again")
        running.cancel()
    assert site.paths("a.test") == ["/robots.txt"], "no rules, no page"
    visit = crawl.owner.visits[site.url("b.test")]
    assert (visit.state, visit.reason) == (VisitState.FAILED, "status 429")
    assert visit.due_at >= now + 299


async def test_a_dead_host_costs_few_requests_and_each_of_its_urls_gets_a_reason(
    site: Web, config: CrawlConfig
) -> None:
    config = replace(config, breaker_fails=2, breaker_s=0.01, max_error_delay_s=0.04, max_retry_s=100.0)
    site.add("a.test", {"/robots.txt": "", **{f"/{n}": answer(503) for n in range(40)}, "/": linked()})
    async with open_fetcher(config, "0", system_clock) as fetcher:
        crawl = Crawl(config, fetcher, InlineParsers(), fetcher.locate)
        crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test", f"/{n}")) for n in range(40)])
        async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(crawl.crawler.run())
            await crawl.until(lambda: len(crawl.owner.visits) == 40)
            status = crawl.crawler.status()
            assert status.broken == 1
            running.cancel()
    assert len(site.log) < 25
    reasons = Counter(visit.reason.partition(":")[0] for visit in crawl.owner.visits.values())
    assert reasons["host"] > 15
    assert set(reasons) == {"host", "status 503"}


async def test_private_addresses_and_missing_families_are_told_apart(
    site: Web, crawl: Crawl, config: CrawlConfig
) -> None:
    narrow = replace(config, families=(4,))
    async with open_fetcher(narrow, "0", system_clock) as fetcher:
        with pytest.raises(FamilyMissing) as missing:
            await fetcher.fetch("http://six.test/", {}, 1000)
        assert missing.value.family == 6
        with pytest.raises(FamilyMissing):
            await fetcher.fetch("http://[::1]/", {}, 1000)
    await crawl.run(seed("http://meta.test/"), seed("http://169.254.169.254/"), seed("http://0.0.0.0/"))
    assert {visit.state for visit in crawl.owner.visits.values()} == {VisitState.REFUSED}
    assert crawl.crawler.status().refused == {"address": 3}


async def test_after_a_release_nothing_starts_and_what_is_open_ends(site: Web, crawl: Crawl) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        arrived.set()
        await go_on.wait()
        return web.Response(text=linked("/1"), content_type="text/html")

    site.add("a.test", {"/": slow, "/1": linked()})
    site.add("b.test", {"/": linked()})
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await arrived.wait()
        crawl.crawler.release(SLOT)
        crawl.crawler.observe(SLOT, seed(site.url("b.test")))
        go_on.set()
        await crawl.until(lambda: crawl.crawler.status().open == 0)
        running.cancel()
    assert crawl.owner.visits[site.url("a.test")].state == VisitState.FETCHED
    assert crawl.owner.visits[site.url("a.test", "/1")].state == VisitState.WAITING
    assert not site.paths("b.test")
    assert crawl.crawler.status().state == "idle"


async def test_a_lost_slot_whose_owners_are_deaf_is_left_to_others(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked()})
    crawl.owner.deaf = 10_000
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: crawl.owner.deaf < 10_000)
        assert crawl.crawler.status().open == 1
        crawl.crawler.release(SLOT)
        await crawl.until(lambda: crawl.crawler.status().open == 0)
        running.cancel()
    assert not crawl.owner.story


async def test_a_paused_crawler_starts_nothing(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked()})
    crawl.control.pause("paused")
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        for _ in range(10):
            await asyncio.sleep(0)
        status = crawl.crawler.status()
        assert (status.state, status.waiting, status.open) == ("paused", 1, 0)
        assert not site.log
        crawl.control.pause("")
        await crawl.finished()
        running.cancel()
    assert site.url("a.test") in crawl.owner.pages


async def test_a_site_whose_dates_proved_right_is_asked_for_what_changed_alone(
    site: Web, config: CrawlConfig, crawl: Crawl
) -> None:
    now = int(system_clock().wall)
    config = replace(config, robots_ttl_s=0.3, min_revisit_s=1.0)
    async with open_fetcher(config, "0", system_clock) as fetcher:
        crawl = Crawl(config, fetcher, InlineParsers())
        paths = [f"/{n}" for n in range(15)]
        dates = {path: "2099" if path == "/14" else "2020-01-01T00:00:00Z" for path in paths}
        for path in [*paths[:12], "/12"]:
            dates[path] = "2026-01-01T00:00:00Z"
        entries = "".join(f"<url><loc>{path}</loc><lastmod>{date}</lastmod></url>" for path, date in dates.items())
        robots = answer(200, f"Sitemap: {site.url('a.test', '/map.xml')}", "text/plain")
        site.add("a.test", {"/robots.txt": robots, "/map.xml": answer(200, f"<urlset>{entries}</urlset>", "text/xml")})
        site.add("a.test", {path: linked(body="new words") for path in paths})
        seen_at = int(datetime(2025, 6, 1, tzinfo=UTC).timestamp())
        known = [
            replace(
                Visit(site.url("a.test", path), 1, state=VisitState.FETCHED, visited_at=seen_at + 1, due_at=due_at),
                history=History(seen_at, kept_at=now, fingerprint=b"as it was seen.."),
            )
            for path, due_at in zip(paths, [0.0] * 12 + [now + 9e6, now + 2.0, now + 2.5], strict=True)
        ]
        assert (seen_at + 1) % TEST_EACH != 0
        await crawl.run(*known)
    asked = site.paths("a.test")
    assert asked.count("/map.xml") >= 2
    assert asked.count("/12") == 1  # was due in a hundred days
    assert asked.count("/13") == 0  # was due, and has not changed
    assert asked.count("/14") == 1  # no date to go by
    assert crawl.owner.visits[site.url("a.test", "/13")].history.unchanged_s > 0


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


async def test_scope_travels_with_the_url_over_links_and_redirects(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/docs/": linked("/docs/x", "/news", site.url("b.test")), "/docs/x": linked("/docs/far")})
    site.add("a.test", {"/docs/far": answer(302, Location=site.url("b.test", "/")), "/news": linked()})
    site.add("b.test", {"/": linked()})
    await crawl.run(Visit(site.url("a.test", "/docs/"), 5, scope=scope_for("prefix", site.url("a.test", "/docs/"))))
    assert sorted(site.paths("a.test")) == ["/docs/", "/docs/far", "/docs/x", "/robots.txt"]
    assert site.paths("b.test") == []
    assert crawl.crawler.status().refused == {"scope": 3}


async def test_a_sitemap_handed_in_makes_seeds_of_its_pages_by_the_rules_of_robots(site: Web, crawl: Crawl) -> None:
    xml, here = "application/xml", site.url("a.test", "/")
    site.add("a.test", {"/robots.txt": answer(200, "User-agent: *\nDisallow: /secret\nDisallow: /no.xml\n")})
    index = f"<sitemapindex><sitemap><loc>{here}s.xml</loc></sitemap></sitemapindex>"
    urls = "<urlset>" + "".join(f"<url><loc>{here}{path}</loc></url>" for path in ("one", "secret")) + "</urlset>"
    site.add("a.test", {"/index.xml": answer(200, index, xml), "/s.xml": answer(200, urls, xml)})
    site.add("a.test", {"/one": linked("/two", site.url("b.test")), "/two": linked("/three"), "/empty.xml": linked()})
    maps = [Visit(here + name, 1, scope="a.test", is_sitemap=True) for name in ("index.xml", "no.xml", "empty.xml")]
    await crawl.run(*maps)
    assert sorted(site.paths("a.test")) == ["/empty.xml", "/index.xml", "/one", "/robots.txt", "/s.xml", "/two"]
    visits = crawl.owner.visits
    assert (visits[here + "index.xml"].state, visits[here + "no.xml"].reason) == (VisitState.FETCHED, "robots")
    assert visits[here + "empty.xml"].reason == "sitemap: names no page of its site"
    assert visits[here + "secret"].reason == "robots"
    assert (visits[here + "two"].depth, visits[here + "two"].scope) == (0, "a.test")
    assert crawl.owner.pages.keys() == {here + "one", here + "two"}
    for (*_, ended), (*_, started, _) in pairwise(site.log):
        assert started - ended >= 0.019


async def test_a_sitemap_that_is_gone_or_moved(site: Web, crawl: Crawl) -> None:
    here = site.url("a.test", "/")
    urls = f"<urlset><url><loc>{here}one</loc></url></urlset>"
    site.add("a.test", {"/old.xml": answer(301, Location="/new.xml"), "/new.xml": answer(200, urls, "application/xml")})
    site.add("a.test", {"/one": linked()})
    await crawl.run(*(Visit(here + name, 0, is_sitemap=True) for name in ("old.xml", "gone.xml")))
    assert crawl.owner.pages.keys() == {here + "one"}
    assert crawl.owner.visits[here + "gone.xml"].reason == "sitemap: status 404"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("bounds", [{"max_sitemap_seeds": 4}, {"max_sitemap_bytes": 300}, {}])
async def test_of_a_sitemap_too_large_what_fits_is_taken(
    site: Web, config: CrawlConfig, bounds: dict[str, int], packed: bool
) -> None:
    here = site.url("a.test", "/")
    urls = "<urlset>" + "".join(f"<url><loc>{here}{n}</loc></url>" for n in range(40)) + "</urlset>"
    body = gzip.compress(urls.encode()) if packed else urls.encode()

    async def listing(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/gzip" if packed else "text/xml")

    site.add("a.test", {"/s.xml": listing} | {f"/{n}": linked() for n in range(40)})
    config = replace(config, max_sitemap_urls=2, **bounds)
    async with open_fetcher(config, "0", system_clock) as fetcher:
        crawl = Crawl(config, fetcher, InlineParsers())
        await crawl.run(Visit(here + "s.xml", 0, is_sitemap=True))
    found = sorted(int(url.removeprefix(here)) for url in crawl.owner.visits if not url.endswith(".xml"))
    count = len(found)
    assert found == list(range(count)) and (count == 40 if not bounds else 2 < count < 40)
    more = ", and more that was not read" if bounds else ""
    assert state(crawl, here + "s.xml") == (VisitState.FETCHED, f"sitemap: {count} pages, 0 sitemaps{more}")


async def test_what_a_sitemap_listed_is_told(site: Web, crawl: Crawl) -> None:
    here = site.url("a.test", "/")
    urls = f"<urlset><url><loc>{here}one</loc></url><url><loc>{here}two</loc></url></urlset>"
    site.add("a.test", {"/s.xml": answer(200, urls, "application/xml")})
    await crawl.run(Visit(here + "s.xml", 0, is_sitemap=True))
    assert crawl.crawler.listed(here + "s.xml") == (here + "one", here + "two")
    assert crawl.crawler.listed(here) == ()


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
    assert (visit.state, visit.reason, visit.etag) == (VisitState.FETCHED, "feed: 1 pages, 0 sitemaps", '"1"')
    assert crawl.owner.visits[here + "deeper"].depth == 0, "as if the page had linked to it"


async def test_a_feed_is_read_again_as_often_as_it_changes(site: Web, config: CrawlConfig, crawl: Crawl) -> None:
    here, day, now = site.url("a.test", "/"), 86_400, int(system_clock().wall)
    feed = answer(200, "<rss><item><link>/new</link></item></rss>")
    site.add("a.test", {"/calm": feed, "/lively": feed, "/new": linked()})
    await crawl.run(Visit(here + "calm", 0, is_sitemap=True))
    first = crawl.owner.visits[here + "calm"]
    async with open_fetcher(config, "0", system_clock) as fetcher:
        again = Crawl(config, fetcher, InlineParsers())
        for name, known in (("calm", first.history.fingerprint), ("lively", b"another")):
            history = History(now - 30 * day, now - 30 * day, 9, 9 * day, 9 * day, known)
            visit = replace(first, url=here + name, due_at=0.0, visited_at=now - 30 * day, history=history)
            again.owner.visits[visit.url] = visit
        await again.run()
    calm, lively = (again.owner.visits[here + name] for name in ("calm", "lively"))
    assert now < lively.due_at < calm.due_at
    assert (calm.history.changes, lively.history.changes) == (9, 10)


async def test_a_response_without_markup_names_its_canonical_address(site: Web, crawl: Crawl) -> None:
    site.add(
        "a.test", {"/": answer(200, "Words.", "text/plain", Link='</better>; rel="canonical"'), "/better": "Words."}
    )
    await crawl.run(seed(site.url("a.test"), depth=0))
    assert crawl.owner.visits[site.url("a.test", "/better")].state == VisitState.FETCHED


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
    assert state(crawl, here) == (VisitState.GONE, "unavailable_after") and crawl.owner.pages[here].gone
    page, visit = crawl.owner.pages[here + "offer"], crawl.owner.visits[here + "offer"]
    assert (page.gone, page.unavailable_at, visit.unavailable_at) == (False, at, at)
    assert visit.due_at <= at
    async with open_fetcher(config, "0", system_clock) as fetcher:
        again = Crawl(config, fetcher, InlineParsers())
        await again.run(replace(visit, due_at=0.0), replace(visit, url=here + "over", due_at=0.0, unavailable_at=1.0))
    assert sorted(asked) == ["", "", '"1"'], "of a page whose date has come, only the page says if it is still there"
    assert again.owner.visits[here + "over"].unavailable_at == at
