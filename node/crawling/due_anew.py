"""Says which URLs are due though their last outcome says otherwise: their page was taken back, or is allowed again.

Pure: visits in, visits out. What is returned is what this node's frontier goes by; the next outcome is written as
always.
"""

from collections.abc import Callable

from msgspec.structs import replace

from crawl import Visit, VisitState, forgotten
from node.crawling.strategy_policy import RULE
from store import REMOVED

SETTLED_S = 60.0  # a page that was fetched later may still be on its way to this owner


def as_due(visit: Visit, *, has_page: bool, is_allowed: Callable[[str], bool]) -> Visit:
    """Return a visit, due at once and in full where it says that a page is stored and none is (`has_page`), due at once
    where a rule refused it and the rules allow it now."""
    if visit.state == VisitState.REFUSED and visit.reason.startswith((RULE, REMOVED)) and is_allowed(visit.url):
        return replace(visit, due_at=0.0)
    if has_page or not visit.history.fingerprint or visit.is_sitemap:
        return visit
    if visit.state == VisitState.FETCHED:
        return replace(forgotten(visit), state=VisitState.WAITING, due_at=0.0)
    return forgotten(visit)


def as_doubted(visit: Visit) -> Visit:
    """Return an outcome, due at once and in full, of which nothing is believed but that its URL was found."""
    return replace(forgotten(visit), state=VisitState.WAITING, due_at=0.0)


def is_other(visit: Visit, *, is_allowed: Callable[[str], bool]) -> bool:
    """Tell whether a site's owner removed the page that a visit says is stored, or lets the URL be fetched again."""
    if visit.reason.startswith(REMOVED):
        return is_allowed(visit.url)
    return bool(visit.history.fingerprint) and not is_allowed(visit.url)
