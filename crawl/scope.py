"""How far a crawl may go from where it began: a short text that travels with each URL found on the way.

Pure: texts in, answers out. Worked out once, where a seed is handed in, so that nodes with different lists of public
suffixes never disagree about it. It is one of these:

- ""                   the whole web
- "example.org"        that host, by any scheme and port
- "*.example.org"      that domain and all below it
- "example.org/docs/"  addresses that begin so, by either scheme

Patterns of what the crawl leaves out may follow any of them: "example.org/#/private/#\\.pdf$" has two in RE2, each
searched in the whole URL. The "/" makes it the narrowest kind of scope, so a crawl that leaves out nothing goes first.
"""

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Literal, get_args
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from crawl.errors import BadExclude
from dht import BadStrategy, Pattern, host_matches

ScopeKind = Literal["host", "domain", "prefix", "whole"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)
MAX_SCOPE_CHARS = 2048  # a prefix is part of a URL
WHOLE = ""
EXCLUDES = "/#"  # begins the patterns of a scope, which "#" separates: no canonical URL has one
MAX_EXCLUDES, MAX_EXCLUDE_CHARS = 16, 200  # patterns of a crawl, and characters of one
ALL_EXCLUDE_CHARS = 1000  # of all together: each found URL carries them
EXCLUDE_MEMORY_BYTES = 1 << 14  # of all together: the slowest that strangers could write took 75 ms for 2,048 bytes
_REMEMBERED = 8192  # URLs: each is judged beside the event loop first (`crawl/pipeline/handoff.py`)
_IN_A_URL = re.compile(r"[!\"$-~]+")


@cache
def public_suffixes() -> PublicSuffixList:
    """Return the list of public suffixes that came with its package. Reading it takes 0.2 s, once."""
    return PublicSuffixList()


def scope_for(kind: ScopeKind, url: str) -> str:
    """Return the scope of a seed, a canonical URL. A prefix reaches to the last "/" of its path; a host that is an
    address, or itself a public suffix, is its own domain."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if kind == "host":
        return host
    if kind == "domain":
        domain = None if _is_address(host) else public_suffixes().privatesuffix(host)
        return f"*.{domain}" if domain else host
    if kind == "prefix":
        return parts.netloc + parts.path[: parts.path.rfind("/") + 1]
    return WHOLE


@lru_cache(10_000)
def domain_of(host: str) -> str:
    """Return the registrable domain of a host, itself where it has none."""
    return host if _is_address(host) else public_suffixes().privatesuffix(host) or host


def is_within(scope: str, url: str) -> bool:
    """Tell whether a canonical URL lies in a scope."""
    if not scope:
        return True
    if "/" in scope:
        if url.partition("://")[2].startswith(scope):
            return True
        bound, _, patterns = scope.partition(EXCLUDES)
        return bool(patterns) and is_within(bound, url) and not _is_excluded(patterns, url)
    return host_matches(scope, urlsplit(url).hostname or "")


def exclusion(patterns: Sequence[str]) -> str:
    """Return the end of a scope that leaves out all URLs that one of some RE2 patterns matches, "" for no pattern.
    Raises BadExclude."""
    if len(patterns) > MAX_EXCLUDES or sum(map(len, patterns)) > ALL_EXCLUDE_CHARS:
        most = f"at most {MAX_EXCLUDES} patterns with {ALL_EXCLUDE_CHARS:,} characters together"
        raise BadExclude(f"{len(patterns):,} patterns, {sum(map(len, patterns)):,} characters", "is too much", most)
    for pattern in patterns:
        if not 0 < len(pattern) <= MAX_EXCLUDE_CHARS:
            remedy = f"a pattern has 1 to {MAX_EXCLUDE_CHARS} characters"
            raise BadExclude(pattern, f"has {len(pattern)} characters", remedy)
        if not _IN_A_URL.fullmatch(pattern):
            remedy = r"write them as the address does, such as %20 for a space"
            raise BadExclude(pattern, "has characters that stand in no address", remedy)
        try:
            Pattern(pattern, EXCLUDE_MEMORY_BYTES)
        except BadStrategy as error:
            raise BadExclude(pattern, error.reason.partition(" ")[2], error.remedy) from None
    return EXCLUDES + "#".join(patterns) if patterns else ""


def leaves_out(scope: str, url: str) -> bool:
    """Tell whether a canonical URL would lie in a scope, and a pattern of it leaves the URL out."""
    bound, _, patterns = scope.partition(EXCLUDES)
    return bool(patterns) and is_within(bound, url) and _is_excluded(patterns, url)


def scope_words(scope: str) -> str:
    """Return a scope as people read it, "" for the whole web."""
    bound, _, patterns = scope.partition(EXCLUDES)
    return f"{bound or 'the whole web'} without {', '.join(patterns.split('#'))}" if patterns else bound


def breadth(scope: str) -> int:
    """Return a number that is greater for wider scopes: prefix 0, host 1, domain 2, whole 3."""
    if not scope:
        return 3
    return 0 if "/" in scope else 2 if scope.startswith("*.") else 1


def scope_after_redirect(scope: str, url: str, target: str) -> str:
    """Return the scope behind a redirect. A site that sends its visitors to its name with "www.", or without, is still
    that site: the scope moves along. Any other redirect leaves it as it is."""
    if EXCLUDES in scope:
        bound, mark, patterns = scope.partition(EXCLUDES)
        moved = scope_after_redirect(bound, url, target) + mark + patterns
        return moved if len(moved) <= MAX_SCOPE_CHARS else scope
    host, other = urlsplit(url).hostname or "", urlsplit(target).hostname or ""
    if other not in (f"www.{host}", host.removeprefix("www.")) or is_within(scope, target):
        return scope
    if "/" in scope:
        moved = urlsplit(target).netloc + scope[scope.index("/") :]
        return moved if scope.startswith(urlsplit(url).netloc + "/") and len(moved) <= MAX_SCOPE_CHARS else scope
    return other if scope == host else scope


@lru_cache(_REMEMBERED)
def _is_excluded(patterns: str, url: str) -> bool:
    """Tell whether patterns match a URL; those of a stranger that are none match all."""
    regex = _compiled(patterns)
    return regex is None or regex.found_in(url)


@lru_cache(64)
def _compiled(patterns: str) -> Pattern | None:
    try:
        return Pattern("|".join(f"(?:{each})" for each in patterns.split("#")), EXCLUDE_MEMORY_BYTES)
    except BadStrategy:
        return None


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
