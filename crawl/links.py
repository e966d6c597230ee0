"""Which found URLs become visits: scope, rules and guards, each refusal with its reason.

Pure: URLs in, visits out.
"""

from collections.abc import Iterable

from crawl.decision import Decide, Decision
from crawl.guards import refuse_url
from crawl.visits import Visit


def scope_of(depth: int, decision: Decision) -> int:
    """How many more links may be followed from a URL, by what it came with and what the rules allow it."""
    return depth if decision.max_depth is None else min(depth, decision.max_depth)


def refusal_of(url: str, decision: Decision, now: float) -> str:
    """Why a URL is not taken, "" where it is. `now`: Unix seconds."""
    if not decision.allowed:
        return decision.reason or "rules"
    return refuse_url(url, now)


def waiting(urls: Iterable[str], depth: int, hops: int, decide: Decide, now: float) -> tuple[list[Visit], list[str]]:
    """Visits for the URLs that may be taken, each with the depth left to it; and the reasons of the others."""
    visits: list[Visit] = []
    reasons: list[str] = []
    for url in dict.fromkeys(urls):
        decision = decide(url)
        if reason := refusal_of(url, decision, now):
            reasons.append(reason)
        else:
            visits.append(Visit(url=url, depth=scope_of(depth, decision), hops=hops))
    return visits, reasons
