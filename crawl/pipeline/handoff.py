"""The last stage hands what a task brought to the owners of its URLs, until they have it.

A delivery that the owners do not acknowledge is tried again, slower each time, and the page is not fetched anew. A
fetched page is offered even after the slot's lease is lost: a busy node loses leases and gets them back. The offers end
when the owners have the outcome of another holder, or after an hour, when no grant covers the page any more.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from crawl.config import CrawlConfig
from crawl.content.page import Page
from crawl.errors import SlotLost
from crawl.frontier.admission import Trail, admit_urls
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.frontier.url_seen import AsyncUrlSeenTest
from crawl.pipeline.crawl_status import CrawlCounters
from crawl.pipeline.ports import Sink, SiteAccess
from crawl.schedule.url_state import Visit, VisitState, rank, rank_of
from crawl.scope import EXCLUDES, is_within
from dht import Clock, RemoteError

log = logging.getLogger(__name__)
T = TypeVar("T")

BATCH = 500  # found URLs in one hand-over
MAX_WAIT_S = 30.0
OFFERED_S = 3_600.0  # after the fetch; a node keeps its grants for so long after their end


@dataclass(frozen=True, slots=True)
class FoundUrls:
    """Holds URLs that were found in one way; they repeat, and not all of them may be taken."""

    urls: Sequence[str]
    trail: Trail


@dataclass(slots=True)
class Delivery:
    """Holds what a task brought, in the order in which it is handed over; the outcome comes last, when nothing can be
    lost any more. Without an outcome the URL itself was not asked for."""

    outcome: Visit | None
    found: list[FoundUrls] = field(default_factory=list)
    page: Page | None = None
    links: FoundUrls | None = None  # handed over in one write with the page


@dataclass(frozen=True, slots=True)
class Handoff:
    """Delivers what tasks brought to the `Sink`, and tells it no URL twice."""

    config: CrawlConfig
    access: SiteAccess
    sink: Sink
    frontier: Frontier
    seen: AsyncUrlSeenTest
    counters: CrawlCounters
    clock: Clock
    rng: Random
    _judging: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def deliver(self, task: FetchTask, delivery: Delivery) -> None:
        """Make all that a task brought safe with its owners; raises SlotLost."""
        task.outcome = delivery.outcome
        for found in delivery.found:
            await self._discover(task, await self._news(found), found.trail)
        if delivery.links is not None and task.visit.state == VisitState.WAITING:
            self.frontier.add_links(task.visit.url, delivery.links.urls)
        is_told = False
        if delivery.page is not None:
            is_told = await self._keep(task, delivery.page, delivery.links, delivery.outcome)
        elif delivery.links is not None:
            await self._discover(task, await self._news(delivery.links), delivery.links.trail)
        if (outcome := delivery.outcome) is not None and not is_told:
            await self._insist(task, lambda: self.sink.record(outcome, self._epoch(task)))

    async def _keep(self, task: FetchTask, page: Page, links: FoundUrls | None, outcome: Visit | None) -> bool:
        """Make a page safe, and with it those of its links that may be taken and are news; return whether the outcome
        is safe, too. It waits for links that need a second write."""
        news = await self._news(links) if links is not None else []
        first, rest = news[:BATCH], news[BATCH:]
        last = None if rest else outcome
        is_told = await self._insist(task, lambda: self.sink.keep(page, self._epoch(task), first, last))
        if links is not None and first:
            await self._remember(first, links.trail)
            await self._discover(task, rest, links.trail)
        return is_told

    async def _discover(self, task: FetchTask, news: Sequence[Visit], trail: Trail) -> None:
        for start in range(0, len(news), BATCH):
            batch = news[start : start + BATCH]
            await self._insist(task, lambda batch=batch: self.sink.discover(batch))  # type: ignore[misc]
            await self._remember(batch, trail)

    async def _news(self, found_urls: FoundUrls) -> list[Visit]:
        """Return visits of the URLs that the owners were not told yet; most links repeat, and are not judged again."""
        urls, trail = list(dict.fromkeys(found_urls.urls)), found_urls.trail
        if urls and not trail.is_sitemap:  # there are few sitemaps
            most = rank_of(trail.depth, trail.scope)  # rules may allow less
            urls = await self._unseen(urls, [most] * len(urls))
        if EXCLUDES in trail.scope:  # a stranger's patterns may be slow: in a thread, which remembers its answers
            async with self._judging:
                await asyncio.to_thread(lambda: [is_within(trail.scope, url) for url in urls])
        found, refusals = admit_urls(urls, trail, self.access.decide)
        for reason in refusals:
            self.counters.count_refusal(reason)
        if trail.is_sitemap or all(visit.depth == trail.depth for visit in found):
            return found
        unseen = set(await self._unseen([visit.url for visit in found], [rank(visit) for visit in found]))
        return [visit for visit in found if visit.url in unseen]

    async def _unseen(self, urls: Sequence[str], ranks: Sequence[int]) -> list[str]:
        are_new = await self.seen.are_new(list(zip(urls, ranks, strict=True)))
        return [url for url, is_news in zip(urls, are_new, strict=True) if is_news]

    async def _remember(self, sent: Sequence[Visit], trail: Trail) -> None:
        if not trail.is_sitemap:
            await self.seen.add([(visit.url, rank(visit)) for visit in sent])

    def _epoch(self, task: FetchTask) -> int:
        """Return the epoch of the lease now; for a slot released since, the epoch that the task began under."""
        epoch = self.frontier.epoch(task.slot)
        return task.epoch if epoch is None else epoch

    async def _insist(self, task: FetchTask, stage: Callable[[], Awaitable[T]]) -> T:
        wait_s = self.config.keeper_retry_s
        while True:
            try:
                return await stage()
            except RemoteError as error:
                log.debug("owners did not acknowledge url=%s: %s", task.visit.url, error)
            if await self._is_left_to_others(task):
                raise SlotLost(task.slot)
            await asyncio.sleep(wait_s * self.rng.uniform(0.75, 1.25))
            wait_s = min(2 * wait_s, MAX_WAIT_S)

    async def _is_left_to_others(self, task: FetchTask) -> bool:
        """Tell whether this node gives up a delivery: nobody would take it any more, or another holder's counts."""
        outcome, epoch = task.outcome, self.frontier.epoch(task.slot)
        if outcome is None:
            return epoch is None
        if epoch != task.epoch and self.clock().wall > outcome.visited_at + OFFERED_S:
            return True
        url = task.visit.url
        known = task.newer if epoch is not None else (await self.sink.find([url])).get(url)
        return known is not None and known.visited_at > outcome.visited_at
