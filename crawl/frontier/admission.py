"""Which found URLs become visits: scope, rules, and guards against endless spaces of URLs (traps), on purpose or not.

Pure: URLs in, visits and the reasons of refusals out. Each bound is far above what pages that people read use.
Sources: Li Xiaoming 2003 (trap guards); Heydon & Najork 1999, section 5.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import inf

from crawl.fetch.address_filter import refuse_port
from crawl.schedule.url_state import Visit
from crawl.scope import EXCLUDES, is_within
from dht import NodeId, split_url


@dataclass(frozen=True, slots=True)
class CrawlDecision:
    """The word of the network's strategy on crawling a URL. `reason` is "" where it is allowed. `min_delay_s`: rest of
    its site; `max_depth`: None for no bound.

    `allowed` is for the whole network; `refused_here` is the wish of one node's operator."""

    allowed: bool
    reason: str = ""
    min_delay_s: float = 0.0
    max_depth: int | None = None
    max_delay_s: float = inf  # up to which slowness alone may raise the rest
    preferred: NodeId | None = None  # the member that a rule names to make the request
    refused_here: str = ""  # why this node will not fetch it itself, "" where it will; the URL stays for others
    rule: int = 0  # the one that decided, from 1; 0: none did


Decide = Callable[[str], CrawlDecision]


OUT_OF_SCOPE = "scope"
MAX_SEGMENTS = 24
MAX_REPEATS = 3  # of one path segment: /a/b/a/b/a/b/a/b/ comes from broken relative links
MAX_PARAMETERS = 12  # more is a faceted search, whose combinations never end
MAX_HOST_LABELS = 10
_REMEMBERED = 8192  # URLs: each is judged when it is found, often by many pages, and when it is fetched


@lru_cache(_REMEMBERED)
def refuse_url(url: str) -> str:
    """Explain why a canonical URL looks like part of a trap, or names no web site; "" where neither."""
    parts = split_url(url)
    if reason := refuse_port(url):
        return f"guard: {reason}"
    if parts.site.count(".") >= MAX_HOST_LABELS:
        return "guard: host name too deep"
    segments = [segment for segment in parts.path.split("/") if segment]
    if len(segments) > MAX_SEGMENTS:
        return "guard: path too deep"
    if len(segments) > MAX_REPEATS and max(Counter(segments).values()) > MAX_REPEATS:
        return "guard: path repeats itself"
    if parts.query.count("&") >= MAX_PARAMETERS:
        return "guard: too many parameters"
    return ""


@dataclass(frozen=True, slots=True)
class Trail:
    """How URLs were found: links left to follow from them, redirects that led to them, and the scope that they keep."""

    depth: int
    hops: int
    scope: str
    is_sitemap: bool = False


def allowed_depth(depth: int, decision: CrawlDecision) -> int:
    """Return how many more links may be followed from a URL that came with `depth`, under the rules' bound."""
    return depth if decision.max_depth is None else min(depth, decision.max_depth)


def refusal_reason(url: str, decision: CrawlDecision) -> str:
    """Explain why a URL may not be crawled, "" where it may."""
    if not decision.allowed:
        return decision.reason or "rules"
    return refuse_url(url)


def admit_urls(urls: Iterable[str], trail: Trail, decide: Decide) -> tuple[list[Visit], list[str]]:
    """Make visits of the URLs that may be crawled, each with the depth left to it; return the others' reasons, too.

    The scope bounds the pages of a list, wherever the list itself is kept."""
    visits: list[Visit] = []
    reasons: list[str] = []
    scope = "".join(trail.scope.partition(EXCLUDES)[1:]) if trail.is_sitemap else trail.scope
    for url in dict.fromkeys(urls):
        if not is_within(scope, url):
            reasons.append(OUT_OF_SCOPE)
            continue
        decision = decide(url)
        if reason := refusal_reason(url, decision):
            reasons.append(reason)
        else:
            depth = allowed_depth(trail.depth, decision)
            visits.append(Visit(url, depth, trail.hops, scope=trail.scope, is_sitemap=trail.is_sitemap))
    return visits, reasons
