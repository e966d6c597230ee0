"""The crawler is a pipeline of three stages, fetch → process → hand off, for as many URLs at once as the bounds allow.

The frontier says which URL comes next, as a `FetchTask`. `FetchStage` makes its request and returns a `FetchResult`;
`ProcessStage` reads that into a `Delivery`; `Handoff` makes the delivery safe with the owners of its URLs. The crawler
holds no state that its slots' replicas do not have: who holds a slot next goes on from there.
"""

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Iterable, Mapping
from random import Random

from crawl.config import CrawlConfig
from crawl.content.page import Parsers
from crawl.errors import SlotLost
from crawl.fetch.address_filter import refuse_literal
from crawl.frontier.fetch_task import FetchTask, UrlStatus
from crawl.frontier.frontier import Frontier
from crawl.frontier.lent_turns import LentTurns
from crawl.frontier.site_queues import SiteQueues
from crawl.frontier.url_seen import AsyncUrlSeenTest, UrlSeenTest
from crawl.pipeline.crawl_control import CrawlControl
from crawl.pipeline.crawl_status import SOON_S, CrawlCounters, CrawlSnapshot, CrawlStatus
from crawl.pipeline.fetch_outcome import failed
from crawl.pipeline.fetch_stage import DnsPrefetch, FetchStage
from crawl.pipeline.handoff import Handoff
from crawl.pipeline.ports import Sink, SiteAccess
from crawl.pipeline.process_stage import ProcessStage
from crawl.pipeline.site_knowledge import SiteKnowledge, SitemapQueue
from crawl.pipeline.site_list import SiteGroup, SitePage, SiteWish, site_page
from crawl.pipeline.site_survey import SiteOrder, SiteSurvey, site_survey
from crawl.pipeline.sitemap_reader import SitemapReader
from crawl.pipeline.worker_pool import FlightLimit, WorkerPool
from crawl.politeness.address_limits import AddressLimits
from crawl.politeness.robots_cache import RobotsCache
from crawl.politeness.site_delays import SiteDelays
from crawl.schedule.lastmod import Lastmods
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit
from dht import STRICT, Clock, LocalError, Now, Slot, Supervisor, leaves_of, split_url

log = logging.getLogger(__name__)


class Crawler:
    """Crawls the due URLs of the slots that it is told to hold."""

    def __init__(
        self,
        config: CrawlConfig,
        access: SiteAccess,
        parsers: Parsers,
        sink: Sink,
        seen: UrlSeenTest,
        control: CrawlControl,
        clock: Clock,
        rng: Random,
    ) -> None:
        """Make the stages and what they share. `seen` remembers what the sink was told; the crawler closes it."""
        self._config, self._control, self._clock = config, control, clock
        self._access, self._seen = access, AsyncUrlSeenTest(seen)
        self._counters, revisits = CrawlCounters(), RevisitStatistics(config)
        delay_s = min(config.address_delay_s, config.min_delay_s)  # whoever asks one site faster may ask its address so
        addresses = AddressLimits(config.max_open_per_address, delay_s)
        self._queues = queues = SiteQueues(addresses)
        self._frontier = frontier = Frontier(config.max_frontier_urls, queues, revisits)
        self._sites = sites = SiteKnowledge(
            RobotsCache(config, access, clock),
            SiteDelays(config, Random(rng.random())),
            Lastmods(config.max_lastmods),
            control.mirrors,
            SitemapQueue(config.max_sitemaps, config.max_robots_hosts),
            control.traps,
        )
        self.lent_turns = LentTurns(queues, sites.delays)
        self._dns_prefetch = DnsPrefetch(queues, access.locate)
        self._fetch_stage = FetchStage(config, access, parsers, sink, sites, queues, frontier, clock)
        self._sitemap_reader = SitemapReader(config, sites, revisits, frontier, clock)
        self._process_stage = ProcessStage(config, access, parsers, sites, revisits, self._sitemap_reader, clock)
        self._handoff = Handoff(config, access, sink, frontier, self._seen, self._counters, clock, rng)
        self._workers, self._supervisor = WorkerPool(self._crawl), STRICT
        self._requesting = set[FetchTask]()  # those whose request is not over
        self._flight_limit = FlightLimit(config.max_open_fetches + config.max_pending_pages)
        self._wakes_at: float | None = None  # steady: when the loop looks for tasks though nothing wakes it

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Crawl until cancelled: `_crawl` each task that there is room for, and sleep until there may be more.
        `supervisor`: bears what one URL costs."""
        self._supervisor = supervisor
        try:
            async with asyncio.TaskGroup() as tasks:
                supervisor.start(tasks, "crawl-prefetch", self._dns_prefetch.run)
                while True:
                    self._control.changed.clear()
                    self._obey()
                    self._start_tasks(tasks)
                    await self._sleep()
        finally:
            self._workers.clear()
            for task in list(self._requesting):  # those that were cancelled before they began
                self._settle(task, None)

    async def _crawl(self, task: FetchTask) -> None:
        """Take one URL through the stages: fetch, process, hand off. Then its outcome is settled in the frontier."""
        outcome: Visit | None = None
        try:
            token = await self._access.acquire(task.visit)
            if token.wait_s or token.known is not None:
                outcome = token.known
                self._end_request(task, token.wait_s)
                return
            if self._frontier.epoch(task.slot) is None:  # released between the pop and now
                await self._access.release(task.visit.url, 0.0)
                self._end_request(task, 0.0)
                return
            result = await self._fetch_stage.fetch(task)
            await self._access.release(task.visit.url, result.delay_s)  # first, or it might return the next token
            self._end_request(task, result.delay_s, result.address)
            ended_at = self._clock().steady
            delivery = await self._process_stage.process(task, result)
            await self._handoff.deliver(task, delivery)
            now_s = self._clock().steady
            self._flight_limit.note(now_s, now_s - ended_at)
            if (outcome := delivery.outcome) is not None:
                self._sites.learn(task.visit, outcome, is_fetched=result.fetched is not None)
                self._counters.count_outcome(task.visit, outcome, now_s, is_declined=result.is_declined)
        except SlotLost as error:
            log.debug("crawl left to another holder url=%s: %s", task.visit.url, error)
        except Exception as error:  # one URL must not stop all others
            if any(isinstance(leaf, LocalError) for leaf in leaves_of(error)):
                raise
            self._supervisor.bear("crawl-url", error)
            outcome = failed(task.visit, "this node failed at it", self._clock().wall, self._config)
        finally:
            self._settle(task, outcome)

    def _settle(self, task: FetchTask, outcome: Visit | None) -> None:
        """End a task, and its request where an error ended that."""
        if task in self._requesting:
            self._end_request(task, 0.0)
        self._frontier.settle(task, outcome, self._clock())
        self._wake()

    def _end_request(self, task: FetchTask, delay_s: float, address: str = "") -> None:
        """Let the task's site rest, and another request begin."""
        self._queues.end_request(task, self._clock().steady, delay_s, address)
        self._requesting.discard(task)
        self._wake()

    def hold(self, slot: Slot, epoch: int, visits: Iterable[Visit]) -> None:
        """Crawl a slot, whose lease is ours, from the visits that its replica has."""
        self._frontier.hold(slot, epoch, map(self._sites.revived, visits), self._clock())
        self._control.changed.set()

    def release(self, slot: Slot) -> None:
        """Start nothing more in a slot, whose lease has gone; what is open ends and is recorded."""
        self._frontier.drop(slot)

    def observe(self, slot: Slot, visit: Visit) -> None:
        """Take in a visit that is new in the replica of a held slot: a found URL, or somebody's outcome."""
        self._frontier.observe(slot, self._sites.revived(visit), self._clock())
        self._wake()

    def recall(self, slot: Slot, visit: Visit) -> None:
        """Take in a visit that the replica of a slot had when it was gained, and learn of its site from it."""
        self.observe(slot, visit)
        self._sites.recall(visit, (slot, self._frontier.epoch(slot)))

    def take_refill(self) -> Slot | None:
        """Return a held slot of which URLs are due that memory had no room for; `refill` is given all its visits."""
        return self._frontier.take_refill(self._clock())

    def refill(self, slot: Slot, visit: Visit) -> None:
        """Take up a visit of a slot that `take_refill` returned, or of a URL of `take_wanted`."""
        self._frontier.refill(slot, self._sites.revived(visit), self._clock())
        self._wake()

    def take_wanted(self) -> list[str]:
        """Return URLs that are to be fetched at once and are not in memory, each once."""
        return self._frontier.left_out.take_wanted()

    def review(self, site: str, is_due: Callable[[Visit], bool]) -> None:
        """Make those URLs of a site due at once that wait and of which `is_due` says so."""
        for scheme in ("http", "https"):
            self._frontier.review(f"{scheme}://{site}/", None, is_due, self._clock())
        self._wake()

    def move_in_flight(self, slot_of: Callable[[str], Slot]) -> None:
        """Assign URLs in flight to the slots that `slot_of` names, after a slot resize; no slot is held just now."""
        self._frontier.move_in_flight(slot_of)

    def due(self) -> Mapping[Slot, int]:
        """Return the due work by held slot: URLs that politeness lets be fetched within ten minutes."""
        return self._queues.due_work()

    def is_busy(self, slot: Slot) -> bool:
        """Tell whether a URL of the slot is being fetched, read or handed to its owners, or a site's turn is out."""
        self.lent_turns.expire(self._clock().steady)
        return self._frontier.in_flight_of(slot) > 0 or self.lent_turns.has(slot)

    @property
    def is_long_paused(self) -> bool:
        """Tell whether it has been paused for so long that others should crawl its slots meanwhile."""
        return self._control.is_long_paused

    @property
    def fetched(self) -> int:
        """How many URLs were fetched since the start."""
        return self._counters.fetched

    def status(self) -> CrawlStatus:
        """Return what it does, and why; cheap enough to be asked every second."""
        frontier, counters, now = self._frontier, self._counters, self._clock()
        paused, pending = self._control.pause_reason, frontier.in_flight - len(self._requesting)
        most = min(self._config.max_pending_pages, self._flight_limit.urls)
        snapshot = CrawlSnapshot(frontier, self._sites.delays, most, paused, self._access.late(), pending)
        state, reason = snapshot.explain(now)
        return CrawlStatus(
            state=state,
            reason=reason,
            slots=len(frontier.slots),
            waiting=frontier.due_count(now, SOON_S),
            due=frontier.due_count(now),
            open=frontier.in_flight,
            fetched=counters.fetched,
            failed=counters.failed,
            refused=dict(counters.refused),
            per_s=counters.per_s(now.steady),
            incomplete=len(frontier.left_out),
            broken=len(list(self._sites.delays.broken_sites())),
            recorded=counters.recorded,
            scripted=counters.scripted,
            is_resting=snapshot.is_resting(now),
        )

    def inspect(self, url: str) -> UrlStatus:
        """Return what is known here of a canonical URL, and what stands before its fetch."""
        position = self._frontier.position(url, self._clock())
        status = self._sites.inspect(url, position, self._control.pause_reason)
        literal = refuse_literal(split_url(url).host, allow_private=self._config.allow_private)
        return dataclasses.replace(status, trap=status.trap or literal)

    def hold_hosts(self, hosts: frozenset[str]) -> None:
        """Begin no request to these hosts from now on, and to all others as ever; their URLs stay as they are."""
        self._queues.hold_hosts(hosts)
        self._control.changed.set()

    def sites(self, beginning: str, group: SiteGroup, after: str, most: int) -> SitePage:
        """List sites whose URLs wait here: those of a group that begin so, after the last one of another page."""
        wish = SiteWish(beginning, group, after, most)
        return site_page(self._frontier, self._queues, self._sites, wish, self._control.pause_reason, self._clock())

    def survey(self, beginning: str, order: SiteOrder, start: int, most: int) -> SiteSurvey:
        """List sites of the slots held here with what is known of each: those that begin so, in an order."""
        frontier = self._frontier
        return site_survey(frontier.known_visits, frontier.statistics.rate, beginning, order, start, most)

    def listed(self, url: str) -> tuple[str, ...]:
        """Return what a sitemap that was handed in, and read here lately, has listed."""
        return self._sitemap_reader.listings.find(url)

    def close(self) -> None:
        """Give up the memory of URLs handed over, for good, and end threads; to be called after `run`."""
        self._sitemap_reader.close()
        self._seen.close()

    def _obey(self) -> None:
        """Make due what others want to have fetched, and the URLs of hosts that are no aliases any more."""
        now, urls = self._clock(), self._control.take_refetches()
        if ended := self._control.take_ended_aliases():
            urls += self._frontier.aliased_urls(ended)
        for url in urls:
            self._frontier.refetch(url, now)

    def _start_tasks(self, tasks: asyncio.TaskGroup) -> None:
        self.lent_turns.expire(self._clock().steady)
        while self._has_room() and not self._access.late() and (task := self._frontier.pop(self._clock())):
            self._requesting.add(task)
            self._workers.start(tasks, task)

    def _has_room(self) -> bool:
        """Tell whether one more request may be open, and one more page wait for its owners."""
        return (
            not self._control.pause_reason
            and len(self._requesting) < self._config.max_open_fetches + self._control.lent
            and self._frontier.in_flight - len(self._requesting) < self._config.max_pending_pages
            and self._frontier.in_flight < self._flight_limit.urls + self._control.lent
        )

    def _wake(self) -> None:
        """Wake the loop where it waits for room, or where a task may be due before it looks by itself."""
        if self._wakes_at is not None and not self._control.changed.is_set():
            now = self._clock()
            wait_s = self._next_due(now)
            if wait_s is None or now.steady + wait_s >= self._wakes_at:
                return
        self._control.changed.set()

    def _next_due(self, now: Now) -> float | None:
        """Return the seconds until a task may be due, be it because a lent turn has ended; None where none will be."""
        waits = [self._frontier.next_due(now)]
        if (expiry := self.lent_turns.next_expiry()) is not None:
            waits.append(max(0.0, expiry - now.steady))
        return min((wait_s for wait_s in waits if wait_s is not None), default=None)

    async def _sleep(self) -> None:
        """Return when a task may be due, or when something changes."""
        now = self._clock()
        wait_s = self._next_due(now) if self._has_room() else None
        if wait_s is not None:
            wait_s = max(wait_s, self._access.late())
        self._wakes_at = now.steady + wait_s if wait_s is not None else None
        loop = asyncio.get_running_loop()
        timer = loop.call_later(wait_s, self._control.changed.set) if wait_s is not None else None
        try:
            await self._control.changed.wait()
        finally:
            if timer is not None:
                timer.cancel()
