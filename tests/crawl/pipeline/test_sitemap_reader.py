"""Sitemaps and feeds: those of robots.txt, those handed in, and the dates that they give."""

import gzip
from itertools import pairwise

import pytest
from aiohttp import web
from msgspec.structs import replace

from crawl import (
    CrawlConfig,
    InlineParsers,
    Visit,
    VisitState,
    open_fetcher,
)
from crawl.pipeline.sitemap_reader import SitemapListings
from crawl.schedule.url_state import History
from dht import system_clock
from tests.crawl.world import Crawl, Web, answer, linked, seed, state


async def test_sitemaps_are_fetched_politely_and_their_urls_found(site: Web, crawl: Crawl) -> None:
    xml, here = "application/xml", site.url("a.test", "/")
    site.add("a.test", {"/robots.txt": answer(200, f"Sitemap: {here}index.xml\nSitemap: http://z.test/s.xml\n")})
    index = f"<sitemapindex><sitemap><loc>{here}s.xml</loc></sitemap></sitemapindex>"
    urls = f"<urlset><url><loc>{here}hidden</loc></url><url><loc>http://z.test/</loc></url></urlset>"
    site.add("a.test", {"/index.xml": answer(200, index, xml), "/s.xml": answer(200, urls, xml)})
    site.add("a.test", {"/": linked(), "/hidden": linked()})
    await crawl.run(seed(here))
    assert sorted(site.paths("a.test")) == ["/", "/hidden", "/index.xml", "/robots.txt", "/s.xml"]
    assert crawl.owner.visits.keys() == {here, here + "hidden", "http://z.test/", "http://z.test/s.xml"}
    assert crawl.owner.visits["http://z.test/s.xml"].is_sitemap
    assert crawl.owner.visits[here + "hidden"].depth == 3
    for (*_, ended), (*_, started, _) in pairwise(site.log):
        assert started - ended >= 0.019


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


def test_the_oldest_lists_give_way() -> None:
    listed = SitemapListings(5)
    for name, count in (("a", 2), ("b", 2), ("a", 3), ("c", 2)):
        listed.add(name, [f"{name}{n}" for n in range(count)])
    assert [len(listed.find(name)) for name in "abc"] == [3, 0, 2]
    listed.add("d", ["x"] * 6)
    assert [len(listed.find(name)) for name in "abcd"] == [0, 0, 0, 0]
