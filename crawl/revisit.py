"""When a URL is due again.

Pure: a visit in, an instant out (Unix seconds). The interval that a page has now is `due_at - visited_at` of its last
visit, so its change history needs no field of its own: unchanged pages wait longer, changed ones the base again.
"""

from crawl.config import CrawlConfig
from crawl.visits import State, Visit

_UNCHANGED = 1.5
_BACKOFF = 4.0


def due_after_fetch(visit: Visit, now: float, config: CrawlConfig, *, unchanged: bool) -> float:
    """After 200 or 304, a redirect, or another answer that will hold for a while."""
    interval = config.revisit_s
    if unchanged and visit.state == State.FETCHED:
        interval = max(interval, (visit.due_at - visit.visited_at) * _UNCHANGED)
    return now + min(interval, config.max_revisit_s)


def due_after_refusal(now: float, config: CrawlConfig) -> float:
    """After 404, 410, noindex, or a refusal by robots, rules or guards."""
    return now + config.gone_revisit_s


def due_after_failure(fails: int, now: float, config: CrawlConfig, retry_after_s: float = 0.0) -> float:
    """After the n-th failure in a row (n ≥ 1): exponential, not before the site's own Retry-After."""
    if fails > config.max_fails:
        return now + config.gone_revisit_s
    backoff = config.retry_base_s * _BACKOFF ** (fails - 1)
    return now + min(max(backoff, retry_after_s), config.max_retry_s)
