"""The second stage reads what a fetch brought, builds its page, and decides what of it goes to the owners of its URLs.

The steps that decide are pure: functions here, `fetch_outcome.py` and `crawl/frontier/admission.py`. The stage puts
them in order.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from crawl.canonical_url import find_url
from crawl.config import DAY_S, CrawlConfig
from crawl.content.dates import find_date
from crawl.content.fingerprint import steady_text
from crawl.content.page import Page, ParseResult, Parsers
from crawl.content.robots_directives import RobotsDirectives, header_directives, unwanted, wishes
from crawl.content.scripts import NEEDS_SCRIPT
from crawl.errors import PageUnreadable
from crawl.fetch.link_header import canonical_of, links_of, pages_beside, parse_refresh
from crawl.fetch.response import Fetched
from crawl.frontier.admission import Trail, allowed_depth
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.trap_learning import bare_text
from crawl.pipeline.fetch_outcome import (
    FollowUp,
    forgotten,
    gone,
    is_outlived,
    moved_by_refresh,
    outcome_of_reading,
    parse_task_of,
    refused,
)
from crawl.pipeline.fetch_stage import FetchResult
from crawl.pipeline.handoff import Delivery, FoundUrls
from crawl.pipeline.page_refresh import refresh_of
from crawl.pipeline.ports import SiteAccess
from crawl.pipeline.site_knowledge import SiteKnowledge
from crawl.pipeline.sitemap_reader import SitemapReader
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit
from crawl.scope import scope_after_redirect
from dht import Clock, site_of

_MADE_WITHIN_S = 3_600.0  # before it is fetched: a page that is made when it is asked for
_UNCACHED = ("no-store", "no-cache", "private")
MAX_KEPT_HEADER_BYTES = 16_384  # of a page's header fields; what comes after is not kept


def read_page(
    fetched: Fetched, parsed: ParseResult, fetched_at: float, now: float, config: CrawlConfig
) -> tuple[Page | None, str]:
    """Return the page that a response of `fetched_at` is, or None and why it does not want to be found `now`."""
    directives = parsed.directives.strictest_with(header_directives(fetched.headers, config.agent))
    if reason := unwanted(directives, now):
        return None, reason
    page = page_of(fetched, parsed, fetched_at, directives)
    return page, ""


def page_of(fetched: Fetched, parsed: ParseResult, now: float, directives: RobotsDirectives) -> Page:
    """Return the page that a parsed response is, fetched at `now` (Unix seconds); with nofollow it has no links."""
    modified_at = parsed.modified_at or (0.0 if parsed.published_at else last_modified(fetched, now))
    return Page(
        url=fetched.url,
        fetched_at=now,
        status=fetched.status,
        headers=kept_headers(fetched),
        content=parsed.content if fetched.coding else fetched.body,
        content_digest=parsed.content_digest,
        media_type=fetched.read_as,
        charset=parsed.charset,
        language=parsed.language,
        title=parsed.title,
        headings=parsed.headings,
        text=parsed.text,
        boilerplate=parsed.boilerplate,
        max_snippet=directives.max_snippet,
        noarchive=directives.noarchive,
        unavailable_at=directives.unavailable_at,
        links=() if directives.nofollow else tuple(link for link in parsed.links if not link.nofollow),
        signature=parsed.signature,
        description=parsed.description,
        published_at=_not_later(parsed.published_at, now),
        modified_at=_not_later(modified_at, now),
        sent=fetched.sent,
        images=() if directives.noimageindex else parsed.images,
    )


def last_modified(fetched: Fetched, now: float) -> float:
    """Return when a file was last modified as its server says, for a page that says nothing itself.

    0.0 where the page seems to be made as it is asked for: by its address, by what caches may do, or by the instant.
    """
    caching = fetched.header("Cache-Control").lower()
    is_made = "?" in fetched.url or fetched.header("Set-Cookie") or any(word in caching for word in _UNCACHED)
    at = 0.0 if is_made else find_date(fetched.header("Last-Modified"))
    return at if at <= now - _MADE_WITHIN_S else 0.0


def _not_later(at: float, now: float) -> float:
    """Return the instant, or 0.0 where it lies in the future, as only a lie can; a day allows for time zones."""
    return at if at <= now + DAY_S else 0.0


def gone_page(url: str, status: int, now: float) -> Page:
    """Return what takes the place of a page that is no more, or that does not want to be found."""
    return Page(url, now, status, (), b"", "", "", "", "", (), "", (), gone=True)


def kept_headers(fetched: Fetched) -> tuple[tuple[str, str], ...]:
    """Return the header fields from the first on, as far as they fit into MAX_KEPT_HEADER_BYTES."""
    if 4 * sum(len(name) + len(value) for name, value in fetched.headers) <= MAX_KEPT_HEADER_BYTES:
        return fetched.headers  # a character takes four bytes at most
    kept: list[tuple[str, str]] = []
    room = MAX_KEPT_HEADER_BYTES
    for name, value in fetched.headers:
        room -= len(name.encode()) + len(value.encode())
        if room < 0:
            break
        kept.append((name, value))
    return tuple(kept)


def _target_of(visit: Visit, hops: int) -> FoundUrls:
    """Return where a redirect leads, as it is found."""
    scope = scope_after_redirect(visit.scope, visit.url, visit.target)
    return FoundUrls([visit.target], Trail(visit.depth, hops, scope, visit.is_sitemap))


@dataclass(frozen=True, slots=True)
class ProcessStage:
    """Turns the result of a fetch into what is delivered to the owners of its URLs."""

    config: CrawlConfig
    access: SiteAccess
    parsers: Parsers
    sites: SiteKnowledge
    revisits: RevisitStatistics
    sitemaps: SitemapReader
    clock: Clock

    async def process(self, task: FetchTask, result: FetchResult) -> Delivery:
        """Read what a fetch brought; the delivery has no outcome where the URL itself was not asked for."""
        fetched, outcome = result.fetched, result.outcome
        if outcome is None:
            if fetched is None or result.sitemap_trail is None:
                return Delivery(None)
            return await self.sitemaps.read_named(task, fetched, result.sitemap_trail)
        visit, delivery = outcome.visit, Delivery(outcome.visit)
        if outcome.follow_up == FollowUp.REDIRECT:
            hops = visit.hops if fetched is None else visit.hops + 1  # none where nobody asked the site
            delivery.found.append(_target_of(visit, hops))
        elif fetched is not None and outcome.follow_up == FollowUp.PARSE:
            await self._read(task, visit, fetched, delivery)
        elif fetched is not None and outcome.follow_up == FollowUp.SITEMAP:
            delivery = await self.sitemaps.read_submitted(task, visit, fetched)
        elif outcome.follow_up == FollowUp.GONE:  # without a request where the site's rules say so
            url, status = (fetched.url, fetched.status) if fetched is not None else (visit.url, 0)
            delivery.page = gone_page(url, status, self.clock().wall)
        if delivery.outcome is not None and is_outlived(task.visit, delivery.outcome):
            delivery.outcome = forgotten(delivery.outcome)
            delivery.page = gone_page(visit.url, visit.status, self.clock().wall)
        return delivery

    async def _read(self, task: FetchTask, visit: Visit, fetched: Fetched, delivery: Delivery) -> None:
        """Parse a page, and put what comes of it into the delivery."""
        now = self.clock().wall
        try:
            parsed = await self.parsers.parse(parse_task_of(fetched, self.config))
        except PageUnreadable as error:
            delivery.outcome = refused(visit, error.reason, now, self.config)
            return
        directives = parsed.directives.strictest_with(header_directives(fetched.headers, self.config.agent))
        by, target = refresh_of(fetched, parsed)
        if target and not directives.nofollow:
            moved = moved_by_refresh(visit, by, target, now, self.config)
            delivery.outcome = moved.visit
            if moved.follow_up == FollowUp.REDIRECT:
                delivery.found.append(_target_of(moved.visit, visit.hops + 1))
            return
        if reason := unwanted(directives, now):
            delivery.outcome = gone(visit, reason, now, self.config)
            delivery.page = gone_page(fetched.url, fetched.status, now)
        elif reason := self._trap(task, parsed):
            delivery.outcome = refused(visit, reason, now, self.config)
            return
        else:
            visit = replace(visit, unavailable_at=directives.unavailable_at)
            outcome, is_news = outcome_of_reading(visit, task.visit, parsed.fingerprint, now, self.revisits)
            said = [*([NEEDS_SCRIPT] if parsed.needs_script else []), *wishes(directives)]
            delivery.outcome = replace(outcome, reason="; ".join(said)) if said else outcome
            if is_news:
                page, first_seen = page_of(fetched, parsed, now, directives), outcome.history.first_seen
                delivery.page = replace(page, first_seen=first_seen, site_links=task.site_links)
        if not directives.nofollow:
            self._follow(task, parsed, fetched, delivery)

    def _follow(self, task: FetchTask, parsed: ParseResult, fetched: Fetched, delivery: Delivery) -> None:
        """Put what a page leads to into the delivery: its canonical URL, its feeds, its links."""
        visit, site = task.visit, task.site
        depth, scope = allowed_depth(visit.depth, self.access.decide(visit.url)), visit.scope
        named = links_of(fetched.headers, fetched.url)
        canonical = parsed.canonical or canonical_of(named, visit.url)
        links = [*(link.url for link in parsed.links if not link.nofollow), *pages_beside(named)]
        if (waiting := parse_refresh(fetched.header("Refresh"))) and (later := find_url(waiting[1], fetched.url)):
            links.append(later)
        self.sites.mirrors.learn_page(visit.url, parsed.content_digest, canonical, links, self.clock().wall)
        if canonical and site_of(canonical) == site:
            delivery.found.append(FoundUrls([canonical], Trail(depth, visit.hops, scope)))
            canonical = ""
        if depth <= 0:
            return
        feeds = [*parsed.feeds, *(each.url for each in named if each.is_feed)]
        if new_feeds := self.sites.feeds.take_new(site, feeds):
            delivery.found.append(FoundUrls(new_feeds, Trail(depth - 1, 0, scope, is_sitemap=True)))
        found = [canonical] if canonical else []  # one elsewhere is like any link
        found += [self._without_idle(site, link) for link in links]
        delivery.links = FoundUrls(found, Trail(depth - 1, 0, scope))

    def _trap(self, task: FetchTask, parsed: ParseResult) -> str:
        """Return why a page that is read for the first time is not taken, "" where it is."""
        if task.visit.history.seen_at or not (parsed.text or parsed.boilerplate):
            return ""
        url, bare = task.visit.url, bare_text(task.visit.url, f"{parsed.title}\n{parsed.text}")
        return self.sites.traps.learn(task.site, url, steady_text(parsed.fingerprint), bare)

    def _without_idle(self, site: str, url: str) -> str:
        """Return a URL without those of its parameters that change nothing at its site."""
        return self.sites.traps.without_idle_parameters(site, url) if "?" in url and site_of(url) == site else url
