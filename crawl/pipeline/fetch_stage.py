"""The first stage makes the one request that a task allows, or finds the reason to make none.

A task is one request to its site, for the page itself or for robots.txt or a sitemap in its place. After the latter the
URL waits for the site's next turn. So every request counts for politeness, and a site never has two open.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from crawl.canonical_url import find_url
from crawl.config import CrawlConfig
from crawl.content.page import Parsers
from crawl.errors import AddressDenied, AddressRefused, BodyUnreadable, FamilyMissing, FetchDeclined, FetchFailed
from crawl.fetch.response import BodyShort, Fetched, Locate
from crawl.frontier.admission import CrawlDecision, Trail, refusal_reason
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.pipeline.fetch_outcome import (
    FAMILY_S,
    RETRIED,
    FetchOutcome,
    FollowUp,
    allowed_again,
    barred,
    declined,
    failed,
    forgotten,
    idle_parameters,
    judge,
    keep_again,
    lacking_family,
    left_to_twin,
    may_stand_in,
    outcome_of_sparing,
    refused,
    validators,
)
from crawl.pipeline.page_refresh import refresh_ahead
from crawl.pipeline.ports import Sink, SiteAccess
from crawl.pipeline.redirect_chain import MAX_WAIT_S, REDIRECTS, RedirectChain, is_spelling_of
from crawl.pipeline.site_knowledge import SiteKnowledge
from crawl.politeness.robots import Robots
from crawl.politeness.robots_cache import RobotsAnswer, RobotsUnreachable
from crawl.politeness.site_delays import DOWN
from crawl.schedule.lastmod import TEST_EACH
from crawl.schedule.url_state import Visit, VisitState
from dht import Clock, site_of, split_url

LOOK_UPS = 4  # of names in advance, at once
POLL_EVERY_S = 0.5  # for sites that were found meanwhile


class FetchResult(msgspec.Struct, frozen=True):
    """Tells how a task's one request ended. Without an outcome the URL itself was not asked for, and waits again."""

    delay_s: float = 0.0  # rest of the site from now on; 0: it was not asked
    address: str = ""  # that answered, "" unknown
    outcome: FetchOutcome | None = None
    fetched: Fetched | None = None
    is_declined: bool = False  # nobody who may make the request did
    sitemap_trail: Trail | None = None  # where given, `fetched` is a sitemap of robots.txt, whose URLs were found so


@dataclass(frozen=True, slots=True)
class FetchStage:
    """Makes the one request that a task allows, or finds the reason to make none."""

    config: CrawlConfig
    access: SiteAccess
    parsers: Parsers
    sink: Sink
    sites: SiteKnowledge
    queues: SiteQueues
    frontier: Frontier
    clock: Clock

    async def fetch(self, task: FetchTask) -> FetchResult:
        """Make a task's request, or none; never raises for what a site does."""
        try:
            return await self._fetch(task)
        except FamilyMissing as error:
            outcome = lacking_family(task.visit, f"family: {error}", self.clock().wall, self.config)
            return FetchResult(FAMILY_S, outcome=FetchOutcome(outcome), is_declined=True)
        except AddressDenied as error:
            if error.by_operator:
                return self._declined(task.visit, error.reason)
            return self._without(refused(task.visit, f"address: {error.reason}", self.clock().wall, self.config))
        except FetchDeclined as error:
            return self._declined(task.visit, error.reason)

    async def _fetch(self, task: FetchTask) -> FetchResult:
        visit, now = task.visit, self.clock().wall
        decision = self.access.decide(visit.url)
        if not decision.allowed:  # what was stored of it is swept off the disks
            return self._without(forgotten(refused(visit, decision.reason or "rules", now, self.config)))
        if reason := refusal_reason(visit.url, decision) or self._trap(task):
            return self._without(refused(visit, reason, now, self.config))
        if decision.refused_here:
            return self._declined(visit, decision.refused_here)
        if (found := await self.access.elsewhere(visit)) is not None:
            return self._told(visit, found, now)
        if (target := self.sites.traps.without_idle_parameters(task.site, visit.url)) != visit.url:
            return FetchResult(outcome=idle_parameters(visit, target, now, self.config))
        if (left := await self._left_to_twin(visit, now)) is not None:
            return left
        if down := self.sites.delays.given_up_reason(task.site, self.clock().steady):
            return self._without(failed(visit, f"host: {down}", now, self.config, self.config.max_retry_s))
        access = self.sites.robots.find(visit.url)
        if not task.address and not await self._place(task):
            return FetchResult()
        if not visit.history.seen_at:  # what was read before has mostly not changed
            self.parsers.expect()
        if access is None:
            return await self._ask_robots(task, decision)
        if isinstance(access, RobotsUnreachable):
            return self._without(self._unreachable(visit, access, now))
        if not access.allows(visit.url):
            return FetchResult(outcome=barred(visit, now, self.config))
        if visit.is_hidden:
            return self._without(allowed_again(visit, now))
        if (sitemap := self.sites.sitemaps.take(task.site)) is not None:
            return await self._ask_sitemap(task, decision, *sitemap)
        if (spared := self._spared(task, now)) is not None:
            return self._without(spared)
        return await self._ask_page(task, decision)

    async def _place(self, task: FetchTask) -> bool:
        """Find the address of a host that was not asked yet; False where that address has no room."""
        address = await self.access.locate(task.visit.url)
        return not address or self.queues.enter_address(task, address, self.clock().steady)

    def _without(self, visit: Visit) -> FetchResult:
        """Return the result of making no request, because the outcome is known already."""
        return FetchResult(outcome=FetchOutcome(visit))

    def _told(self, visit: Visit, found: Fetched, now: float) -> FetchResult:
        """Return the result where another than the site said what is there, whatever the site's rules are."""
        if visit.is_hidden:
            return self._without(allowed_again(visit, now))
        return FetchResult(outcome=judge(visit, found, now, self.config, self.frontier.statistics), fetched=found)

    def _trap(self, task: FetchTask) -> str:
        """Return why a URL looks like part of a trap, "" where it was read before: such a page is looked after."""
        return "" if task.visit.history.seen_at else self.sites.traps.refusal(task.site, task.visit.url)

    async def _left_to_twin(self, visit: Visit, now: float) -> FetchResult | None:
        """Return how a URL of an alias ends that is not fetched, its twin instead; None where it is to be fetched."""
        alias = self.sites.mirrors.find(visit.url)
        if alias is None or visit.is_sitemap or not may_stand_in(visit, alias.twin(visit.url), self.access.decide):
            return None
        twin = alias.twin(visit.url)
        known = {} if alias.redirects else await self.sink.find([twin])
        outcome = left_to_twin(visit, alias, known.get(twin), now, self.config)
        return FetchResult(outcome=FetchOutcome(outcome, FollowUp.REDIRECT)) if outcome else None

    def _spared(self, task: FetchTask, now: float) -> Visit | None:
        """Return the outcome where proven dates of the site say that the page is the same, but for a sample."""
        visit = task.visit
        if visit.state != VisitState.FETCHED or keep_again(visit, now) or int(visit.visited_at) % TEST_EACH == 0:
            return None
        until = self.sites.lastmods.unchanged_until(task.site, visit.url, visit.history.seen_at)
        return outcome_of_sparing(visit, until, now, self.frontier.statistics) if until else None

    def _declined(self, visit: Visit, reason: str) -> FetchResult:
        outcome = declined(visit, reason, self.clock().wall, self.config)
        return FetchResult(outcome=FetchOutcome(outcome), is_declined=True)

    def _unreachable(self, visit: Visit, robots: RobotsUnreachable, now: float) -> Visit:
        if robots.for_good:
            return refused(visit, robots.reason, now, self.config)
        if robots.has_answered:  # nothing is hopeless at a site that is there
            visit = replace(visit, fails=min(visit.fails, self.config.max_fails - 1))
        return failed(visit, robots.reason, now, self.config, robots.until - now)

    async def _ask_robots(self, task: FetchTask, decision: CrawlDecision) -> FetchResult:
        target = self.sites.robots.next_url(task.visit.url)
        site = site_of(target)
        if site == task.site:
            asked = await self.sites.robots.ask(task.visit.url)
            return FetchResult(*self._learn_robots(task, site, asked, decision))
        decision = self.access.decide(target)
        if not decision.allowed:  # such hosts are asked for nothing at all
            self.sites.robots.give_up_redirect(task.visit.url)
            return FetchResult()
        if decision.refused_here:
            return self._declined(task.visit, decision.refused_here)
        self.queues.leave_address(task, self.clock().steady)
        if self.sites.delays.given_up_reason(site, self.clock().steady):
            return FetchResult(max(self.config.breaker_s, self.config.min_delay_s))
        if wait_s := self.queues.borrow(site, task.site, self.clock().steady):
            return FetchResult(max(wait_s, self.config.min_delay_s))
        delay_s, address = self.config.min_delay_s, ""
        try:
            asked = await self.sites.robots.ask(task.visit.url)
            delay_s, address = self._learn_robots(task, site, asked, decision)
        finally:
            self.queues.give_back(site, self.clock().steady, delay_s, address)
        return FetchResult()  # the task's own site was not asked

    def _learn_robots(
        self, task: FetchTask, site: str, asked: RobotsAnswer, decision: CrawlDecision
    ) -> tuple[float, str]:
        """Take over what was learned; return the rest of the site that was asked, in seconds, and its address."""
        if isinstance(asked.access, Robots):
            self.sites.delays.set_crawl_delay(task.site, asked.access.crawl_delay_s)
            named = (find_url(text, task.visit.url) for text in asked.access.sitemaps)
            trail = Trail(task.visit.depth, 0, task.visit.scope)
            self.sites.sitemaps.start(task.site, [url for url in named if url], trail)
            if asked.is_news:
                self._review(task, asked.access, everywhere=asked.were_known)
        if asked.response is None:
            return self._after_silence(site, asked.reason, decision, has_answered=asked.has_answered), ""
        return self._rest(site, asked.response, decision), asked.response.address

    def _review(self, task: FetchTask, rules: Robots, *, everywhere: bool) -> None:
        """Make due the stored pages that a site's new rules disallow, and the hidden ones that they allow again.
        `everywhere`: in all slots of a site that is spread, else only in the task's slot."""
        parts = split_url(task.visit.url)
        origin = f"{parts.scheme}://{parts.site}/"

        def is_due(visit: Visit) -> bool:
            return bool(visit.history.fingerprint) and visit.is_hidden == rules.allows(visit.url)

        self.frontier.review(origin, None if everywhere else task.slot, is_due, self.clock())

    async def _ask_sitemap(self, task: FetchTask, decision: CrawlDecision, url: str, trail: Trail) -> FetchResult:
        if site_of(url) != task.site:  # as if it had moved there
            there = (("Location", url),)
            return FetchResult(fetched=Fetched(task.visit.url, 302, there, b"", False, 0.0, ""), sitemap_trail=trail)
        chain = RedirectChain(url, lambda target: site_of(target) == task.site)
        try:
            most = self.config.max_body_bytes
            fetched = (await self._follow(task, decision, chain, {}, most)).opened(most)
        except (AddressRefused, FetchDeclined):  # a hint lost until robots.txt is read anew
            return FetchResult()
        except FetchFailed as error:
            return FetchResult(self._after_silence(task.site, error.reason, decision, has_answered=error.has_answered))
        delay_s = self._rest(task.site, fetched, decision)
        if not fetched.is_success and fetched.status not in REDIRECTS:
            return FetchResult(delay_s, fetched.address)
        return FetchResult(delay_s, fetched.address, fetched=fetched, sitemap_trail=trail)

    async def _ask_page(self, task: FetchTask, decision: CrawlDecision) -> FetchResult:
        visit, config = task.visit, self.config
        most_bytes = config.max_sitemap_bytes if visit.is_sitemap else config.max_body_bytes
        chain = RedirectChain(visit.url, is_spelling_of(visit.url))
        try:
            fetched = await self._follow(task, decision, chain, validators(visit, self.clock().wall), most_bytes)
            fetched = fetched.opened(most_bytes) if visit.is_sitemap else fetched
        except (AddressDenied, FetchDeclined):
            raise
        except AddressRefused as error:
            return self._without(refused(visit, f"address: {error.reason}", self.clock().wall, config))
        except BodyUnreadable as error:
            outcome = refused(visit, error.reason, self.clock().wall, config)
            delay_s = self._after_silence(task.site, error.reason, decision, has_answered=True)
            return FetchResult(delay_s, outcome=FetchOutcome(outcome))
        except FetchFailed as error:
            outcome = failed(replace(visit, status=0), error.reason, self.clock().wall, config)
            delay_s = self._after_silence(task.site, error.reason, decision, has_answered=error.has_answered)
            return FetchResult(delay_s, outcome=FetchOutcome(outcome))
        judged = judge(visit, fetched, self.clock().wall, config, self.frontier.statistics)
        return FetchResult(self._rest(task.site, fetched, decision), fetched.address, judged, fetched)

    async def _follow(
        self, task: FetchTask, decision: CrawlDecision, chain: RedirectChain, fields: Mapping[str, str], most_bytes: int
    ) -> Fetched:
        """Make the requests of a chain, each after the site's rest, and return the last response, by canonical URL.
        Raises what a fetch does, BodyUnreadable where the chain must not or does not come to an end."""
        waited_s, robots = 0.0, self.sites.robots.find(task.visit.url)
        while True:
            fetched = await self._fetch_whole(task, chain, fields, most_bytes)
            refresh = await refresh_ahead(fetched, self.parsers, self.config)
            if not chain.leads_on(fetched, self.clock().wall, refresh):
                return chain.settled(fetched)
            if chain.hops > self.config.max_hops:
                raise BodyUnreadable(chain.url, f"more than {self.config.max_hops} redirects")
            if isinstance(robots, Robots) and not robots.allows(chain.url):
                raise BodyUnreadable(chain.url, "redirect to what robots.txt disallows")
            delay_s = self._rest(task.site, fetched, decision)
            waited_s += delay_s
            if waited_s > MAX_WAIT_S:
                raise BodyUnreadable(
                    chain.url, f"redirects that take longer than {MAX_WAIT_S:.0f} s at its site's pace"
                )
            await asyncio.sleep(delay_s)

    async def _fetch_whole(
        self, task: FetchTask, chain: RedirectChain, fields: Mapping[str, str], most_bytes: int
    ) -> Fetched:
        """Make one request. A body that ends early is taken where it does so again, and of a list at once."""
        try:
            return await self.access.fetch(chain.url, {**fields, **chain.fields}, most_bytes)
        except BodyShort as error:
            if task.visit.fails or task.visit.url != chain.began_at:
                return error.fetched
            raise

    def _rest(self, site: str, fetched: Fetched, decision: CrawlDecision) -> float:
        """Return the seconds that a site rests after a response."""
        now, floor_s = self.clock(), decision.min_delay_s
        wait_s = fetched.retry_after_s(now.wall)
        if fetched.status in DOWN:
            reason, limited = f"status {fetched.status}", fetched.status == 429
            return self.sites.delays.after_failure(site, now.steady, reason, floor_s, wait_s, limited=limited)
        if fetched.status in RETRIED or fetched.status >= 500:
            return self.sites.delays.after_error(site, floor_s, wait_s)
        return self.sites.delays.after_answer(site, fetched.latency_s, floor_s, wait_s, decision.max_delay_s)

    def _after_silence(self, site: str, reason: str, decision: CrawlDecision, *, has_answered: bool) -> float:
        """Return the seconds that a site rests after a request without a usable response. `has_answered`: there was a
        response, which cannot be read: that is one page's own."""
        if has_answered:
            return self.sites.delays.after_error(site, decision.min_delay_s)
        return self.sites.delays.after_failure(site, self.clock().steady, reason, decision.min_delay_s)


class DnsPrefetch:
    """Looks up the addresses of new sites before their first turn, so that no turn waits for DNS.

    Sites that share an address are so known to do so before the first of them is asked. LOOK_UPS are fewer than the
    resolver has threads: turns that need a name now must not queue behind."""

    def __init__(self, sites: SiteQueues, locate: Locate) -> None:
        self._sites, self._locate = sites, locate

    async def run(self) -> None:
        """Look up addresses until cancelled."""
        free = asyncio.Semaphore(LOOK_UPS)
        async with asyncio.TaskGroup() as tasks:
            while True:
                await free.acquire()  # first: a look-up may take long, and another site be more urgent by then
                if (site := self._sites.next_unlocated()) is not None:
                    tasks.create_task(self._place(site, free), name="crawl-locate")
                else:
                    free.release()
                    await asyncio.sleep(POLL_EVERY_S)

    async def _place(self, site: str, free: asyncio.Semaphore) -> None:
        try:
            if address := await self._locate(f"http://{site}/"):
                self._sites.set_address(site, address)
        finally:
            free.release()
