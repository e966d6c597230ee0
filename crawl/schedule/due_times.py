"""When a URL is due again.

Pure: a visit in, an instant out (Unix seconds). Pages wait by the pace for their change rate (pace.py, changerate.py),
whatever else was answered by fixed times.
"""

from crawl.config import CrawlConfig
from crawl.schedule.revisit_policy import RevisitStatistics
from crawl.schedule.url_state import Visit

_BACKOFF = 4.0


def due_after_look(visit: Visit, now: float, census: RevisitStatistics) -> float:
    """After a look at a page's content, which is in the visit's history already."""
    return now + census.pace().interval_s(census.rate(visit))


def due_after_redirect(now: float, config: CrawlConfig) -> float:
    """After a redirect, or another answer that will hold for a while."""
    return now + config.revisit_s


def due_after_refusal(now: float, config: CrawlConfig) -> float:
    """After 404, 410, noindex, or a refusal by robots, rules or guards."""
    return now + config.gone_revisit_s


def due_after_failure(fails: int, now: float, config: CrawlConfig, retry_after_s: float = 0.0) -> float:
    """After the n-th failure in a row (n ≥ 1): exponential, not before the site's own Retry-After."""
    if fails > config.max_fails:
        return now + config.gone_revisit_s
    backoff = config.retry_base_s * _BACKOFF ** (fails - 1)
    return now + min(max(backoff, retry_after_s), config.max_retry_s)
