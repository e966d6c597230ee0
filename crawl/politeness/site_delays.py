"""Decides how long a site is left alone after a request to it.

Pure: values in, seconds out. The delay counts from the end of a request. It is the largest of: our own floor, the
strategy's, the site's Crawl-delay, a multiple of the site's usual latency. Failures double it, errors add half, good
answers take some of that back. Retry-After is obeyed, up to a day. A site that is down is left to its circuit breaker.
Where that has opened again and again, the site is given up: its URLs fail without a request, but for one in a while.
Source: Heydon & Najork 1999 (delay in proportion to the time of the last download); Nygard 2007, Release It!, chapter 5
(circuit breaker).
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from random import Random

from crawl.config import DAY_S, CrawlConfig
from dht import counted

JITTER = 0.25  # of each wait: enough to spread what one broken cable threw together


@dataclass(slots=True)
class CircuitBreaker:
    """Decides when one host may be asked again after it failed to answer.

    *Closed*: requests go as politeness lets them. After so many failures in a row it is *open*: none goes until its
    time is over. Then it is *half-open*: one request goes, since a host never has two open. Its answer closes the
    breaker, or another failure opens it for twice as long. Waits are spread by chance, so that hosts that failed
    together do not return together. `now` is steady time in seconds. `fails`: failures in a row; `opened`: how often it
    has opened in a row; `until`: open so long, steady seconds."""

    fails: int = 0
    opened: int = 0
    until: float = 0.0
    reason: str = ""

    @property
    def is_open(self) -> bool:
        """Tell whether the breaker is open or half-open: the host has not answered since it opened."""
        return self.opened > 0

    def failed(self, now: float, reason: str, most_fails: int, first_s: float, most_s: float, rng: Random) -> float:
        """Count a failure; returns the seconds until the host may be asked again, 0.0 while it stays closed."""
        self.fails, self.reason = self.fails + 1, reason
        if self.fails < most_fails and not self.opened:
            return 0.0
        self.opened = min(self.opened + 1, 30)
        wait_s = min(first_s * 2.0 ** (self.opened - 1), most_s) * rng.uniform(1.0 - JITTER, 1.0)
        self.until = now + wait_s
        return wait_s

    def answered(self) -> None:
        """Close the breaker, because the host has answered."""
        self.fails, self.opened, self.until, self.reason = 0, 0, 0.0, ""


_SMOOTHING = 0.3  # weight of the newest latency
_SLOWER = 2.0  # by a failure, or a site that says it is too much
_WARNED = 1.5  # by an error that may be one page's own
_RELAX = 0.7  # of the factor that errors left, with each good answer: a doubling is undone by two
_LEARN = 0.9  # the same after 429, by seven: a site with a limit is asked about as often as that lets
_MOST_FACTOR = 8.0  # left after a good answer, however bad it was before: undone by six, or twenty
GIVE_UP_AFTER = 8  # times that a breaker opened in a row: by default three hours, the last of which one long wait
_MAX_SITES = 50_000  # what is forgotten is learned again at the floor
DOWN = frozenset((429, 502, 503, 504))  # the known, or what stands before it, cannot: 500 may be one page's own


@dataclass(slots=True)
class _SitePace:
    latency_s: float = 0.0
    factor: float = 1.0  # by which errors slow us down
    relax: float = _RELAX
    crawl_delay_s: float = 0.0
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)


class SiteDelays:
    """Learns from each answer or silence how long its site must rest. Sites are hosts with their ports."""

    def __init__(self, config: CrawlConfig, rng: Random) -> None:
        self._config, self._rng = config, rng
        self._sites: OrderedDict[str, _SitePace] = OrderedDict()
        self._broken: dict[str, CircuitBreaker] = {}  # open breakers, of sites in `_sites`

    def set_crawl_delay(self, site: str, crawl_delay_s: float) -> None:
        """Take over the Crawl-delay of a site's robots.txt, in seconds (0: none)."""
        self._site(site).crawl_delay_s = min(crawl_delay_s, self._config.max_crawl_delay_s)

    def after_answer(
        self, site: str, latency_s: float, floor_s: float, retry_after_s: float = 0.0, most_s: float = inf
    ) -> float:
        """Return the seconds to rest after a response that shows no overload.

        `floor_s` is the strategy's minimum, `most_s` the most that it lets latency alone ask for.
        """
        known = self._answered(site)
        known.factor = max(1.0, min(known.factor, _MOST_FACTOR) * known.relax)
        known.relax = known.relax if known.factor > 1.0 else _RELAX
        known.latency_s += (latency_s - known.latency_s) * (_SMOOTHING if known.latency_s else 1.0)
        return max(self._slowed(known, floor_s, self._config.max_delay_s, most_s), min(retry_after_s, DAY_S))

    def after_error(self, site: str, floor_s: float, retry_after_s: float = 0.0) -> float:
        """Return the seconds to rest after a response that says that the site could not answer this URL: 408, 500…"""
        known = self._answered(site)
        known.factor = min(_WARNED * known.factor, _MOST_FACTOR)
        return max(self._slowed(known, floor_s, self._config.max_delay_s), min(retry_after_s, DAY_S))

    def after_failure(
        self, site: str, now: float, reason: str, floor_s: float, retry_after_s: float = 0.0, *, limited: bool = False
    ) -> float:
        """Return the seconds to rest after no response, or one of DOWN. `now`: steady; `limited`: it was 429."""
        known, config = self._site(site), self._config
        known.relax = _LEARN if limited else known.relax
        known.factor = min(_SLOWER * known.factor, 2.0**16)
        delay_s = self._slowed(known, floor_s, config.max_error_delay_s)
        most_s = config.max_error_delay_s
        broken_s = known.breaker.failed(now, reason, config.breaker_fails, config.breaker_s, most_s, self._rng)
        if known.breaker.is_open:
            self._broken[site] = known.breaker
        if known.breaker.opened >= GIVE_UP_AFTER:
            return config.min_delay_s  # no turn leads to a request until the breaker's time is over
        return max(delay_s, broken_s, min(retry_after_s, DAY_S))

    def usual(self, site: str, floor_s: float) -> float:
        """Return the seconds that a site rests after a request of which nothing is known."""
        return self._slowed(self._site(site), floor_s, self._config.max_delay_s)

    def given_up_reason(self, site: str, now: float) -> str:
        """Return why a site's URLs fail at once instead of waiting for their turns, "" where they do not.

        `now`: steady seconds."""
        breaker = self._broken.get(site)
        return self.breaker_reason(site) if breaker and breaker.opened >= GIVE_UP_AFTER and now < breaker.until else ""

    def breaker_reason(self, site: str) -> str:
        """Return why a site is asked only once in a while, "" for one that answers."""
        breaker = self._broken.get(site)
        return f"{counted(breaker.fails, 'request')} in a row failed, last: {breaker.reason}" if breaker else ""

    def broken_sites(self) -> Iterator[str]:
        """Iterate over the sites that are asked only once in a while, those that failed last at the end."""
        return iter(self._broken)

    def _answered(self, site: str) -> _SitePace:
        known = self._site(site)
        known.breaker.answered()
        self._broken.pop(site, None)
        return known

    def _slowed(self, known: _SitePace, floor_s: float, most_s: float, most_latency_s: float = inf) -> float:
        config = self._config
        adaptive = min(known.latency_s * config.latency_factor, config.max_delay_s, most_latency_s)
        base_s = max(config.min_delay_s, floor_s, adaptive, known.crawl_delay_s)
        return max(base_s, min(base_s * known.factor, most_s))

    def _site(self, site: str) -> _SitePace:
        known = self._sites.setdefault(site, _SitePace())
        self._sites.move_to_end(site)
        if len(self._sites) > _MAX_SITES:
            self._broken.pop(self._sites.popitem(last=False)[0], None)
        return known
