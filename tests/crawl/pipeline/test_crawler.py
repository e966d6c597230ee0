"""The whole crawler against real servers."""

import asyncio
from itertools import pairwise
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from crawl import (
    Visit,
    VisitState,
    exclusion,
    scope_for,
)
from crawl.frontier.fetch_task import FetchTask
from crawl.pipeline.fetch_stage import FetchResult
from crawl.pipeline.handoff import Delivery
from crawl.pipeline.process_stage import ProcessStage
from dht import LocalFaults, Supervisor, system_clock
from tests.crawl.world import SLOT, Crawl, Web, answer, linked, seed


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


async def test_a_crawl_leaves_out_excluded_links_sitemap_entries_and_targets_of_redirects(
    site: Web, crawl: Crawl
) -> None:
    pages = [site.url("a.test", path) for path in ("/listed", "/private/listed", "/x.pdf")]
    xml = "<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in pages) + "</urlset>"
    site.add("a.test", {"/s.xml": answer(200, xml, "application/xml"), "/listed": linked("/moved", "/private/1", "/b")})
    site.add("a.test", {"/moved": answer(302, Location="/private/2"), "/b": linked("/c.pdf", "/c.pdfx"), "/c.pdfx": ""})
    scope = scope_for("host", site.url("a.test")) + exclusion(["/private/", r"\.pdf$"])
    await crawl.run(Visit(site.url("a.test", "/s.xml"), 5, scope=scope, is_sitemap=True))
    assert sorted(site.paths("a.test")) == ["/b", "/c.pdfx", "/listed", "/moved", "/robots.txt", "/s.xml"]
    assert not [url for url in crawl.owner.visits if "/private/" in url or url.endswith(".pdf")]
    assert {visit.scope for visit in crawl.owner.visits.values()} == {scope}, "patterns travel with each found URL"
    assert crawl.crawler.status().refused["scope"] == 5


async def test_after_a_release_nothing_starts_and_what_is_open_ends(site: Web, crawl: Crawl) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        arrived.set()
        await go_on.wait()
        return web.Response(text=linked("/1"), content_type="text/html")

    site.add("a.test", {"/": slow, "/1": linked()})
    site.add("b.test", {"/": linked()})
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
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


async def test_a_crawl_that_broke_amid_a_request_goes_on_where_it_was(site: Web, crawl: Crawl) -> None:
    arrived, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_: web.Request) -> web.Response:
        arrived.set()
        await go_on.wait()
        return web.Response(text=linked("/1"), content_type="text/html")

    listed, xml = f"<urlset><url><loc>{site.url('b.test', '/listed')}</loc></url></urlset>", "application/xml"
    robots = answer(200, f"Sitemap: {site.url('b.test', '/map.xml')}")
    site.add(
        "b.test", {"/robots.txt": robots, "/": linked(), "/listed": linked(), "/map.xml": answer(200, listed, xml)}
    )
    site.add("a.test", {"/": slow, "/1": linked()})
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"), depth=3)])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await arrived.wait()
        running.cancel()
        await asyncio.wait([running])
        assert crawl.crawler.status().open == 0
        go_on.set()
        running = tasks.create_task(crawl.crawler.run())
        crawl.crawler.observe(SLOT, seed(site.url("b.test")))
        await crawl.finished()
        running.cancel()
    wanted = {site.url("a.test"), site.url("a.test", "/1"), site.url("b.test"), site.url("b.test", "/listed")}
    assert crawl.owner.pages.keys() == wanted


async def test_a_page_that_breaks_the_crawler_costs_itself_alone(
    site: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, broken = ProcessStage.process, site.url("a.test", "/1")

    async def breaks(self: ProcessStage, task: FetchTask, result: FetchResult) -> Delivery:
        if task.visit.url == broken:
            raise KeyError(broken)
        return await process(self, task, result)

    monkeypatch.setattr(ProcessStage, "process", breaks)
    site.add("a.test", {"/": linked("/1", "/2", "/3"), "/1": linked(), "/2": linked(), "/3": linked()})
    faults = LocalFaults(system_clock)
    await crawl.run(seed(site.url("a.test"), depth=2), supervisor=Supervisor(faults))
    assert sorted(crawl.owner.pages) == [site.url("a.test", path) for path in ("/", "/2", "/3")]
    assert 1 <= site.paths("a.test").count("/1") <= 3, "it is asked for again as any page that fails"
    assert "KeyError" in faults.present()[0].cause


async def test_a_lent_turn_that_nobody_returns_delays_its_site_and_no_more(
    site: Web, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawl.frontier.lent_turns.TURN_S", 0.3)
    site.add("a.test", {"/": linked()})
    name = urlsplit(site.url("a.test")).netloc
    assert crawl.crawler.lent_turns.lend(name, SLOT, "one", 0.0, crawl.crawler._clock().steady) == 0.0
    await crawl.run(seed(site.url("a.test")))
    assert site.url("a.test") in crawl.owner.pages


async def test_a_paused_crawler_starts_nothing(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked()})
    crawl.control.pause("paused")
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
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


async def test_scope_travels_with_the_url_over_links_and_redirects(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/docs/": linked("/docs/x", "/news", site.url("b.test")), "/docs/x": linked("/docs/far")})
    site.add("a.test", {"/docs/far": answer(302, Location=site.url("b.test", "/")), "/news": linked()})
    site.add("b.test", {"/": linked()})
    await crawl.run(Visit(site.url("a.test", "/docs/"), 5, scope=scope_for("prefix", site.url("a.test", "/docs/"))))
    assert sorted(site.paths("a.test")) == ["/docs/", "/docs/far", "/docs/x", "/robots.txt"]
    assert site.paths("b.test") == []
    assert crawl.crawler.status().refused == {"scope": 3}


async def test_a_page_that_others_link_to_is_fetched_before_older_ones(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked(*(f"/{page}" for page in range(12)))})
    site.add("a.test", {f"/{page}": linked("/11" if page < 2 else "/") for page in range(12)})
    await crawl.run(seed(site.url("a.test"), depth=90))
    paths = site.paths("a.test")
    assert len(paths) == 14 and paths.index("/11") < paths.index("/10")
