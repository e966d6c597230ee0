"""Which found URLs become visits: scope, rules and guards, each refusal with its reason.

Pure: URLs in, visits out.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from crawl.decision import Decide, Decision
from crawl.guards import refuse_url
from crawl.scope import is_within
from crawl.visits import Visit

OUT_OF_SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Trail:
    """How URLs were found: links left to follow from them, redirects that led to them, and the scope that they keep."""

    depth: int
    hops: int
    scope: str
    is_sitemap: bool = False


def depth_of(depth: int, decision: Decision) -> int:
    """How many more links may be followed from a URL, by what it came with and what the rules allow it."""
    return depth if decision.max_depth is None else min(depth, decision.max_depth)


def refusal_of(url: str, decision: Decision, now: float) -> str:
    """Why a URL is not taken, "" where it is. `now`: Unix seconds."""
    if not decision.allowed:
        return decision.reason or "rules"
    return refuse_url(url, now)


def waiting(urls: Iterable[str], trail: Trail, decide: Decide, now: float) -> tuple[list[Visit], list[str]]:
    """Visits for the URLs that may be taken, each with the depth left to it; and the reasons of the others."""
    visits: list[Visit] = []
    reasons: list[str] = []
    for url in dict.fromkeys(urls):
        if not is_within(trail.scope, url):
            reasons.append(OUT_OF_SCOPE)
            continue
        decision = decide(url)
        if reason := refusal_of(url, decision, now):
            reasons.append(reason)
        else:
            depth = depth_of(trail.depth, decision)
            visits.append(Visit(url, depth, trail.hops, scope=trail.scope, is_sitemap=trail.is_sitemap))
    return visits, reasons
