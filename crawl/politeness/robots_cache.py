"""Keeps the robots.txt of each site: it is fetched once, kept for a day, and asked before every fetch.

RFC 9309, 2.3: redirects are followed (5). 4xx means that everything is allowed, 5xx and silence that nothing is until
the site answers. In the meantime earlier rules stay in force. 429 counts as 5xx: it says nothing about rules. Each call
of `ask` makes one request, so that a redirect waits for a turn of the host that it leads to.
"""

import asyncio
import dataclasses
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from crawl.canonical_url import literal_url
from crawl.config import CrawlConfig
from crawl.errors import AddressDenied, AddressRefused, FetchDeclined, FetchFailed
from crawl.fetch.chain_cookies import ChainCookies
from crawl.fetch.response import BodyShort, Fetched, Fetcher
from crawl.politeness.robots import ALLOW_ALL, Robots, parse_robots
from crawl.schedule.revisit_policy import due_after_failure
from dht import Clock, split_url

MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
MAX_RULES = 250_000  # kept of all sites together, 200 bytes each; the sites asked longest ago are forgotten first
MANY_BYTES = 65_536  # above, reading takes more than the event loop should: 25 ms; 99.9 % of robots.txt are smaller
_REDIRECTS = frozenset((301, 302, 303, 307, 308))


@dataclass(frozen=True, slots=True)
class RobotsUnreachable:
    """Says that a site's rules could not be had: nothing is fetched there until `until` (Unix seconds)."""

    reason: str
    until: float
    fails: int
    for_good: bool = False  # its address is one that must not be contacted
    has_answered: bool = False  # the site did, though in a way that cannot be read


Access = Robots | RobotsUnreachable


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """Tells what one request for robots.txt brought: the rules, None where it was redirected, and the response."""

    access: Access | None
    response: Fetched | None
    reason: str = ""  # why there is no response
    has_answered: bool = False  # though it cannot be read
    is_news: bool = False  # whether the rules are others than those known before,
    were_known: bool = False  # if any were


@dataclass(frozen=True, slots=True)
class _Redirect:
    """Where the redirects of a site's robots.txt have led so far."""

    url: str  # as it was written
    hops: int
    cookies: ChainCookies

    @property
    def request(self) -> tuple[str, str]:
        """The URL to ask for, and the Cookie field."""
        return self.url, self.cookies.field(self.url)


class RobotsCache:
    """Keeps rules by origin (scheme and site), and asks for those that it does not have."""

    def __init__(self, config: CrawlConfig, fetcher: Fetcher, clock: Clock) -> None:
        self._config, self._fetcher, self._clock = config, fetcher, clock
        self._kept: OrderedDict[str, tuple[float, Access]] = OrderedDict()  # origin: (until wall, rules)
        self._rules = 0  # of all sites together
        self._redirects: OrderedDict[str, _Redirect] = OrderedDict()

    def barred_sites(self) -> Iterator[str]:
        """Iterate over the sites whose rules cannot be had."""
        now = self._clock().wall
        for origin, (until, access) in self._kept.items():
            if until > now and isinstance(access, RobotsUnreachable):
                yield origin.partition("://")[2]

    def find(self, url: str) -> Access | None:
        """Return what is known and still fresh of a URL's site; None where `ask` has to find out."""
        origin = _origin(url)
        until, access = self._kept.get(origin, (0.0, None))
        if until > self._clock().wall:
            return access
        redirect = self._redirects.get(origin)
        if redirect is None or not _is_robots(redirect.url):
            return None
        until, found = self._kept.get(_origin(redirect.url), (0.0, None))
        if isinstance(found, Robots) and until > self._clock().wall:  # it was read in the meantime
            self._keep(origin, until, found)
            return found
        return None

    def next_url(self, url: str) -> str:
        """Return the URL that the next `ask` will request for a URL's site: its robots.txt, or where that redirects."""
        origin = _origin(url)
        redirect = self._redirects.get(origin)
        return redirect.url if redirect else f"{origin}/robots.txt"

    async def ask(self, url: str) -> RobotsAnswer:
        """Make one request for the robots.txt of a URL's site, and keep what it says. Raises FamilyMissing,
        AddressDenied and FetchDeclined, which say nothing of the site."""
        origin = _origin(url)
        before = self._kept.get(origin, (0.0, None))[1]
        redirect = self._redirects.pop(origin, None) or _Redirect(f"{origin}/robots.txt", 0, ChainCookies())
        access, response = await self._request(redirect, before)
        if access is None and response is not None:
            access = self._follow_redirect(origin, redirect, response)
        if access is None:
            return RobotsAnswer(self.find(url), response)
        reason = access.reason if isinstance(access, RobotsUnreachable) else ""
        has_answered = isinstance(access, RobotsUnreachable) and access.has_answered
        if isinstance(access, RobotsUnreachable):
            access = self._unreachable(access, before, response)
        is_news, now = isinstance(access, Robots) and access != before, self._clock().wall
        until = access.until if isinstance(access, RobotsUnreachable) else now + self._config.robots_ttl_s
        if isinstance(access, Robots) and access is before:  # the old rules serve on, but not for another day
            until = now + self._config.retry_base_s
        elif isinstance(access, Robots) and _is_robots(redirect.url):
            self._keep(_origin(redirect.url), until, access)
        self._keep(origin, until, access)
        return RobotsAnswer(access, response, reason, has_answered, is_news, isinstance(before, Robots))

    def give_up_redirect(self, url: str) -> None:
        """Treat the redirect of a site's robots.txt as if it led nowhere, because nobody may go there."""
        self._keep(_origin(url), self._clock().wall + self._config.robots_ttl_s, ALLOW_ALL)

    async def _request(self, redirect: _Redirect, before: Access | None) -> tuple[Access | None, Fetched | None]:
        """Make one request; returns no rules where it is redirected, no response where there is none. A file that ends
        early is read where it does so again."""
        url, cookie = redirect.request
        try:
            most = self._config.max_robots_bytes
            response = (await self._fetcher.fetch(url, {"Cookie": cookie} if cookie else {}, most)).opened(most)
        except (AddressDenied, FetchDeclined) as error:
            if not redirect.hops:  # the site's own
                raise
            return RobotsUnreachable(f"robots.txt leads to where nobody asks: {error}", 0.0, 0, for_good=True), None
        except AddressRefused as error:
            return RobotsUnreachable(f"address: {error.reason}", 0.0, 0, for_good=True), None
        except FetchFailed as error:
            if not isinstance(error, BodyShort) or not isinstance(before, RobotsUnreachable):
                reason = f"robots.txt unreachable: {error.reason}"
                return RobotsUnreachable(reason, 0.0, 0, has_answered=error.has_answered), None
            response = replace(error.fetched.opened(most), cut=True)
        if response.status in _REDIRECTS:
            return None, response
        return await self._read(response), response

    def _follow_redirect(self, origin: str, redirect: _Redirect, response: Fetched) -> Access | None:
        """Remember where a redirect leads; returns rules where it leads nowhere, which is as good as no robots.txt."""
        target = literal_url(response.header("Location").strip(), redirect.url)
        before = redirect.request
        redirect.cookies.take(redirect.url, response.headers, self._clock().wall)
        if target is None or redirect.hops >= MAX_REDIRECTS or (target, redirect.cookies.field(target)) == before:
            return ALLOW_ALL
        self._redirects[origin] = _Redirect(target, redirect.hops + 1, redirect.cookies)
        if len(self._redirects) > self._config.max_robots_hosts:
            self._redirects.popitem(last=False)
        return None

    def _keep(self, origin: str, until: float, access: Access) -> None:
        self._redirects.pop(origin, None)
        self._drop(origin)
        self._kept[origin] = (until, access)
        self._rules += _size(access)
        while len(self._kept) > self._config.max_robots_hosts or (self._rules > MAX_RULES and len(self._kept) > 1):
            self._drop(next(iter(self._kept)))

    def _drop(self, origin: str) -> None:
        _, access = self._kept.pop(origin, (0.0, ALLOW_ALL))
        self._rules -= _size(access)

    async def _read(self, response: Fetched) -> Access:
        if response.status == 429 or response.status >= 500:
            return RobotsUnreachable(f"robots.txt unreachable: status {response.status}", 0.0, 0)
        if not response.is_success:
            return ALLOW_ALL
        body = response.body
        if response.cut:  # the last line is not what the site wrote
            body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
        args = body, self._config.agent, self._config.max_sitemaps
        if len(body) <= MANY_BYTES:
            return parse_robots(*args)
        return await asyncio.get_running_loop().run_in_executor(None, parse_robots, *args)

    def _unreachable(self, unreachable: RobotsUnreachable, before: Access | None, response: Fetched | None) -> Access:
        """Return what holds while robots.txt cannot be had: the old rules serve on; without them nothing is fetched.

        That lasts longer after each failure, and not less than Retry-After."""
        if isinstance(before, Robots) and not unreachable.for_good:
            return before
        now = self._clock().wall
        if unreachable.for_good:
            return RobotsUnreachable(unreachable.reason, now + self._config.robots_ttl_s, 0, for_good=True)
        fails = min((before.fails if isinstance(before, RobotsUnreachable) else 0) + 1, self._config.max_fails)
        wait_s = response.retry_after_s(now) if response else 0.0
        return dataclasses.replace(unreachable, until=due_after_failure(fails, now, self._config, wait_s), fails=fails)


def _origin(url: str) -> str:
    parts = split_url(url)
    return f"{parts.scheme}://{parts.site}"


def _is_robots(url: str) -> bool:
    return url == f"{_origin(url)}/robots.txt"


def _size(access: Access) -> int:
    if isinstance(access, RobotsUnreachable):
        return 1
    return 1 + len(access.rules) + (0 if access.decoded is access.rules else len(access.decoded))
