"""A fetch task describes one URL without a request."""

import asyncio

from aiohttp import web

from crawl import QueuePosition, RobotsAccess, UrlStage, Visit
from dht import Now, Slot
from tests.crawl.world import SLOT, Crawl, Web, new_frontier, seed


def test_a_urls_place_in_the_frontier() -> None:
    (frontier, sites), now = new_frontier(), Now(1e6, 10.0)
    url = "http://a.test/{}".format
    visits = [Visit(url(n), 1) for n in range(3)] + [Visit(url("deep"), 2), Visit(url("late"), 1, due_at=2e6)]
    frontier.hold(Slot(0), 1, visits, now)
    assert frontier.position(url("nowhere"), now) == QueuePosition()
    assert frontier.position(url("late"), now).stage == UrlStage.LATER
    assert [frontier.position(url(name), now).ahead for name in ("deep", 0, 1, 2)] == [0, 1, 2, 3]
    turn = frontier.pop(now)
    assert turn is not None
    assert frontier.position(url("deep"), now) == QueuePosition(UrlStage.OPEN, 0, 0.0, True)
    sites.end_request(turn, now.steady, 5.0)
    assert frontier.position(url(1), Now(1e6, 12.0)) == QueuePosition(UrlStage.READY, 1, 3.0, False)


async def test_what_robots_said_and_why_nothing_is_fetched(site: Web, crawl: Crawl) -> None:
    async def overloaded(request: web.Request) -> web.Response:
        return web.Response(status=503)

    site.add("a.test", {"/robots.txt": "User-agent: *\nDisallow: /no\nCrawl-delay: 7\n", "/": "x"})
    site.add("b.test", {"/robots.txt": overloaded})
    assert crawl.crawler.inspect(site.url("a.test")).robots == RobotsAccess.UNKNOWN
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test")), seed(site.url("b.test"))])
    crawl.control.pause("paused by its operator")
    waits = crawl.crawler.inspect(site.url("a.test"))
    assert (waits.position.stage, waits.pause_reason) == (UrlStage.READY, "paused by its operator")
    crawl.control.pause("")
    await crawl.run(seed(site.url("b.test")), within_s=5.0)
    assert crawl.crawler.inspect(site.url("b.test")).robots == RobotsAccess.BARRED
    assert "503" in crawl.crawler.inspect(site.url("b.test")).robots_why
    await _robots_of_a(crawl, site)
    look = crawl.crawler.inspect(site.url("a.test", "/no"))
    assert (look.robots, look.crawl_delay_s) == (RobotsAccess.DISALLOWED, 7.0)
    look = crawl.crawler.inspect(site.url("a.test", "/yes"))
    assert (look.robots, look.pause_reason) == (RobotsAccess.ALLOWED, "")
    assert 6.0 < look.position.site_rest_s <= 7.0


async def _robots_of_a(crawl: Crawl, site: Web) -> None:
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: crawl.crawler.inspect(site.url("a.test")).robots != RobotsAccess.UNKNOWN)
        running.cancel()
