"""How long a host is left alone after a request.

Pure: values in, seconds out. The delay counts from the end of a request. It is the largest of: our own floor, the
strategy's, the site's Crawl-delay, a multiple of the site's usual latency. Failures double it, errors add half, good
answers take some of that back. Retry-After is obeyed, up to a day. A host that is down is left to its breaker; where
that has opened again and again the host is given up: its URLs fail without a request, but for one in a while.
Source: Heydon & Najork 1999 (delay in proportion to the time of the last download).
"""

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf
from random import Random

from crawl.config import DAY_S, CrawlConfig
from crawl.politeness.circuit_breaker import CircuitBreaker

_SMOOTHING = 0.3  # weight of the newest latency
_SLOWER = 2.0  # by a failure, or a site that says it is too much
_WARNED = 1.5  # by an error that may be one page's own
_RELAX = 0.7  # of the factor that errors left, with each good answer: a doubling is undone by two
_LEARN = 0.9  # the same after 429, by seven: a site with a limit is asked about as often as that lets
_MOST_FACTOR = 8.0  # left after a good answer, however bad it was before: undone by six, or twenty
GIVE_UP_AFTER = 8  # times that a breaker opened in a row: by default three hours, the last of which one long wait
_MAX_HOSTS = 50_000  # what is forgotten is learned again at the floor
DOWN = frozenset((429, 502, 503, 504))  # the host, or what stands before it, cannot: 500 may be one page's own


@dataclass(slots=True)
class _Host:
    latency_s: float = 0.0
    factor: float = 1.0  # by which errors slow us down
    relax: float = _RELAX
    crawl_delay_s: float = 0.0
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)


class HostDelays:
    """What was learned about each host."""

    def __init__(self, config: CrawlConfig, rng: Random) -> None:
        self._config, self._rng = config, rng
        self._hosts: OrderedDict[str, _Host] = OrderedDict()
        self._broken: dict[str, CircuitBreaker] = {}  # open breakers, of hosts in `_hosts`

    def set_crawl_delay(self, site: str, crawl_delay_s: float) -> None:
        """The site's robots.txt names a delay (0: none)."""
        self._host(site).crawl_delay_s = min(crawl_delay_s, self._config.max_crawl_delay_s)

    def after_answer(
        self, site: str, latency_s: float, floor_s: float, retry_after_s: float = 0.0, most_s: float = inf
    ) -> float:
        """Seconds to rest after a response that shows no overload; `floor_s` is the strategy's minimum, `most_s` the
        most that it lets latency alone ask for."""
        host = self._answered(site)
        host.factor = max(1.0, min(host.factor, _MOST_FACTOR) * host.relax)
        host.relax = host.relax if host.factor > 1.0 else _RELAX
        host.latency_s += (latency_s - host.latency_s) * (_SMOOTHING if host.latency_s else 1.0)
        return max(self._slowed(host, floor_s, self._config.max_delay_s, most_s), min(retry_after_s, DAY_S))

    def after_error(self, site: str, floor_s: float, retry_after_s: float = 0.0) -> float:
        """Seconds to rest after a response that says that the site could not, for this URL at least: 408, 500…"""
        host = self._answered(site)
        host.factor = min(_WARNED * host.factor, _MOST_FACTOR)
        return max(self._slowed(host, floor_s, self._config.max_delay_s), min(retry_after_s, DAY_S))

    def after_failure(
        self, site: str, now: float, reason: str, floor_s: float, retry_after_s: float = 0.0, *, limited: bool = False
    ) -> float:
        """Seconds to rest after no response, or one of DOWN. `now`: steady seconds; `limited`: it was 429."""
        host, config = self._host(site), self._config
        host.relax = _LEARN if limited else host.relax
        host.factor = min(_SLOWER * host.factor, 2.0**16)
        delay_s = self._slowed(host, floor_s, config.max_error_delay_s)
        most_s = config.max_error_delay_s
        broken_s = host.breaker.failed(now, reason, config.breaker_fails, config.breaker_s, most_s, self._rng)
        if host.breaker.is_open:
            self._broken[site] = host.breaker
        if host.breaker.opened >= GIVE_UP_AFTER:
            return config.min_delay_s  # no turn leads to a request until the breaker's time is over
        return max(delay_s, broken_s, min(retry_after_s, DAY_S))

    def given_up_reason(self, site: str, now: float) -> str:
        """Why a host is not asked before a longer while has passed, and its URLs need not wait for their turns; ""
        where it may be. `now`: steady seconds."""
        breaker = self._broken.get(site)
        return self.breaker_reason(site) if breaker and breaker.opened >= GIVE_UP_AFTER and now < breaker.until else ""

    def breaker_reason(self, site: str) -> str:
        """Why a host is asked once in a while alone, "" for one that answers."""
        breaker = self._broken.get(site)
        return f"{breaker.fails} requests in a row failed, last: {breaker.reason}" if breaker else ""

    def broken_sites(self) -> Iterator[str]:
        """Hosts that are asked once in a while alone, those that failed last at the end."""
        return iter(self._broken)

    def _answered(self, site: str) -> _Host:
        host = self._host(site)
        host.breaker.answered()
        self._broken.pop(site, None)
        return host

    def _slowed(self, host: _Host, floor_s: float, most_s: float, most_latency_s: float = inf) -> float:
        config = self._config
        adaptive = min(host.latency_s * config.latency_factor, config.max_delay_s, most_latency_s)
        base_s = max(config.min_delay_s, floor_s, adaptive, host.crawl_delay_s)
        return max(base_s, min(base_s * host.factor, most_s))

    def _host(self, site: str) -> _Host:
        host = self._hosts.setdefault(site, _Host())
        self._hosts.move_to_end(site)
        if len(self._hosts) > _MAX_HOSTS:
            self._broken.pop(self._hosts.popitem(last=False)[0], None)
        return host
