"""How long a host is left alone after a request.

Pure: values in, seconds out. The delay counts from the end of a request. It is the largest of: our own floor, the
strategy's, the site's Crawl-delay, a multiple of the site's usual latency; each failure in a row doubles it;
Retry-After is obeyed. Source: Heydon & Najork 1999 (delay in proportion to the time of the last download).
"""

from collections import OrderedDict
from dataclasses import dataclass
from math import inf

from crawl.config import DAY_S, CrawlConfig

_SMOOTHING = 0.3  # weight of the newest latency
_MAX_HOSTS = 50_000  # what is forgotten is learned again at the floor


@dataclass(slots=True)
class _Host:
    latency_s: float = 0.0
    errors: int = 0
    crawl_delay_s: float = 0.0


class Politeness:
    """What was learned about each host."""

    def __init__(self, config: CrawlConfig) -> None:
        self._config = config
        self._hosts: OrderedDict[str, _Host] = OrderedDict()

    def asked_delay(self, site: str, crawl_delay_s: float) -> None:
        """The site's robots.txt names a delay (0: none)."""
        self._host(site).crawl_delay_s = min(crawl_delay_s, self._config.max_crawl_delay_s)

    def after_answer(
        self, site: str, latency_s: float, floor_s: float, retry_after_s: float = 0.0, most_s: float = inf
    ) -> float:
        """Seconds to rest after a response that shows no overload; `floor_s` is the strategy's minimum, `most_s` the
        most that it lets latency alone ask for."""
        host = self._host(site)
        host.errors = 0
        host.latency_s += (latency_s - host.latency_s) * (_SMOOTHING if host.latency_s else 1.0)
        return max(self._base(host, floor_s, most_s), min(retry_after_s, DAY_S))

    def after_failure(self, site: str, floor_s: float, retry_after_s: float = 0.0) -> float:
        """Seconds to rest after no response, 429 or 5xx."""
        host = self._host(site)
        host.errors = min(host.errors + 1, 16)
        delay = min(self._base(host, floor_s) * 2.0**host.errors, self._config.max_error_delay_s)
        return max(delay, host.crawl_delay_s, min(retry_after_s, DAY_S))

    def _base(self, host: _Host, floor_s: float, most_s: float = inf) -> float:
        config = self._config
        adaptive = min(host.latency_s * config.latency_factor, config.max_delay_s, most_s)
        return max(config.min_delay_s, floor_s, adaptive, host.crawl_delay_s)

    def _host(self, site: str) -> _Host:
        host = self._hosts.setdefault(site, _Host())
        self._hosts.move_to_end(site)
        if len(self._hosts) > _MAX_HOSTS:
            self._hosts.popitem(last=False)
        return host
