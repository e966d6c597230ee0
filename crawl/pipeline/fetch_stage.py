"""The first half of a URL's story: the one request that its turn allows, or the reason to make none.

A turn is one request to its host: the page itself, or robots.txt or a sitemap in its place, after which the URL waits
for the host's next turn. So every request counts for politeness, and a host never has two open.
"""

from dataclasses import replace
from random import Random

import msgspec

from crawl.canonical_url import find_url
from crawl.config import CrawlConfig
from crawl.errors import AddressRefused, BodyUnreadable, FamilyMissing, FetchDeclined, FetchFailed
from crawl.fetch.response import Fetched, Fetcher, Locate
from crawl.frontier.admission import refusal_reason
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.frontier.site_queues import SiteQueues
from crawl.frontier.trap_learning import TrapLearning
from crawl.frontier.url_status import QueuePosition, RobotsAccess, UrlStatus
from crawl.pipeline.fetch_outcome import (
    RETRIED,
    FetchOutcome,
    FollowUp,
    after_error,
    declined,
    failed,
    idle_parameters,
    judge,
    keep_again,
    refused,
    spared,
    validators,
)
from crawl.pipeline.mirror_twins import MirrorTwins, left_to_twin, may_stand_in
from crawl.pipeline.sitemap_state import SitemapQueue
from crawl.policy import CrawlDecision, Decide
from crawl.politeness.host_delays import DOWN, HostDelays
from crawl.politeness.robots import Robots
from crawl.politeness.robots_cache import RobotsAnswer, RobotsCache, RobotsUnreachable
from crawl.schedule.lastmod import TEST_EACH, Lastmods
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit, VisitState
from crawl.scope import WHOLE
from dht import Clock, site_of


class FetchResult(msgspec.Struct, frozen=True):
    """How a turn's request ended. Without a verdict the URL itself was not asked for, and waits again."""

    delay_s: float = 0.0  # rest of the host from now on; 0: it was not asked
    address: str = ""
    verdict: FetchOutcome | None = None
    fetched: Fetched | None = None
    is_declined: bool = False  # nobody who may made the request
    sitemap_depth: int = 0  # > 0: `fetched` is a sitemap of robots.txt, and this the depth for its URLs
    sitemap_scope: str = WHOLE


class FetchStage:
    """Makes them, politely."""

    def __init__(
        self,
        config: CrawlConfig,
        fetcher: Fetcher,
        decide: Decide,
        census: RevisitStatistics,
        lastmods: Lastmods,
        stats: TrapLearning,
        aliases: MirrorDetector,
        twins: MirrorTwins,
        sites: SiteQueues,
        clock: Clock,
        rng: Random,
        locate: Locate,
    ) -> None:
        self._locate, self._aliases, self._twins = locate, aliases, twins
        self._config, self._fetcher, self._decide, self._clock = config, fetcher, decide, clock
        self._census, self._lastmods, self._stats, self._sites = census, lastmods, stats, sites
        self._robots = RobotsCache(config, fetcher, clock)
        self.politeness = HostDelays(config, rng)
        self.sitemaps = SitemapQueue(config.max_sitemaps, config.max_robots_hosts)

    async def make(self, turn: FetchTask) -> FetchResult:
        """Use a turn. Never raises for what a site does."""
        visit, now = turn.visit, self._clock().wall
        decision = self._decide(visit.url)
        if reason := refusal_reason(visit.url, decision, now) or self._trap(turn):
            return self._without(refused(visit, reason, now, self._config))
        if decision.refused_here:
            return self._declined(visit, decision.refused_here)
        if (target := self._stats.without_idle(turn.site, visit.url)) != visit.url:
            return FetchResult(verdict=idle_parameters(visit, target, now, self._config))
        if (left := await self._left_to_twin(visit, now)) is not None:
            return left
        if down := self.politeness.given_up(turn.site, self._clock().steady):
            return self._without(failed(visit, f"host: {down}", now, self._config, self._config.max_retry_s))
        access = self._robots.find(visit.url)
        if not turn.address and not await self._place(turn):
            return FetchResult()
        if access is None:
            return await self._ask_robots(turn, decision)
        if isinstance(access, RobotsUnreachable):
            return self._without(self._barred(visit, access, now))
        if not access.allows(visit.url):
            return self._without(refused(visit, "robots", now, self._config))
        if planned := self.sitemaps.take(turn.site):
            return await self._ask_sitemap(turn, decision, *planned)
        if (spared := self._spared(turn, now)) is not None:
            return self._without(spared)
        return await self._ask_page(turn, decision)

    def look(self, site: str, url: str, queued: QueuePosition, hindrance: str) -> UrlStatus:
        """What stands before a URL's fetch, as far as it is known without a request."""
        access, alias = self._robots.find(url), self._aliases.find(url)
        trap = self._stats.refusal(site, url) or (alias.reason if alias else "")
        look = UrlStatus(queued, trap=trap, pause_reason=hindrance, breaker_reason=self.politeness.trouble(site))
        if access is None:
            return look
        if isinstance(access, RobotsUnreachable):
            return replace(look, robots=RobotsAccess.BARRED, robots_why=access.reason)
        says = RobotsAccess.ALLOWED if access.allows(url) else RobotsAccess.DISALLOWED
        return replace(look, robots=says, crawl_delay_s=access.crawl_delay_s)

    async def _place(self, turn: FetchTask) -> bool:
        """Whether there is room at the address of a host that was not asked yet."""
        address = await self._locate(turn.visit.url)
        return not address or self._sites.enter_address(turn, address, self._clock().steady)

    def _without(self, visit: Visit) -> FetchResult:
        """No request: the outcome is known already."""
        return FetchResult(verdict=FetchOutcome(FollowUp.NOTHING, visit))

    def _trap(self, turn: FetchTask) -> str:
        """Why a URL that was never read looks like more of the same; one that was read once is looked after."""
        return "" if turn.visit.history.seen_at else self._stats.refusal(turn.site, turn.visit.url)

    async def _left_to_twin(self, visit: Visit, now: float) -> FetchResult | None:
        """How a URL of an alias ends that is not fetched; its twin is handed to its owners."""
        alias = self._aliases.find(visit.url)
        if alias is None or visit.is_sitemap or not may_stand_in(visit, alias.twin(visit.url), self._decide, now):
            return None
        twin = alias.twin(visit.url)
        known = {} if alias.redirects else await self._twins.find([twin])
        outcome = left_to_twin(visit, alias, known.get(twin), now, self._config)
        return FetchResult(verdict=FetchOutcome(FollowUp.REDIRECT, outcome)) if outcome else None

    def _spared(self, turn: FetchTask, now: float) -> Visit | None:
        """The outcome where the site's own dates, proven, say that the page has not changed; one in some is asked."""
        visit = turn.visit
        if visit.state != VisitState.FETCHED or keep_again(visit, now) or int(visit.visited_at) % TEST_EACH == 0:
            return None
        until = self._lastmods.unchanged_until(turn.site, visit.url, visit.history.seen_at)
        return spared(visit, until, now, self._census) if until else None

    def _declined(self, visit: Visit, reason: str) -> FetchResult:
        outcome = declined(visit, reason, self._clock().wall, self._config)
        return FetchResult(verdict=FetchOutcome(FollowUp.NOTHING, outcome), is_declined=True)

    def _barred(self, visit: Visit, barred: RobotsUnreachable, now: float) -> Visit:
        if barred.for_good:
            return refused(visit, barred.reason, now, self._config)
        return failed(visit, barred.reason, now, self._config, barred.until - now)

    async def _ask_robots(self, turn: FetchTask, decision: CrawlDecision) -> FetchResult:
        target = self._robots.next_url(turn.visit.url)
        site = site_of(target)
        if site == turn.site:
            asked = await self._robots.ask(turn.visit.url)
            return FetchResult(*self._learn_robots(turn, site, asked, decision))
        decision = self._decide(target)
        if not decision.allowed:  # such hosts are asked for nothing at all
            self._robots.give_up_way(turn.visit.url)
            return FetchResult()
        if decision.refused_here:
            return self._declined(turn.visit, decision.refused_here)
        self._sites.leave_address(turn, self._clock().steady)
        if self.politeness.given_up(site, self._clock().steady):
            return FetchResult(max(self._config.breaker_s, self._config.min_delay_s))
        if wait_s := self._sites.borrow(site, turn.site, self._clock().steady):
            return FetchResult(max(wait_s, self._config.min_delay_s))
        delay_s, address = self._config.min_delay_s, ""
        try:
            asked = await self._robots.ask(turn.visit.url)
            delay_s, address = self._learn_robots(turn, site, asked, decision)
        finally:
            self._sites.give_back(site, self._clock().steady, delay_s, address)
        return FetchResult()  # the turn's own host was not asked

    def _learn_robots(
        self, turn: FetchTask, site: str, asked: RobotsAnswer, decision: CrawlDecision
    ) -> tuple[float, str]:
        """Take over what was learned; the rest of the host that was asked, and its address."""
        if isinstance(asked.access, Robots):
            self.politeness.asked_delay(turn.site, asked.access.crawl_delay_s)
            named = (find_url(text, turn.visit.url) for text in asked.access.sitemaps)
            self.sitemaps.start(turn.site, [url for url in named if url], turn.visit.depth, turn.visit.scope)
        if asked.answer is None:
            return self._after_silence(site, asked.reason, decision), ""
        return self._rest(site, asked.answer, decision), asked.answer.address

    async def _ask_sitemap(
        self, turn: FetchTask, decision: CrawlDecision, url: str, depth: int, scope: str
    ) -> FetchResult:
        try:
            most = self._config.max_body_bytes
            fetched = (await self._fetcher.fetch(url, {}, most)).opened(most)
        except (AddressRefused, FamilyMissing):  # a hint lost until robots.txt is read anew
            return FetchResult()
        except FetchFailed as error:
            return FetchResult(self._after_silence(turn.site, error.reason, decision))
        delay_s = self._rest(turn.site, fetched, decision)
        if fetched.status != 200:
            return FetchResult(delay_s, fetched.address)
        return FetchResult(delay_s, fetched.address, fetched=fetched, sitemap_depth=depth, sitemap_scope=scope)

    async def _ask_page(self, turn: FetchTask, decision: CrawlDecision) -> FetchResult:
        visit, config = turn.visit, self._config
        most_bytes = config.max_sitemap_bytes if visit.is_sitemap else config.max_body_bytes
        try:
            fetched = await self._fetcher.fetch(visit.url, validators(visit, self._clock().wall), most_bytes)
            fetched = fetched.opened(most_bytes) if visit.is_sitemap else fetched
        except AddressRefused as error:
            return self._without(refused(visit, f"address: {error.reason}", self._clock().wall, config))
        except FamilyMissing as error:
            return self._without(failed(visit, f"family: {error}", self._clock().wall, config))
        except FetchDeclined as error:
            return self._declined(visit, error.reason)
        except BodyUnreadable as error:
            outcome = refused(visit, error.reason, self._clock().wall, config)
            delay_s = self.politeness.after_error(turn.site, decision.min_delay_s)
            return FetchResult(delay_s, verdict=FetchOutcome(FollowUp.NOTHING, outcome))
        except FetchFailed as error:
            outcome = after_error(visit, error, self._clock().wall, config)
            delay_s = self._after_silence(turn.site, error.reason, decision)
            return FetchResult(delay_s, verdict=FetchOutcome(FollowUp.NOTHING, outcome))
        verdict = judge(visit, fetched, self._clock().wall, config, self._census)
        return FetchResult(self._rest(turn.site, fetched, decision), fetched.address, verdict, fetched)

    def _rest(self, site: str, fetched: Fetched, decision: CrawlDecision) -> float:
        """Seconds that a host rests after a response."""
        now, floor_s = self._clock(), decision.min_delay_s
        wait_s = fetched.retry_after_s(now.wall)
        if fetched.status in DOWN:
            reason, limited = f"status {fetched.status}", fetched.status == 429
            return self.politeness.after_failure(site, now.steady, reason, floor_s, wait_s, limited=limited)
        if fetched.status in RETRIED or fetched.status >= 500:
            return self.politeness.after_error(site, floor_s, wait_s)
        return self.politeness.after_answer(site, fetched.latency_s, floor_s, wait_s, decision.max_delay_s)

    def _after_silence(self, site: str, reason: str, decision: CrawlDecision) -> float:
        """Seconds that a host rests after a request without a usable response."""
        return self.politeness.after_failure(site, self._clock().steady, reason, decision.min_delay_s)
