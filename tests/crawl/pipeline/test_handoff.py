"""What was brought is safe with its owners before its outcome is recorded."""

import asyncio

from tests.crawl.world import SLOT, Crawl, Web, linked, seed


async def test_nothing_is_recorded_before_it_is_safe(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked("/1", "/2"), "/1": linked(), "/2": linked()})
    crawl.owner.deaf = 5  # owners that do not acknowledge cost time, never a second fetch
    await crawl.run(seed(site.url("a.test")))
    top = site.url("a.test")
    order = [what for what, url in crawl.owner.story if url == top or url == site.url("a.test", "/1")]
    assert order == ["keep", "discover", "record", "keep", "record"]
    assert sorted(site.paths("a.test")) == ["/", "/1", "/2", "/robots.txt"]


async def test_a_lost_slot_whose_owners_are_deaf_is_left_to_others(site: Web, crawl: Crawl) -> None:
    site.add("a.test", {"/": linked()})
    crawl.owner.deaf = 10_000
    crawl.crawler.hold(SLOT, 1, [seed(site.url("a.test"))])
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(crawl.crawler.run())
        await crawl.until(lambda: crawl.owner.deaf < 10_000)
        assert crawl.crawler.status().open == 1
        crawl.crawler.release(SLOT)
        await crawl.until(lambda: crawl.crawler.status().open == 0)
        running.cancel()
    assert not crawl.owner.story
