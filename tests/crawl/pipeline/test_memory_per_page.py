"""A crawler's memory does not grow with the pages that it has crawled, once its bounds are reached.

Each bound is made small here; what Python allocated in the crawler's own files is counted after 250 and after 750
pages. A table that remembers each page, URL or link for ever shows as a block a page or more, by the name of its file.
"""

import asyncio
import gc
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random

import pytest
from msgspec.structs import replace

from crawl import (
    CrawlConfig,
    CrawlControl,
    Crawler,
    InlineParsers,
    MirrorDetector,
    Page,
    UrlSeenTest,
    Visit,
    decode_visit,
)
from crawl.fetch.fetcher import HttpFetcher
from crawl.frontier import frontier, left_out, trap_learning, url_seen
from crawl.schedule.url_state import encode_visit
from dht import system_clock
from node.process.memory_upkeep import forget_large_memos
from tests.crawl.world import SLOT, Access, Owner, Web, linked

HOSTS, PAGES, EARLY, LATE = "abcd", 190, 250, 750
MOST_BLOCKS = 0.5  # a page, of one file; the frontier alone kept 17
IN_MEMORY = 40
BOUNDS = [
    *((trap_learning, "_MAX_PIECES"), (url_seen, "REMEMBERED")),
    *((frontier, "_STALE_LEAST"), (left_out, "MOST_REPEATS")),
]


class Replica(Owner):
    """Keeps visits as bytes of its own, as a disk does, and gives a slot's back when the crawler asks for them."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[bytes, bytes] = {}

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = (), outcome: Visit | None = None) -> bool:
        self._discover(found)
        if outcome is not None:
            self._record(outcome)
        return outcome is not None

    def _discover(self, found: Sequence[Visit]) -> None:
        for visit in found:
            if visit.url.encode() not in self.kept:
                self._write(visit)

    def _record(self, visit: Visit) -> None:
        self._write(visit)

    def _write(self, visit: Visit) -> None:
        self.kept[visit.url.encode()] = bytes(bytearray(encode_visit(visit)))
        assert self.crawler is not None
        self.crawler.observe(SLOT, visit)

    async def refill(self) -> None:
        """Read the slot again whenever the crawler wants it."""
        assert self.crawler is not None
        while True:
            if (slot := self.crawler.take_refill()) is not None:
                for body in list(self.kept.values()):
                    self.crawler.refill(slot, decode_visit(body))
            await asyncio.sleep(0.05)


def blocks() -> Counter[str]:
    """Count what is allocated now, by the crawler's file that did it."""
    forget_large_memos()
    gc.collect()
    found = Counter[str]()
    for each in tracemalloc.take_snapshot().statistics("filename"):
        _, room, file = each.traceback[0].filename.rpartition("/crawl/")
        if room and "tests" not in each.traceback[0].filename:
            found[file] += each.count
    return found


@pytest.mark.prove
async def test_what_a_crawler_remembers_does_not_grow_with_its_pages(
    site: Web, config: CrawlConfig, fetcher: HttpFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, bound in BOUNDS:
        monkeypatch.setattr(module, bound, IN_MEMORY)
    config = replace(config, max_frontier_urls=IN_MEMORY, min_delay_s=0.0)
    rng = Random(1)
    words = ["".join(rng.choices("abcdefghijklmnop", k=6)) for _ in range(2_000)]
    for host in HOSTS:
        at = [f"/{n}.html" for n in range(PAGES)]
        texts = [linked(*at[2 * n + 1 : 2 * n + 3], body=" ".join(rng.choices(words, k=40))) for n in range(PAGES)]
        site.add(f"{host}.test", dict(zip(at, texts, strict=True)) | {"/robots.txt": ""})
    async with AsyncExitStack() as stack:
        parsers, replica = InlineParsers(), Replica()
        stack.callback(parsers.close)
        control = CrawlControl(MirrorDetector(), system_clock)
        seen = UrlSeenTest(None, b"a key", gathered=32)
        crawler = Crawler(config, Access(fetcher), parsers, replica, seen, control, system_clock, Random(1))
        replica.crawler = crawler
        crawler.hold(SLOT, 1, [])
        for host in HOSTS:
            replica._write(Visit(site.url(f"{host}.test", "/0.html"), 200))
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        async with asyncio.timeout(100.0), asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(crawler.run()), tasks.create_task(replica.refill())]
            counted = list[Counter[str]]()
            for pages in (EARLY, LATE):
                while crawler.fetched < pages:  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                fetcher.meter.step(1.0)  # as the owner's plots do every ten seconds
                counted.append(blocks())
            while len(replica.kept) < len(HOSTS) * PAGES:  # noqa: ASYNC110 (what had no room in memory is crawled, too)
                await asyncio.sleep(0.01)
            for task in running:
                task.cancel()
    grown = {file: (counted[1][file] - counted[0][file]) / (LATE - EARLY) for file in counted[1]}
    assert {file: per_page for file, per_page in grown.items() if per_page > MOST_BLOCKS} == {}
    assert len(replica.kept) == len(HOSTS) * PAGES
