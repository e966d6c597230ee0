"""The robots.txt of each site: fetched once, kept for a day, asked before every fetch.

RFC 9309, 2.3: redirects are followed (5), 4xx means that everything is allowed, 5xx and silence that nothing is until
it answers; rules that were had before serve on in the meantime. 429 counts as 5xx: it says nothing about rules.
"""

from collections import OrderedDict
from dataclasses import dataclass
from urllib.parse import urlsplit

from crawl.config import CrawlConfig
from crawl.errors import AddressRefused, FamilyMissing, FetchFailed
from crawl.fetched import Fetched, Fetcher
from crawl.revisit import due_after_failure
from crawl.robots import ALLOW_ALL, Robots, parse_robots
from crawl.urls import find_url
from dht import Clock

MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class Barred:
    """A site whose rules could not be had: fetch nothing there until `until` (Unix seconds)."""

    reason: str
    until: float
    fails: int
    for_good: bool = False  # its address is one that must not be contacted


Access = Robots | Barred


@dataclass(frozen=True, slots=True)
class Asked:
    """What one request for robots.txt brought: the rules, and what politeness needs to know about the answer."""

    access: Access
    answer: Fetched | None


class RobotsCache:
    """Rules by origin (scheme and site)."""

    def __init__(self, config: CrawlConfig, fetcher: Fetcher, clock: Clock) -> None:
        self._config, self._fetcher, self._clock = config, fetcher, clock
        self._kept: OrderedDict[str, tuple[float, Access]] = OrderedDict()  # origin: (until wall, rules)

    def find(self, url: str) -> Access | None:
        """What is known and still fresh of a URL's site; None: ask."""
        until, access = self._kept.get(_origin(url), (0.0, None))
        return access if until > self._clock().wall else None

    async def ask(self, url: str) -> Asked:
        """Fetch the robots.txt of a URL's site and keep what it says."""
        origin = _origin(url)
        before = self._kept.get(origin, (0.0, None))[1]
        access, answer = await self._follow(origin)
        if isinstance(access, Barred):
            access = self._barred(access, before)
        now = self._clock().wall
        until = access.until if isinstance(access, Barred) else now + self._config.robots_ttl_s
        if isinstance(access, Robots) and access is before:  # the old rules serve on, but not for another day
            until = now + self._config.retry_base_s
        self._kept[origin] = (until, access)
        self._kept.move_to_end(origin)
        if len(self._kept) > self._config.max_robots_hosts:
            self._kept.popitem(last=False)
        return Asked(access, answer)

    async def _follow(self, origin: str) -> tuple[Access, Fetched | None]:
        url = f"{origin}/robots.txt"
        answer: Fetched | None = None
        for _ in range(MAX_REDIRECTS + 1):
            try:
                answer = await self._fetcher.fetch(url, {}, self._config.max_robots_bytes)
            except AddressRefused as error:
                return Barred(f"address: {error.reason}", 0.0, 0, for_good=True), None
            except (FetchFailed, FamilyMissing) as error:
                reason = error.reason if isinstance(error, FetchFailed) else str(error)
                return Barred(f"robots.txt unreachable: {reason}", 0.0, 0), None
            if answer.status not in _REDIRECTS:
                return self._read(answer), answer
            target = find_url(answer.header("Location"), url)
            if target is None or target == url:
                return ALLOW_ALL, answer
            known = self.find(target) if target == f"{_origin(target)}/robots.txt" else None
            if isinstance(known, Robots):
                return known, answer
            url = target
        return ALLOW_ALL, answer

    def _read(self, answer: Fetched) -> Access:
        if answer.status == 429 or answer.status >= 500:
            return Barred(f"robots.txt unreachable: status {answer.status}", 0.0, 0)
        if answer.status != 200:
            return ALLOW_ALL
        return parse_robots(answer.body, self._config.agent, self._config.max_sitemaps)

    def _barred(self, barred: Barred, before: Access | None) -> Access:
        """Old rules serve on; without them the wait grows with each failure."""
        if isinstance(before, Robots) and not barred.for_good:
            return before
        now = self._clock().wall
        if barred.for_good:
            return Barred(barred.reason, now + self._config.robots_ttl_s, 0, for_good=True)
        fails = min((before.fails if isinstance(before, Barred) else 0) + 1, self._config.max_fails)
        return Barred(barred.reason, due_after_failure(fails, now, self._config), fails)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
