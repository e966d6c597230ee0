"""When a URL is due again.

Pure: a visit in, an instant out (Unix seconds). Pages wait by the pace for their change rate (revisit_policy.py,
change_rate.py), whatever else was answered by fixed times.
"""

from crawl.config import CrawlConfig
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit

_BACKOFF = 4.0


def due_after_fetch(visit: Visit, now: float, statistics: RevisitStatistics) -> float:
    """Return when a page is due whose content was just seen; its history knows that already."""
    return now + statistics.pace().interval_s(statistics.rate(visit))


def due_after_redirect(now: float, config: CrawlConfig) -> float:
    """Return when a URL is due after a redirect, or another answer that will hold for a while."""
    return now + config.revisit_s


def due_after_refusal(now: float, config: CrawlConfig) -> float:
    """Return when a URL is due after 404, 410, noindex, or a refusal by robots, rules or guards."""
    return now + config.gone_revisit_s


def due_after_failure(fails: int, now: float, config: CrawlConfig, retry_after_s: float = 0.0) -> float:
    """Return when a URL is due after the n-th failure in a row (n ≥ 1): exponential, not before its Retry-After."""
    if fails > config.max_fails:
        return now + config.gone_revisit_s
    backoff = config.retry_base_s * _BACKOFF ** (fails - 1)
    return now + min(max(backoff, retry_after_s), config.max_retry_s)
