"""Holds what the crawler knows of sites, shared by its stages: rules, delays, traps, dates, mirrors, sitemaps.

It lives in memory alone: whoever holds a slot next learns it anew, from visits and from the sites themselves.
"""

from dataclasses import dataclass, field, replace

import msgspec

from crawl.content.fingerprint import says_the_same, steady_text
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.frontier.trap_learning import TrapLearning
from crawl.frontier.url_status import QueuePosition, RobotsAccess, UrlStatus
from crawl.pipeline.sitemap_state import SiteFeeds, SitemapQueue
from crawl.politeness.robots_cache import RobotsCache, RobotsUnreachable
from crawl.politeness.site_delays import SiteDelays
from crawl.schedule.lastmod import Lastmods
from crawl.schedule.url_state import Visit, VisitState
from dht import site_of


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
