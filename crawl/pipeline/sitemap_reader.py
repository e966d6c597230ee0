"""Reads sitemaps and feeds: those that robots.txt names, and those that were handed in as lists of pages.

URLs in them count as found, as links do. Their dates are learned, and a page is due at once where a proven date shows
that it has changed.
"""

import asyncio
import dataclasses
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from msgspec.structs import replace

from crawl.canonical_url import find_url
from crawl.config import CrawlConfig
from crawl.content.fingerprint import fingerprint
from crawl.fetch.content_codings import BadCoding, decode_body, is_gzip
from crawl.fetch.response import Fetched
from crawl.frontier.admission import Trail
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.lists.sitemap import Sitemap, parse_sitemap
from crawl.pipeline.fetch_outcome import outcome_of_reading, refused
from crawl.pipeline.handoff import Delivery, FoundUrls
from crawl.pipeline.redirect_chain import REDIRECTS
from crawl.pipeline.site_knowledge import SiteKnowledge, feed_source
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit, VisitState
from crawl.scope import scope_after_redirect
from dht import Clock, counted, site_of

MAX_LISTED = 50_000  # URLs of all lists together that are remembered, about 150 bytes each
SEEDS_AT_ONCE = 1_000  # pages of a sitemap that are judged in one go: some ten milliseconds


class SitemapListings:
    """Remembers what the sitemaps that were handed in listed, for those who wait for the pages."""

    def __init__(self, limit: int = MAX_LISTED) -> None:
        self._limit, self._count = limit, 0
        self._lists: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def add(self, url: str, found: Sequence[str]) -> None:
        """Remember which pages and further sitemaps the list at a URL names."""
        self._count -= len(self._lists.pop(url, ()))
        self._lists[url] = tuple(found)
        self._count += len(found)
        while self._count > self._limit and self._lists:
            self._count -= len(self._lists.popitem(last=False)[1])

    def find(self, url: str) -> tuple[str, ...]:
        """Return what the list at a URL names; nothing where that is not known (any more)."""
        return self._lists.get(url, ())


@dataclass(frozen=True, slots=True)
class SitemapReader:
    """Turns the bodies of sitemaps into deliveries; a thread of its own parses, since a large file takes 0.1 s."""

    config: CrawlConfig
    sites: SiteKnowledge
    revisits: RevisitStatistics
    frontier: Frontier
    clock: Clock
    listings: SitemapListings = field(default_factory=SitemapListings)
    thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "crawl-sitemap"))

    async def read_named(self, task: FetchTask, fetched: Fetched, trail: Trail) -> Delivery:
        """Parse a fetched sitemap that robots.txt names. The delivery has no outcome, and the sitemap's pages as found
        URLs, which inherit `trail` (depth and scope). Further sitemaps that it lists are noted for its site, to be
        fetched too. One that has moved to another site is handed in there."""
        if fetched.status in REDIRECTS:
            target = find_url(fetched.header("Location").strip(), fetched.url)
            if target is None or site_of(target) == task.site:
                return Delivery(None)
            scope = scope_after_redirect(trail.scope, fetched.url, target)
            return Delivery(None, [FoundUrls([target], Trail(trail.depth, 1, scope, is_sitemap=True))])
        sitemap = await self._read(task.site, fetched, self.config.max_sitemap_urls)
        self.sites.sitemaps.add(task.site, sitemap.sitemaps)
        return Delivery(None, [FoundUrls(sitemap.pages, trail), *self._links(sitemap, trail)])

    async def read_submitted(self, task: FetchTask, visit: Visit, fetched: Fetched) -> Delivery:
        """Read a sitemap that was handed in: its pages become seeds, the sitemaps that it lists are handed in too.

        All of them are remembered."""
        config = self.config
        sitemap = await self._read(task.site, fetched, config.max_sitemap_seeds)
        if not (sitemap.pages or sitemap.sitemaps or sitemap.elsewhere):
            return Delivery(refused(visit, "sitemap: names no page of its site", self.clock().wall, config))
        found = []
        if visit.hops < config.max_hops:
            inner = Trail(visit.depth, visit.hops + 1, visit.scope, is_sitemap=True)
            found.append(FoundUrls(sitemap.sitemaps[: config.max_sitemaps], inner))
        seeds = Trail(visit.depth, 0, visit.scope)
        starts = range(0, len(sitemap.pages), SEEDS_AT_ONCE)
        found += [FoundUrls(sitemap.pages[start : start + SEEDS_AT_ONCE], seeds) for start in starts]
        found += self._links(sitemap, seeds)
        outcome = replace(await self._outcome(task, visit, sitemap), reason=_summary(sitemap))
        self.listings.add(visit.url, (*sitemap.sitemaps, *sitemap.pages))
        return Delivery(outcome, found)

    def _links(self, sitemap: Sitemap, trail: Trail) -> list[FoundUrls]:
        """Return the pages of other sites that a sitemap lists, as many as a page may link to."""
        urls = sitemap.elsewhere[: self.config.max_links] if trail.depth > 0 else ()
        return [FoundUrls(urls, dataclasses.replace(trail, depth=trail.depth - 1))] if urls else []

    def close(self) -> None:
        """End the thread, without waiting for it."""
        self.thread.shutdown(wait=False, cancel_futures=True)

    async def _outcome(self, task: FetchTask, visit: Visit, sitemap: Sitemap) -> Visit:
        """Return the outcome: a list is read again by the rate at which what it lists changes, as a page is."""
        loop = asyncio.get_running_loop()
        listed = await loop.run_in_executor(self.thread, listing_fingerprint, sitemap)
        return outcome_of_reading(visit, task.visit, listed, self.clock().wall, self.revisits)[0]

    async def _read(self, site: str, fetched: Fetched, most_urls: int) -> Sitemap:
        loop, most_bytes = asyncio.get_running_loop(), self.config.max_sitemap_bytes
        sitemap = await loop.run_in_executor(self.thread, sitemap_of, fetched, most_bytes, most_urls)
        self._learn_dates(site, sitemap)
        return sitemap

    def _learn_dates(self, site: str, sitemap: Sitemap) -> None:
        """Make pages due that a trusted site says have changed; its feeds have to prove themselves apart."""
        now, lastmods = self.clock(), self.sites.lastmods
        source = feed_source(site) if sitemap.is_feed else site
        lastmods.learn(source, sitemap.changed_at, now.wall)
        for url in sitemap.changed_at:
            known = self.frontier.find(url)
            if known is None or known.state != VisitState.FETCHED:
                continue
            seen_at = known.history.seen_at
            if seen_at + self.config.min_revisit_s <= now.wall and lastmods.changed(source, url, seen_at):
                self.frontier.make_due(url, now)


def sitemap_of(fetched: Fetched, most_bytes: int, most_urls: int) -> Sitemap:
    """Parse a sitemap file, packed or not, as far as it fits; a broken one lists the entries that can be read."""
    body, cut = fetched.body, fetched.cut
    if is_gzip(body):
        try:
            body, more = decode_body(body, "gzip", most_bytes)
        except BadCoding:
            return Sitemap((), ())
        cut = cut or more
    sitemap = parse_sitemap(body, fetched.url, most_urls)
    return dataclasses.replace(sitemap, is_cut=cut or len(sitemap.pages) + len(sitemap.sitemaps) >= most_urls)


def listing_fingerprint(sitemap: Sitemap) -> bytes:
    """Return the fingerprint of what a sitemap lists."""
    return fingerprint("", repr(sitemap), "\n".join((*sitemap.pages, *sitemap.sitemaps)))


def _summary(sitemap: Sitemap) -> str:
    """Say for the visit's `reason` what a list holds."""
    what = "feed" if sitemap.is_feed else "sitemap"
    more = ", and more that was not read" if sitemap.is_cut else ""
    return f"{what}: {counted(len(sitemap.pages), 'page')}, {counted(len(sitemap.sitemaps), 'sitemap')}{more}"
