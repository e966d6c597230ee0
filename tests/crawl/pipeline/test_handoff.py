"""Fetched pages are safe with their owners before their outcome is recorded."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from crawl import VisitState
from tests.crawl.world import SLOT, Crawl, Web, linked, seed


async def test_nothing_is_recorded_before_it_is_safe(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked("/1", "/2"), "/1": linked(), "/2": linked()})
    crawl.owner.deaf = 5  # owners that do not acknowledge cost time, never a second fetch
    await crawl.run(seed(site.url("a.test")))
    top = site.url("a.test")
    order = [what for what, url in crawl.owner.story if url == top or url == site.url("a.test", "/1")]
    assert order == ["keep", "discover", "record", "keep", "record"]
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/robots.txt"]


async def test_a_page_is_offered_after_its_slot_is_lost_and_not_fetched_again(site: Web, crawl: Crawl) -> None:
    async with lost_slot(site, crawl):
        crawl.owner.deaf = 0
        await crawl.until(lambda: crawl.crawler.status().open == 0)
        crawl.crawler.hold(SLOT, 2, crawl.owner.visits.values())
        await asyncio.sleep(0.1)
    assert [what for what, _ in crawl.owner.story] == ["keep", "record"]
    assert site.paths("a.test").count("/") == 1


async def test_a_page_is_given_up_when_another_holder_has_fetched_it(site: Web, crawl: Crawl) -> None:
    async with lost_slot(site, crawl):
        known = replace(seed(site.url("a.test")), state=VisitState.FETCHED, visited_at=time.time() + 60.0)
        crawl.owner.elsewhere = {known.url: known}
        await crawl.until(lambda: crawl.crawler.status().open == 0)
    assert not crawl.owner.story


@asynccontextmanager
async def lost_slot(site: Web, crawl: Crawl) -> AsyncIterator[None]:
    """A page was fetched, its owners do not acknowledge it, and the lease of its slot has gone."""
    site.add("a.test", {"/": linked()})
    crawl.owner.deaf = 10_000
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: crawl.owner.deaf < 10_000)
        crawl.crawler.release(SLOT)
        yield
        running.cancel()
