"""The crawler: turns taken from the frontier, as many at once as the bounds allow.

The frontier decides what comes next, a turn's two halves (request.py, story.py) do it; this loop only starts turns and
sleeps. It holds no state that its slots' replicas do not have: who holds a slot next goes on from there.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from msgspec.structs import replace

from crawl.config import CrawlConfig
from crawl.content.fingerprint import steady_text
from crawl.errors import SlotLost
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.frontier.trap_learning import TrapLearning
from crawl.frontier.url_seen import UrlSeenTest
from crawl.frontier.url_seen_async import AsyncUrlSeenTest
from crawl.frontier.url_status import UrlStatus
from crawl.pipeline.crawl_control import CrawlControl
from crawl.pipeline.crawl_status import SOON_S, CrawlCounters, CrawlSnapshot, CrawlStatus
from crawl.pipeline.crawler_ports import CrawlerPorts
from crawl.pipeline.dns_prefetch import DnsPrefetch
from crawl.pipeline.fetch_stage import FetchStage
from crawl.pipeline.handoff import Handoff
from crawl.pipeline.process_stage import ProcessStage
from crawl.pipeline.sitemap_state import SiteFeeds, SitemapListings
from crawl.politeness.address_limits import AddressLimits
from crawl.schedule.lastmod import Lastmods
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit
from dht import Clock, Slot, site_of

log = logging.getLogger(__name__)


class Crawler:
    """Fetches the due URLs of the slots that it is told to hold."""

    def __init__(
        self,
        config: CrawlConfig,
        ports: CrawlerPorts,
        control: CrawlControl,
        clock: Clock,
        rng: Random,
        seen_folder: Path | None = None,
    ) -> None:
        """`seen_folder`: emptied, for the memory of URLs handed over; None keeps it in memory."""
        self._config, self._control, self._clock = config, control, clock
        self._site_tokens = ports.site_tokens
        self._tally = CrawlCounters()
        census, lastmods, stats = RevisitStatistics(config), Lastmods(config.max_lastmods), TrapLearning()
        self._stats = stats
        delay_s = min(config.address_delay_s, config.min_delay_s)  # whoever asks one host faster may ask its address so
        addresses = AddressLimits(config.max_open_per_address, delay_s)
        self._sites = SiteQueues(addresses)
        self._frontier = Frontier(config.max_frontier_urls, self._sites, census)
        self._prefetch = DnsPrefetch(self._sites, ports.locate)
        self._seen = AsyncUrlSeenTest(UrlSeenTest(seen_folder, rng.randbytes(16)))
        handover = Handoff(config, ports.sink, self._frontier, ports.decide, self._tally, clock, rng, self._seen)
        self._requests = FetchStage(
            config,
            ports.fetcher,
            ports.decide,
            census,
            lastmods,
            stats,
            control.mirrors,
            ports.twins,
            self._sites,
            clock,
            Random(rng.random()),
            ports.locate,
        )
        self._listed = SitemapListings()
        self._thread = ThreadPoolExecutor(1, "crawl-sitemap")
        sitemaps = self._requests.sitemaps
        self._stories = ProcessStage(
            config=config,
            parsers=ports.parsers,
            decide=ports.decide,
            handover=handover,
            sitemaps=sitemaps,
            tally=self._tally,
            census=census,
            lastmods=lastmods,
            stats=stats,
            aliases=control.mirrors,
            frontier=self._frontier,
            listed=self._listed,
            feeds=SiteFeeds(),
            clock=clock,
            sitemap_thread=self._thread,
        )
        self._idle: list[asyncio.Future[FetchTask]] = []  # of workers without a turn, for the next one
        self._asking = 0  # turns whose request is not over
        self._late = ports.late
        self._looks_at: float | None = None  # steady: when the loop looks for turns though nothing wakes it

    def close(self) -> None:
        """Give up the memory of URLs handed over; after `run`, and for good."""
        self._seen.close()

    def hold(self, slot: Slot, epoch: int, visits: Iterable[Visit]) -> None:
        """The lease of a slot is ours: crawl it from what its replica knows."""
        self._frontier.hold(slot, epoch, map(self._revived, visits), self._clock())
        self._control.changed.set()

    def release(self, slot: Slot) -> None:
        """The lease has gone: start nothing there from now on; what is open ends and is recorded."""
        self._frontier.drop(slot)

    def observe(self, slot: Slot, visit: Visit) -> None:
        """The replica of a held slot has a new visit: a found URL, or somebody's outcome."""
        self._frontier.observe(slot, self._revived(visit), self._clock())
        self._stir()

    def recall(self, slot: Slot, visit: Visit) -> None:
        """The replica of a slot that was just gained has this visit."""
        self.observe(slot, visit)
        self._control.mirrors.learn(visit)
        if visit.history.fingerprint and visit.history.seen_at:
            rebuild = slot, self._frontier.epoch(slot)
            self._stats.recall(site_of(visit.url), steady_text(visit.history.fingerprint), rebuild)

    def renumber(self, slot_of: Callable[[str], Slot]) -> None:
        """Slots are numbered anew and none is held just now: URLs in flight belong to the slots that this names."""
        self._frontier.move_in_flight(slot_of)

    async def run(self) -> None:
        """Crawl until cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._prefetch.run(), name="crawl-prefetch")
                while True:
                    self._control.changed.clear()
                    self._obey()
                    self._start(tasks)
                    await self._rest()
        finally:
            self._idle.clear()
            self._thread.shutdown(wait=False, cancel_futures=True)

    def status(self) -> CrawlStatus:
        """What it does, and why; cheap enough to be asked every second."""
        frontier, tally, now = self._frontier, self._tally, self._clock()
        state, reason = self._situation().told(now)
        return CrawlStatus(
            state=state,
            reason=reason,
            slots=len(frontier.slots),
            waiting=frontier.due_count(now, SOON_S) + len(frontier.incomplete),
            due=frontier.due_count(now),
            open=frontier.in_flight,
            fetched=tally.fetched,
            failed=tally.failed,
            refused=dict(tally.refused),
            per_s=tally.per_s(now.steady),
            incomplete=len(frontier.incomplete),
            broken=len(list(self._requests.politeness.broken())),
        )

    def inspect(self, url: str) -> UrlStatus:
        """What is known here of a canonical URL, and what stands before its fetch."""
        queued = self._frontier.position(url, self._clock())
        return self._requests.look(site_of(url), url, queued, self._control.pause_reason)

    def listed(self, url: str) -> tuple[str, ...]:
        """What a sitemap that was handed in, and read here lately, has listed."""
        return self._listed.find(url)

    def due(self) -> Mapping[Slot, int]:
        """Due work by held slot: URLs that politeness lets be fetched within ten minutes."""
        return self._sites.due_work()

    def _situation(self) -> CrawlSnapshot:
        pending, politeness = self._frontier.in_flight - self._asking, self._requests.politeness
        return CrawlSnapshot(
            self._frontier, politeness, self._config, self._control.pause_reason, self._late(), pending
        )

    @property
    def is_long_paused(self) -> bool:
        """Tell whether it has been paused for so long that others should crawl its slots meanwhile."""
        return self._control.is_long_paused

    def is_busy(self, slot: Slot) -> bool:
        """Whether a URL of the slot is being fetched, read or handed to its owners."""
        return self._frontier.in_flight_of(slot) > 0

    def _revived(self, visit: Visit) -> Visit:
        """What was left to a twin is due once its site is no alias any more."""
        return replace(visit, due_at=0.0) if self._control.mirrors.is_over(visit) else visit

    def _obey(self) -> None:
        """Make due what others want to have fetched, and the URLs of hosts that are no aliases any more."""
        now, urls = self._clock(), self._control.take_refetches()
        if ended := self._control.take_ended_aliases():
            urls += self._frontier.aliased_urls(ended)
        for url in urls:
            self._frontier.refetch(url, now)

    def _start(self, tasks: asyncio.TaskGroup) -> None:
        while self._has_room() and not self._late() and (turn := self._frontier.pop(self._clock())):
            self._asking += 1
            if self._idle:
                self._idle.pop().set_result(turn)
            else:
                tasks.create_task(self._work(turn))

    def _has_room(self) -> bool:
        pending = self._frontier.in_flight - self._asking
        return (
            not self._control.pause_reason
            and self._asking < self._config.max_open_fetches + self._control.lent
            and pending < self._config.max_pending_pages
        )

    def _stir(self) -> None:
        """Wake the loop where it waits for room, or a turn may be due before it looks by itself."""
        if self._looks_at is not None and not self._control.changed.is_set():
            now = self._clock()
            wait_s = self._frontier.next_due(now)
            if wait_s is None or now.steady + wait_s >= self._looks_at:
                return
        self._control.changed.set()

    async def _rest(self) -> None:
        """Sleep until a turn may be due, or something changes."""
        now = self._clock()
        wait_s = self._frontier.next_due(now) if self._has_room() else None
        if wait_s is not None:
            wait_s = max(wait_s, self._late())
        self._looks_at = now.steady + wait_s if wait_s is not None else None
        loop = asyncio.get_running_loop()
        wake = loop.call_later(wait_s, self._control.changed.set) if wait_s is not None else None
        try:
            await self._control.changed.wait()
        finally:
            if wake is not None:
                wake.cancel()

    async def _work(self, turn: FetchTask) -> None:
        """One turn after the other: a task of its own costs a turn 20 µs."""
        while True:
            await self._use(turn)
            next_one: asyncio.Future[FetchTask] = asyncio.get_running_loop().create_future()
            self._idle.append(next_one)
            turn = await next_one

    async def _use(self, turn: FetchTask) -> None:
        """One turn from its request to its recorded outcome."""
        outcome: Visit | None = None
        try:
            answer = await self._site_tokens.acquire(turn.visit)
            if answer.wait_s or answer.known is not None:
                outcome = answer.known
                self._end_request(turn, answer.wait_s, "")
                return
            if self._frontier.epoch(turn.slot) is None:  # released between the pop and now
                await self._site_tokens.release(turn.visit.url, 0.0)
                self._end_request(turn, 0.0, "")
                return
            step = await self._requests.make(turn)
            await self._site_tokens.release(turn.visit.url, step.delay_s)  # first, or it might return the next token
            self._end_request(turn, step.delay_s, step.address)
            outcome = await self._stories.end(turn, step)
        except SlotLost as error:
            log.debug("crawl left to another holder url=%s: %s", turn.visit.url, error)
        finally:
            self._frontier.settle(turn, outcome, self._clock())
            self._stir()

    def _end_request(self, turn: FetchTask, delay_s: float, address: str) -> None:
        self._sites.end_request(turn, self._clock().steady, delay_s, address)
        self._asking -= 1
        self._stir()
