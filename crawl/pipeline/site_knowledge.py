"""Holds what the crawler knows of sites, shared by its stages: rules, delays, traps, dates, mirrors, sitemaps.

It lives in memory alone: whoever holds a slot next learns it anew, from visits and from the sites themselves.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from crawl.content.fingerprint import says_the_same, steady_text
from crawl.frontier.admission import Trail
from crawl.frontier.fetch_task import QueuePosition, RobotsAccess, UrlStatus
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.frontier.trap_learning import TrapLearning
from crawl.politeness.robots_cache import RobotsCache, RobotsUnreachable
from crawl.politeness.site_delays import SiteDelays
from crawl.schedule.lastmod import Lastmods
from crawl.schedule.url_state import Visit, VisitState
from dht import site_of

FEEDS_PER_SITE = 8  # a blog has two; one for the comments on each of its pages is no list of pages
MAX_FEED_SITES = 10_000


@dataclass(slots=True)
class _Plan:
    trail: Trail
    waiting: deque[str] = field(default_factory=deque)
    seen: set[str] = field(default_factory=set)


class SitemapQueue:
    """Queues sitemap files that are to be fetched, by site: each takes one turn of its site, before the site's pages.

    `per_site` files are fetched of a site for one robots.txt, indexes and their members together."""

    def __init__(self, per_site: int, sites: int) -> None:
        self._per_site, self._sites = per_site, sites
        self._plans: OrderedDict[str, _Plan] = OrderedDict()

    def start(self, site: str, urls: Iterable[str], trail: Trail) -> None:
        """Take the sitemaps that a robots.txt names, in place of what was left of an earlier one.

        `trail` is that of the URLs in them: the depth and the scope of the URL that had robots.txt read.
        """
        self._plans.pop(site, None)
        if trail.depth <= 0:  # what is found from here on is out of scope
            return
        self._plans[site] = _Plan(trail)
        self.add(site, urls)
        if len(self._plans) > self._sites:
            self._plans.popitem(last=False)

    def add(self, site: str, urls: Iterable[str]) -> None:
        """Take further files, which a sitemap index of the site names."""
        plan = self._plans.get(site)
        if plan is None:
            return
        for url in urls:
            if url not in plan.seen and len(plan.seen) < self._per_site:
                plan.seen.add(url)
                plan.waiting.append(url)

    def take(self, site: str) -> tuple[str, Trail] | None:
        """Return the next file of a site, and the trail of the URLs in it; None where no file waits."""
        plan = self._plans.get(site)
        return (plan.waiting.popleft(), plan.trail) if plan and plan.waiting else None


class SiteFeeds:
    """Remembers which feeds of a site were handed over already, since every page of a site names the same ones."""

    def __init__(self, per_site: int = FEEDS_PER_SITE, sites: int = MAX_FEED_SITES) -> None:
        self._per_site, self._sites = per_site, sites
        self._known: OrderedDict[str, set[str]] = OrderedDict()

    def take_new(self, site: str, urls: Iterable[str]) -> list[str]:
        """Return those of the URLs that are feeds of the site itself and new, and remember them."""
        mine = [url for url in urls if site_of(url) == site]
        if not mine:
            return []
        known = self._known.setdefault(site, set())
        self._known.move_to_end(site)
        if len(self._known) > self._sites:
            self._known.popitem(last=False)
        found = [url for url in dict.fromkeys(mine) if url not in known][: max(0, self._per_site - len(known))]
        known.update(found)
        return found


@dataclass(frozen=True, slots=True)
class SiteKnowledge:
    """Holds what the stages learn of sites; each part is bounded in memory."""

    robots: RobotsCache
    delays: SiteDelays  # with a circuit breaker for each site
    lastmods: Lastmods  # dates that sitemaps give, and whether they have proved right
    mirrors: MirrorDetector
    sitemaps: SitemapQueue  # named by robots.txt, and still to be fetched
    traps: TrapLearning = field(default_factory=TrapLearning)
    feeds: SiteFeeds = field(default_factory=SiteFeeds)  # handed over already

    def recall(self, visit: Visit, rebuild: object) -> None:
        """Learn from a visit that was recorded before this crawler held its slot; `rebuild` names the occasion."""
        self.mirrors.recall(visit)
        if visit.history.fingerprint and visit.history.seen_at:
            self.traps.recall(site_of(visit.url), steady_text(visit.history.fingerprint), rebuild)
        if visit.state == VisitState.REFUSED:
            self.traps.recall_refusal(site_of(visit.url), visit.url, visit.reason, rebuild)

    def learn(self, before: Visit, outcome: Visit, *, is_fetched: bool) -> None:
        """Learn from a recorded outcome; `before` is the visit that led to it, `is_fetched` tells of a response."""
        if is_fetched:
            self.mirrors.learn(outcome)
        else:
            self.mirrors.recall(outcome)
        if is_fetched and before.state == outcome.state == VisitState.FETCHED:
            site, seen_at = site_of(outcome.url), before.history.seen_at
            changed = not says_the_same(before.history.fingerprint, outcome.history.fingerprint)
            for source in (site, feed_source(site)):
                self.lastmods.check(source, outcome.url, seen_at, outcome.visited_at, changed=changed)

    def revived(self, visit: Visit) -> Visit:
        """Return the visit, due at once where it was left to a twin and its host is no alias any more."""
        return msgspec.structs.replace(visit, due_at=0.0) if self.mirrors.is_over(visit) else visit

    def inspect(self, url: str, position: QueuePosition, pause_reason: str) -> UrlStatus:
        """Return what stands before a URL's fetch, as far as it is known without a request."""
        site, access, alias = site_of(url), self.robots.find(url), self.mirrors.find(url)
        trap = self.traps.refusal(site, url) or (alias.reason if alias else "")
        broken = self.delays.breaker_reason(site)
        status = UrlStatus(position, trap=trap, pause_reason=pause_reason, breaker_reason=broken)
        if access is None:
            return status
        if isinstance(access, RobotsUnreachable):
            return replace(status, robots=RobotsAccess.BARRED, robots_why=access.reason)
        robots = RobotsAccess.ALLOWED if access.allows(url) else RobotsAccess.DISALLOWED
        return replace(status, robots=robots, crawl_delay_s=access.crawl_delay_s)


def feed_source(site: str) -> str:
    """Return the name under which dates of a site's feeds are kept: they are often those of publication alone."""
    return f"{site} feed"
