"""One look at a page of another author: by this node itself, in a turn of the site, as a crawler fetches a new page.

Nothing in the requests tells the site that they are second looks, and no other node is told which page is looked at.
"""

import logging
from collections.abc import Callable

from crawl import (
    AddressRefused,
    CrawlConfig,
    Fetched,
    Fetcher,
    FetchFailed,
    FindElsewhere,
    FindWay,
    PageUnreadable,
    Parsers,
    Robots,
    RobotsCache,
    parse_task_of,
)
from dht import Clock, site_of
from node.audit.site_turns import LentTurn, SiteTurns

LOOK = 2.0  # fetches that a look may take: robots.txt, and the page
PAGE = 2 * LOOK
BURST = 8.0  # fetches saved up at most


class LookBudget:
    """Counts how many fetches this node may make for second looks: a share of its own. A page is paid for whole: the
    first look, and the one that may have to confirm it."""

    def __init__(self) -> None:
        self._credit, self._fetched = 0.0, 0

    def earn(self, fetched: int, share: float) -> None:
        """Take note of all fetches that this node has made for itself so far."""
        self._credit = min(BURST, self._credit + share * max(0, fetched - self._fetched))
        self._fetched = fetched

    def take_page(self) -> bool:
        """Pay for the two looks at a page, where there is so much. `settle` must follow twice."""
        if self._credit < PAGE:
            return False
        self._credit -= PAGE
        return True

    def take_look(self) -> None:
        """Pay for one look that the owner asked for, be it by debt. `settle` must follow."""
        self._credit -= LOOK

    def settle(self, made: int) -> None:
        """Take note that a look took so many fetches, 0 where it was not made."""
        self._credit += LOOK - made


log = logging.getLogger(__name__)
REQUESTS = 3  # for one look: robots.txt, where that leads at the same site, the page
TURN_WITHIN_S = 300.0  # for a turn of the site


class SecondLook:
    """Looks at pages. `refusal` says why this node must not fetch a URL now, "" where it may."""

    def __init__(
        self,
        config: CrawlConfig,
        fetcher: Fetcher,
        elsewhere: FindElsewhere,
        find_way: FindWay,
        parsers: Parsers,
        turns: SiteTurns,
        may_fetch: Callable[[str], bool],
        clock: Clock,
    ) -> None:
        self._config, self._fetcher, self._elsewhere, self._find_way = config, fetcher, elsewhere, find_way
        self._parsers, self._turns = parsers, turns
        self.budget, self._may_fetch, self._clock = LookBudget(), may_fetch, clock
        self._robots = RobotsCache(config, fetcher, clock)
        self.fetches = 0  # requests made for second looks, robots.txt among them
        self.without_turn = 0  # looks given up because nobody lent a turn

    async def observe(self, url: str) -> bytes:
        """Look at a page, for which the budget gave one look; return the signature of its main text, b"" where nothing
        was read. Raises FamilyMissing where the page's site has only a family of address that this machine has not; no
        turn of the site is asked for then."""
        made = 0
        try:
            if (told := await self._elsewhere(url)) is not None:
                return await self._read(told)
            while made < REQUESTS and self._may(url):
                await self._find_way(url)
                turn = await self._turns.acquire(site_of(url), TURN_WITHIN_S)
                if turn is None:
                    self.without_turn += 1
                    return b""
                made += 1
                if (fetched := await self._request(url, turn)) is not None:
                    return await self._read(fetched)
        except (AddressRefused, FetchFailed, PageUnreadable) as error:
            log.debug("second look read nothing url=%s reason=%s", url, error)
        finally:
            self.budget.settle(made)
        return b""

    def _may(self, url: str) -> bool:
        """Whether this node may fetch a URL, or the rules of its site where it does not know them yet."""
        access = self._robots.find(url)
        if access is None:  # rules that lie elsewhere are left to the site's crawler
            is_open = site_of(self._robots.next_url(url)) == site_of(url)
        else:
            is_open = isinstance(access, Robots) and access.allows(url)
        return is_open and self._may_fetch(url)

    async def _request(self, url: str, turn: LentTurn) -> Fetched | None:
        """Make the request that a turn is for; None where that was for the site's rules. Raises what the fetcher
        does."""
        self.fetches += 1
        log.info("second look url=%s", self._robots.next_url(url) if self._robots.find(url) is None else url)
        rest_s = self._config.min_delay_s
        try:
            if self._robots.find(url) is None:
                asked = await self._robots.ask(url)
                rest_s = max(self._rest(asked.response), self._asked_for(asked.access))
                return None
            fetched = await self._fetcher.fetch(url, {}, self._config.max_body_bytes)
            rest_s = self._rest(fetched)
            return fetched
        finally:
            await self._turns.release(turn, rest_s)

    def _asked_for(self, access: object) -> float:
        wanted_s = access.crawl_delay_s if isinstance(access, Robots) else 0.0
        return min(wanted_s, self._config.max_crawl_delay_s)

    def _rest(self, fetched: Fetched | None) -> float:
        if fetched is None:
            return self._config.min_delay_s
        adaptive_s = min(fetched.latency_s * self._config.latency_factor, self._config.max_delay_s)
        return max(self._config.min_delay_s, adaptive_s, fetched.retry_after_s(self._clock().wall))

    async def _read(self, fetched: Fetched) -> bytes:
        if fetched.status != 200 or fetched.cut:
            return b""
        return (await self._parsers.parse(parse_task_of(fetched, self._config))).signature
