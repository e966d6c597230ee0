"""The second half of a URL's story: its answer read, all that it brought made safe, and only then its outcome.

The steps that decide are pure and elsewhere (extract.py, links.py, outcome.py); here they are put in order.
"""

import asyncio
import dataclasses
from concurrent.futures import Executor
from dataclasses import dataclass

from msgspec.structs import replace

from crawl.config import DAY_S, CrawlConfig
from crawl.content.fingerprint import fingerprint, says_the_same, steady_text
from crawl.content.link_header import canonical_of, links_of
from crawl.content.media_types import READ_TYPES
from crawl.content.page import Page
from crawl.content.parse_task import ParseResult, Parsers, ParseTask
from crawl.content.robots_directives import RobotsDirectives, header_directives, unwanted
from crawl.content.sitemap import Sitemap, is_gzip, parse_sitemap
from crawl.errors import PageUnreadable
from crawl.fetch.content_codings import BadCoding, decode_body
from crawl.fetch.response import Fetched
from crawl.frontier.admission import Trail, allowed_depth
from crawl.frontier.fetch_task import FetchTask
from crawl.frontier.frontier import Frontier
from crawl.frontier.mirror_alias import is_aliased
from crawl.frontier.mirror_detector import MirrorDetector
from crawl.frontier.trap_learning import TrapLearning
from crawl.pipeline.crawl_status import CrawlCounters
from crawl.pipeline.fetch_outcome import FollowUp, forgotten, gone, is_outlived, read, refused
from crawl.pipeline.fetch_stage import FetchResult
from crawl.pipeline.handoff import Handoff
from crawl.pipeline.sitemap_state import SiteFeeds, SitemapListings, SitemapQueue
from crawl.policy import Decide
from crawl.schedule.lastmod import Lastmods
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit, VisitState
from crawl.scope import scope_after_redirect
from dht import Clock, site_of

SEEDS_AT_ONCE = 1_000  # pages of a sitemap that are judged in one go: some ten milliseconds
MAX_KEPT_HEADER_BYTES = 16_384  # of a page's header fields; what comes after is not kept


@dataclass(frozen=True, slots=True)
class ProcessStage:
    """Ends turns."""

    config: CrawlConfig
    parsers: Parsers
    decide: Decide
    handover: Handoff
    sitemaps: SitemapQueue
    tally: CrawlCounters
    census: RevisitStatistics
    lastmods: Lastmods
    stats: TrapLearning
    aliases: MirrorDetector
    frontier: Frontier
    listed: SitemapListings
    feeds: SiteFeeds
    clock: Clock
    sitemap_thread: Executor  # a large file takes expat a tenth of a second

    async def end(self, turn: FetchTask, step: FetchResult) -> Visit | None:
        """The recorded outcome, or None where the URL itself was not asked for. Raises SlotLost."""
        if step.fetched is not None and step.sitemap_depth:
            sitemap = await self._read_sitemap(turn, step.fetched, self.config.max_sitemap_urls)
            self.sitemaps.add(turn.site, sitemap.sitemaps)
            await self.handover.discover(turn, sitemap.pages, Trail(step.sitemap_depth, 0, step.sitemap_scope))
            return None
        if step.verdict is None:
            return None
        visit = step.verdict.visit
        if step.fetched is None and step.verdict.next == FollowUp.REDIRECT:
            scope = scope_after_redirect(visit.scope, visit.url, visit.target)
            trail = Trail(visit.depth, visit.hops, scope, visit.is_sitemap)
            await self.handover.discover(turn, [visit.target], trail)
        if step.fetched is not None:
            visit = await self._take(turn, step.verdict.next, visit, step.fetched)
            self._check_lastmod(turn, visit)
        if is_outlived(turn.visit, visit):
            visit = forgotten(visit)
            await self.handover.keep(turn, gone_page(visit.url, visit.status, self.clock().wall))
        await self.handover.record(turn, visit)
        self.aliases.learn(visit)
        if step.is_declined:
            self.tally.count_refusal(visit.reason)
        elif not (is_aliased(visit) and is_aliased(turn.visit)):  # a twin was looked at again
            self._count(visit)
        return visit

    async def _take(self, turn: FetchTask, what: FollowUp, visit: Visit, fetched: Fetched) -> Visit:
        """Make safe what a response brought; its outcome, which reading the page may have changed."""
        if what == FollowUp.PARSE:
            return await self._read(turn, visit, fetched)
        if what == FollowUp.GONE:
            await self.handover.keep(turn, gone_page(fetched.url, fetched.status, self.clock().wall))
        if what == FollowUp.REDIRECT:
            scope = scope_after_redirect(visit.scope, visit.url, visit.target)
            trail = Trail(visit.depth, visit.hops + 1, scope, visit.is_sitemap)
            await self.handover.discover(turn, [visit.target], trail)
        if what == FollowUp.SITEMAP:
            return await self._take_sitemap(turn, visit, fetched)
        return visit

    async def _read(self, turn: FetchTask, visit: Visit, fetched: Fetched) -> Visit:
        now = self.clock().wall
        try:
            parsed = await self.parsers.parse(task_of(fetched, self.config))
        except PageUnreadable as error:
            return refused(visit, error.reason, now, self.config)
        directives = parsed.directives.strictest_with(header_directives(fetched.headers, self.config.agent))
        if reason := unwanted(directives, now):
            visit = gone(visit, reason, now, self.config)
            await self.handover.keep(turn, gone_page(fetched.url, fetched.status, now))
        elif reason := self._trap(turn, parsed):
            return refused(visit, reason, now, self.config)
        else:
            visit = replace(visit, unavailable_at=directives.unavailable_at)
            visit, is_news = read(visit, turn.visit, parsed.fingerprint, now, self.census)
            if is_news:
                await self._follow(turn, parsed, directives, fetched, page_of(fetched, parsed, now, directives))
                return visit
        await self._follow(turn, parsed, directives, fetched, None)
        return visit

    async def _follow(
        self, turn: FetchTask, parsed: ParseResult, directives: RobotsDirectives, fetched: Fetched, page: Page | None
    ) -> None:
        """Hand over what the page leads to, and where it is given the page with it."""
        visit = turn.visit
        depth, scope = allowed_depth(visit.depth, self.decide(visit.url)), visit.scope
        links: list[str] = []
        canonical = ""
        if not directives.nofollow:
            named = links_of(fetched.headers, fetched.url)
            canonical = parsed.canonical or canonical_of(named, visit.url)
            self.aliases.names(visit.url, canonical, (link.url for link in parsed.links if not link.nofollow))
            if canonical and site_of(canonical) == turn.site:
                await self.handover.discover(turn, [canonical], Trail(depth, visit.hops, scope))
            feeds = [*parsed.feeds, *(each.url for each in named if each.is_feed)]
            if depth > 0 and (news := self.feeds.news(turn.site, feeds)):
                await self.handover.discover(turn, news, Trail(depth - 1, 0, scope, is_sitemap=True))
        if depth > 0 and not directives.nofollow:
            if canonical and site_of(canonical) != turn.site:  # like any link; its twin tells of a mirror
                links = [canonical]
            links += [self._without_idle(turn, link.url) for link in parsed.links if not link.nofollow]
        trail = Trail(max(0, depth - 1), 0, scope)
        if page is not None:
            await self.handover.keep(turn, page, links, trail)
        else:
            await self.handover.discover(turn, links, trail)

    async def _take_sitemap(self, turn: FetchTask, visit: Visit, fetched: Fetched) -> Visit:
        """A sitemap that was handed in: its pages become seeds, the sitemaps that it lists are handed in too."""
        sitemap = await self._read_sitemap(turn, fetched, self.config.max_sitemap_seeds)
        if not sitemap.pages and not sitemap.sitemaps:
            return refused(visit, "sitemap: names no page of its site", self.clock().wall, self.config)
        if visit.hops < self.config.max_hops:
            inner = Trail(visit.depth, visit.hops + 1, visit.scope, is_sitemap=True)
            await self.handover.discover(turn, sitemap.sitemaps[: self.config.max_sitemaps], inner)
        for first in range(0, len(sitemap.pages), SEEDS_AT_ONCE):
            some = sitemap.pages[first : first + SEEDS_AT_ONCE]
            await self.handover.discover(turn, some, Trail(visit.depth, 0, visit.scope))
        self.listed.add(visit.url, (*sitemap.sitemaps, *sitemap.pages))
        what = "feed" if sitemap.is_feed else "sitemap"
        reason = f"{what}: {len(sitemap.pages)} pages, {len(sitemap.sitemaps)} sitemaps"
        reason += ", and more that was not read" if sitemap.is_cut else ""
        return replace(await self._listing_seen(turn, visit, sitemap), reason=reason)

    async def _listing_seen(self, turn: FetchTask, visit: Visit, sitemap: Sitemap) -> Visit:
        """A list is read again by the rate at which what it lists changes, as a page is."""
        loop = asyncio.get_running_loop()
        listing = await loop.run_in_executor(self.sitemap_thread, listing_of, sitemap)
        return read(visit, turn.visit, listing, self.clock().wall, self.census)[0]

    async def _read_sitemap(self, turn: FetchTask, fetched: Fetched, most_urls: int) -> Sitemap:
        loop = asyncio.get_running_loop()
        most_bytes = self.config.max_sitemap_bytes
        sitemap = await loop.run_in_executor(self.sitemap_thread, sitemap_of, fetched, most_bytes, most_urls)
        self._follow_lastmods(turn.site, sitemap)
        return sitemap

    def _trap(self, turn: FetchTask, parsed: ParseResult) -> str:
        """Why a page that is read for the first time is not taken."""
        if turn.visit.history.seen_at or not (parsed.text or parsed.boilerplate):
            return ""
        return self.stats.learn(turn.site, turn.visit.url, steady_text(parsed.fingerprint))

    def _without_idle(self, turn: FetchTask, url: str) -> str:
        return self.stats.without_idle(turn.site, url) if "?" in url and site_of(url) == turn.site else url

    def _follow_lastmods(self, site: str, sitemap: Sitemap) -> None:
        """Pages that a trusted site says have changed are due now; its feeds have to prove themselves apart."""
        now = self.clock()
        source = feed_dates(site) if sitemap.is_feed else site
        self.lastmods.learn(source, sitemap.changed_at, now.wall)
        for url in sitemap.changed_at:
            known = self.frontier.find(url)
            if known is None or known.state != VisitState.FETCHED:
                continue
            seen_at = known.history.seen_at
            if seen_at + self.config.min_revisit_s <= now.wall and self.lastmods.changed(source, url, seen_at):
                self.frontier.make_due(url, now)

    def _check_lastmod(self, turn: FetchTask, visit: Visit) -> None:
        before = turn.visit.history
        if visit.state == VisitState.FETCHED and turn.visit.state == VisitState.FETCHED:
            changed = not says_the_same(before.fingerprint, visit.history.fingerprint)
            for source in (turn.site, feed_dates(turn.site)):
                self.lastmods.check(source, visit.url, before.seen_at, visit.visited_at, changed=changed)

    def _count(self, visit: Visit) -> None:
        if visit.state == VisitState.FAILED:
            self.tally.failed += 1
        elif visit.state == VisitState.REFUSED:
            self.tally.count_refusal(visit.reason)
        else:
            self.tally.count_page(self.clock().steady)


def sitemap_of(fetched: Fetched, most_bytes: int, most_urls: int) -> Sitemap:
    """A sitemap file, packed or not, as far as it fits; a broken one lists nothing."""
    body, cut = fetched.body, fetched.cut
    if is_gzip(body):
        try:
            body, more = decode_body(body, "gzip", most_bytes)
        except BadCoding:
            return Sitemap((), ())
        cut = cut or more
    sitemap = parse_sitemap(body, fetched.url, most_urls)
    return dataclasses.replace(sitemap, is_cut=cut or len(sitemap.pages) + len(sitemap.sitemaps) >= most_urls)


def listing_of(sitemap: Sitemap) -> bytes:
    """The fingerprint of what a sitemap lists."""
    return fingerprint("", repr(sitemap), "\n".join((*sitemap.pages, *sitemap.sitemaps)))


def task_of(fetched: Fetched, config: CrawlConfig) -> ParseTask:
    """The reading of a response; markup without a usable media type was let through as HTML."""
    media_type = fetched.media_type if fetched.media_type in READ_TYPES else "text/html"
    return ParseTask(
        url=fetched.url,
        body=fetched.body,
        media_type=media_type,
        header_charset=fetched.header_charset,
        max_links=config.max_links,
        max_text_chars=config.max_text_chars,
        agent=config.agent,
        coding=fetched.coding,
        max_bytes=config.max_body_bytes,
    )


def feed_dates(site: str) -> str:
    """Under which name the dates of a site's feeds are kept: often of publication alone, and of the newest pages."""
    return f"{site} feed"


def page_of(fetched: Fetched, parsed: ParseResult, now: float, directives: RobotsDirectives) -> Page:
    """A page that was read. `now`: Unix seconds. With nofollow it vouches for none of its links."""
    return Page(
        url=fetched.url,
        fetched_at=now,
        status=fetched.status,
        headers=kept_headers(fetched),
        content=parsed.content if fetched.coding else fetched.body,
        content_digest=parsed.content_digest,
        media_type=fetched.media_type,
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
        modified_at=_not_later(parsed.modified_at, now),
    )


def _not_later(at: float, now: float) -> float:
    """An instant that may be true: pages that lie about it name the future; a day allows for zones."""
    return at if at <= now + DAY_S else 0.0


def gone_page(url: str, status: int, now: float) -> Page:
    """What takes the place of a page that is no more, or does not want to be found."""
    return Page(url, now, status, (), b"", "", "", "", "", (), "", (), gone=True)


def kept_headers(fetched: Fetched) -> tuple[tuple[str, str], ...]:
    """The header fields from the first on, as far as they fit."""
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
