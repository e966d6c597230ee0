"""What the crawler brought, handed to its owners until they have it.

A stage that the owners do not acknowledge is tried again, slower each time, and the page is not fetched anew. It ends
when the slot is lost: then the URL is left to its new holder.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from random import Random

from crawl.config import CrawlConfig
from crawl.content.page import Page
from crawl.errors import SlotLost
from crawl.frontier.admission import Trail, admit_urls
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.frontier.url_seen_async import AsyncUrlSeenTest
from crawl.pipeline.crawl_status import CrawlCounters
from crawl.pipeline.sink import Sink
from crawl.policy import Decide
from crawl.schedule.url_state import Visit, rank, rank_of
from dht import Clock, RemoteError

log = logging.getLogger(__name__)

BATCH = 500  # found URLs in one hand-over
MAX_WAIT_S = 30.0


class Handoff:
    """The three stages of a turn's end; each raises SlotLost."""

    def __init__(
        self,
        config: CrawlConfig,
        keeper: Sink,
        frontier: Frontier,
        decide: Decide,
        tally: CrawlCounters,
        clock: Clock,
        rng: Random,
        seen: AsyncUrlSeenTest,
    ) -> None:
        self._config, self._keeper, self._frontier, self._decide = config, keeper, frontier, decide
        self._tally, self._clock, self._rng = tally, clock, rng
        self._seen = seen

    async def keep(self, turn: FetchTask, page: Page, urls: Iterable[str] = (), trail: Trail | None = None) -> None:
        """Make a page safe, and with it those of its links that may be taken and are news."""
        news = await self._news(urls, trail) if trail is not None else []
        first, rest = news[:BATCH], news[BATCH:]
        await self._insist(turn, lambda: self._keeper.keep(page, self._epoch(turn), first))
        if trail is not None and first:
            await self._remember(first, trail)
            await self._send(turn, rest, trail)

    async def discover(self, turn: FetchTask, urls: Iterable[str], trail: Trail) -> None:
        """Make those of the found URLs safe that may be taken and are news."""
        await self._send(turn, await self._news(urls, trail), trail)

    async def _send(self, turn: FetchTask, news: Sequence[Visit], trail: Trail) -> None:
        for start in range(0, len(news), BATCH):
            batch = news[start : start + BATCH]
            await self._insist(turn, lambda batch=batch: self._keeper.discover(batch))  # type: ignore[misc]
            await self._remember(batch, trail)

    async def _news(self, urls: Iterable[str], trail: Trail) -> list[Visit]:
        """What of the found URLs the owners were not told yet; most links repeat, and those are not judged again."""
        asked = list(dict.fromkeys(urls))
        if asked and not trail.is_sitemap:  # there are few sitemaps
            most = rank_of(trail.depth, trail.scope)  # rules may allow less
            asked = await self._unseen(asked, [most] * len(asked))
        found, refusals = admit_urls(asked, trail, self._decide, self._clock().wall)
        for reason in refusals:
            self._tally.count_refusal(reason)
        if trail.is_sitemap or all(visit.depth == trail.depth for visit in found):
            return found
        unseen = set(await self._unseen([visit.url for visit in found], [rank(visit) for visit in found]))
        return [visit for visit in found if visit.url in unseen]

    async def _unseen(self, urls: Sequence[str], ranks: Sequence[int]) -> list[str]:
        are_new = await self._seen.are_new(list(zip(urls, ranks, strict=True)))
        return [url for url, is_news in zip(urls, are_new, strict=True) if is_news]

    async def _remember(self, sent: Sequence[Visit], trail: Trail) -> None:
        if not trail.is_sitemap:
            await self._seen.add([(visit.url, rank(visit)) for visit in sent])

    async def record(self, turn: FetchTask, visit: Visit) -> None:
        """Make an outcome safe: the last stage, when nothing can be lost any more."""
        await self._insist(turn, lambda: self._keeper.record(visit, self._epoch(turn)))

    def _epoch(self, turn: FetchTask) -> int:
        """The lease of this moment; a slot that was released since keeps the epoch that the turn began under."""
        epoch = self._frontier.epoch(turn.slot)
        return turn.epoch if epoch is None else epoch

    async def _insist(self, turn: FetchTask, stage: Callable[[], Awaitable[None]]) -> None:
        wait_s = self._config.keeper_retry_s
        while True:
            try:
                return await stage()
            except RemoteError as error:
                log.debug("owners did not acknowledge url=%s: %s", turn.visit.url, error)
            if self._frontier.epoch(turn.slot) is None:
                raise SlotLost(turn.slot)
            await asyncio.sleep(wait_s * self._rng.uniform(0.75, 1.25))
            wait_s = min(2 * wait_s, MAX_WAIT_S)
