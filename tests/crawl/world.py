"""A small real web on loopback, and an owner of everything that a crawler hands over."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from random import Random

from aiohttp import web

from crawl import (
    CrawlConfig,
    CrawlControl,
    CrawlDecision,
    Crawler,
    Fetched,
    Fetcher,
    MirrorDetector,
    Page,
    Parsers,
    TokenAnswer,
    UrlSeenTest,
    Visit,
    VisitState,
    canonical_url,
    nowhere,
    reach,
)
from crawl.fetch.fetcher import HttpFetcher
from crawl.frontier.frontier import Frontier
from crawl.frontier.site_queues import SiteQueues
from crawl.politeness.address_limits import AddressLimits
from crawl.schedule.revisit_policy import RevisitStatistics
from dht import STRICT, PeerTimeout, Slot, Supervisor, system_clock

SLOT = Slot(0)
HTML = "text/html; charset=utf-8"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def new_frontier(limit: int = 100, *, most: int = 8, delay_s: float = 0.0) -> tuple[Frontier, SiteQueues]:
    """A frontier and its queues. `most`, `delay_s`: what one address bears."""
    sites = SiteQueues(AddressLimits(most, delay_s))
    return Frontier(limit, sites, RevisitStatistics(CrawlConfig())), sites


class Web:
    """Hosts by name, paths by host; remembers every request with its start and end."""

    def __init__(self) -> None:
        self.pages: dict[str, dict[str, Handler | str]] = {}
        self.log: list[tuple[str, str, float, float]] = []  # host, path, from, to (steady seconds)
        self.requests: list[web.Request] = []
        self.port = 0

    def url(self, host: str, path: str = "/") -> str:
        return canonical_url(f"http://{host}:{self.port}{path}")

    def add(self, host: str, pages: dict[str, Handler | str]) -> None:
        self.pages.setdefault(host, {}).update(pages)

    def paths(self, host: str) -> list[str]:
        return [path for name, path, *_ in self.log if name == host]

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        host, path = request.host.partition(":")[0], request.path_qs
        started = system_clock().steady
        page = self.pages.get(host, {}).get(path)
        try:
            if page is None:
                return web.Response(status=404, text="no such page")
            if isinstance(page, str):
                return web.Response(text=page, content_type="text/html", charset="utf-8")
            return await page(request)  # type: ignore[arg-type]
        finally:
            self.log.append((host, path, started, system_clock().steady))


class Access:
    """A crawler's `SiteAccess` to sites that no other node crawls. `denied`: parts of URLs that the rules refuse."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetch = fetcher.fetch
        self.locate: Callable[[str], Awaitable[str]] = fetcher.locate if isinstance(fetcher, HttpFetcher) else nowhere
        self.denied: tuple[str, ...] = ()

    def decide(self, url: str) -> CrawlDecision:
        is_denied = any(part in url for part in self.denied)
        return CrawlDecision(not is_denied, "rule 1" if is_denied else "")

    def late(self) -> float:
        return 0.0

    async def elsewhere(self, visit: Visit) -> Fetched | None:
        return None

    async def acquire(self, visit: Visit) -> TokenAnswer:
        return TokenAnswer()

    async def release(self, url: str, rest_s: float) -> None:
        return


class Owner:
    """A `Sink` that has everything, and tells the crawler what it was told, as the store's change log does."""

    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.visits: dict[str, Visit] = {}
        self.story: list[tuple[str, str]] = []  # what happened to which URL, in order
        self.crawler: Crawler | None = None
        self.deaf = 0  # so many calls more are not acknowledged
        self.elsewhere: dict[str, Visit] = {}  # outcomes of other holders, by URL

    async def keep(self, page: Page, epoch: int, found: Sequence[Visit] = (), outcome: Visit | None = None) -> bool:
        self._acknowledge()
        self.story.append(("keep", page.url))
        self.pages[page.url] = page
        self._discover(found)
        if outcome is not None:
            self._record(outcome)
        return outcome is not None

    async def discover(self, found: Sequence[Visit]) -> None:
        self._acknowledge()
        self._discover(found)

    def _discover(self, found: Sequence[Visit]) -> None:
        for visit in found:
            self.story.append(("discover", visit.url))
            known = self.visits.get(visit.url)
            if known is None or (known.state == VisitState.WAITING and reach(known) < reach(visit)):
                self._write(visit)

    async def find(self, urls: Sequence[str]) -> Mapping[str, Visit]:
        return {url: self.elsewhere[url] for url in urls if url in self.elsewhere}

    async def record(self, visit: Visit, epoch: int) -> None:
        self._acknowledge()
        self._record(visit)

    def _record(self, visit: Visit) -> None:
        self.story.append(("record", visit.url))
        self._write(visit)

    def _write(self, visit: Visit) -> None:
        self.visits[visit.url] = visit
        if self.crawler is not None:
            self.crawler.observe(SLOT, visit)

    def _acknowledge(self) -> None:
        if self.deaf:
            self.deaf -= 1
            raise PeerTimeout("owner", 0.0)


class Crawl:
    """One crawler at work on one slot."""

    def __init__(self, config: CrawlConfig, fetcher: Fetcher, parsers: Parsers) -> None:
        self.owner, self.access = Owner(), Access(fetcher)
        self.control = CrawlControl(MirrorDetector(), system_clock)
        seen = UrlSeenTest(None, b"a key")
        self.crawler = Crawler(config, self.access, parsers, self.owner, seen, self.control, system_clock, Random(1))
        self.owner.crawler = self.crawler

    async def run(self, *seeds: Visit, within_s: float = 10.0, supervisor: Supervisor = STRICT) -> None:
        """Crawl from these until nothing waits."""
        for seed in seeds:
            self.owner.visits.setdefault(seed.url, seed)
        self.crawler.hold(SLOT, 1, list(self.owner.visits.values()))
        async with asyncio.timeout(within_s), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.crawler.run(supervisor))
            await self.finished()
            running.cancel()

    async def finished(self) -> None:
        await self.until(lambda: not (self.crawler.status().waiting or self.crawler.status().open))

    async def until(self, comes_true: Callable[[], bool]) -> None:
        """Ask as a person asks: again and again; the caller's deadline ends it."""
        while not comes_true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def seed(url: str, depth: int = 3) -> Visit:
    return Visit(url=url, depth=depth)


def linked(*paths: str, head: str = "", body: str = "") -> str:
    anchors = "".join(f'<a href="{path}">to {path}</a> ' for path in paths)
    return f"<html><head><title>T</title>{head}</head><body>{body}{anchors}</body></html>"


def answer(status: int, text: str = "", media_type: str = "text/html", **headers: str) -> Handler:
    async def respond(_: web.Request) -> web.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, text=text, content_type=media_type, headers=named)

    return respond


def state(crawl: Crawl, url: str) -> tuple[VisitState, str]:
    visit = crawl.owner.visits[url]
    return visit.state, visit.reason
