"""A crawler fetches from real servers what it may, and leaves the rest alone, with its reasons."""

import asyncio
from collections import Counter
from datetime import UTC, datetime
from email.utils import formatdate
from itertools import pairwise

import pytest
from msgspec.structs import replace

from crawl import (
    AliasEvidence,
    CrawlConfig,
    InlineParsers,
    MirrorAlias,
    Visit,
    VisitState,
    open_fetcher,
)
from crawl.frontier.mirror_detector import PROOF
from crawl.pipeline.fetch_stage import LOOK_UPS, DnsPrefetch
from crawl.schedule.lastmod import TEST_EACH
from crawl.schedule.url_state import History
from dht import Now, Slot, system_clock
from tests.crawl.world import SLOT, Crawl, Web, answer, linked, new_frontier, seed, state


async def test_a_host_that_redirects_everything_is_left_alone(site: Web, crawl: Crawl) -> None:
    old, new = (lambda path: site.url("a.test", path)), (lambda path: site.url("b.test", path))
    crawl.control.hear_aliases(
        f"a.test:{site.port}", [MirrorAlias(old("/"), new("/"), system_clock().wall - 60.0, AliasEvidence.REDIRECTS)]
    )
    pages = [f"/{n}" for n in range(12 + PROOF)]  # the first ones prove it
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
    crawl.access.denied = ("/rule",)
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
    crawl.access.denied = ("b.test",)
    await crawl.run(seed(site.url("a.test")))
    assert site.paths("b.test") == []
    assert site.paths("a.test") == ["/robots.txt", "/"]


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


async def test_a_site_without_reachable_robots_is_left_alone(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/robots.txt": answer(503), "/": linked()})
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: len(site.log) >= 2 and site.url("a.test") in crawl.owner.visits)
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
            assert 290 < crawl.crawler.inspect(url).position.site_rest_s <= 300
        assert crawl.crawler.status().reason.startswith("2 URLs due, waiting for the delay of their sites")
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
        crawl = Crawl(config, fetcher, InlineParsers())
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


async def test_private_addresses_are_refused_and_counted(crawl: Crawl) -> None:
    await crawl.run(seed("http://meta.test/"), seed("http://169.254.169.254/"), seed("http://0.0.0.0/"))
    assert {visit.state for visit in crawl.owner.visits.values()} == {VisitState.REFUSED}
    assert crawl.crawler.status().refused == {"address": 3}


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


async def test_a_port_that_browsers_refuse_is_never_asked(site: Web, crawl: Crawl) -> None:
    """A listener stands where a link, redirects of a page and of robots.txt, a canonical address and sitemaps lead."""
    asked: list[str] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append("connection")
        writer.close()

    try:
        service = await asyncio.start_server(note, "127.0.0.1", 6669)
    except OSError:
        pytest.skip("port 6669 is taken")
    bad = "http://b.test:6669"
    robots = f"Sitemap: {bad}/sitemap.xml\nSitemap: {site.url('a.test', '/sitemap.xml')}\n"
    listed = f"<urlset><url><loc>{bad}/listed</loc></url></urlset>"
    site.add("a.test", {"/robots.txt": answer(200, robots, "text/plain")})
    site.add("a.test", {"/sitemap.xml": answer(200, listed, "application/xml")})
    head = f'<link rel="canonical" href="{bad}/canonical">'
    site.add("a.test", {"/": linked(f"{bad}/linked", "/away", head=head), "/away": answer(302, Location=f"{bad}/x")})
    site.add("c.test", {"/robots.txt": answer(301, Location=f"{bad}/robots.txt"), "/": linked()})
    async with service:
        await crawl.run(seed(site.url("a.test")), seed(site.url("c.test")))
    assert not asked and not [url for url in crawl.owner.pages if ":6669" in url]
    assert crawl.crawler.status().refused


NOW = Now(1e6, 0.0)


async def test_each_new_host_is_looked_up_once_a_few_at_a_time() -> None:
    frontier, sites = new_frontier(most=1)
    asked: list[str] = []
    open_now, most_open, is_done = 0, 0, asyncio.Event()

    async def locate(url: str) -> str:
        nonlocal open_now, most_open
        open_now += 1
        most_open = max(most_open, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        asked.append(url)
        if len(asked) == 12:
            is_done.set()
        return "" if "h3." in url else "192.0.2.1"

    frontier.hold(Slot(0), 1, [Visit(f"http://h{n % 12}.test/{n}", 1) for n in range(36)], NOW)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(DnsPrefetch(sites, locate).run())
        await is_done.wait()
        await asyncio.sleep(0)
        running.cancel()
    assert sorted(asked) == sorted(f"http://h{n}.test/" for n in range(12))
    assert most_open == LOOK_UPS
    turns = [turn for _ in range(12) if (turn := frontier.pop(NOW))]
    assert [(turn.site, turn.address) for turn in turns] == [("h0.test", "192.0.2.1"), ("h3.test", "")]
