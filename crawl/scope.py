"""How far a crawl may go from where it began: a short text that travels with each URL found on the way.

Pure: texts in, answers out. Worked out once, where a seed is handed in, so that nodes with different lists of public
suffixes never disagree about it. One of
- ""                   the whole web
- "example.org"        that host, by any scheme and port
- "*.example.org"      that domain and all below it
- "example.org/docs/"  addresses that begin so, by either scheme
"""

from functools import cache, lru_cache
from ipaddress import ip_address
from typing import Literal, get_args
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from dht import host_matches

ScopeKind = Literal["host", "domain", "prefix", "whole"]
SCOPE_KINDS: tuple[ScopeKind, ...] = get_args(ScopeKind)
MAX_SCOPE_CHARS = 2048  # a prefix is part of a URL
WHOLE = ""


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
        return url.partition("://")[2].startswith(scope)
    return host_matches(scope, urlsplit(url).hostname or "")


def breadth(scope: str) -> int:
    """Return a number that is greater for wider scopes: prefix 0, host 1, domain 2, whole 3."""
    if not scope:
        return 3
    return 0 if "/" in scope else 2 if scope.startswith("*.") else 1


def scope_after_redirect(scope: str, url: str, target: str) -> str:
    """Return the scope behind a redirect. A site that sends its visitors to its name with "www.", or without, is still
    that site: the scope moves along. Any other redirect leaves it as it is."""
    host, other = urlsplit(url).hostname or "", urlsplit(target).hostname or ""
    if other not in (f"www.{host}", host.removeprefix("www.")) or is_within(scope, target):
        return scope
    if "/" in scope:
        moved = urlsplit(target).netloc + scope[scope.index("/") :]
        return moved if scope.startswith(urlsplit(url).netloc + "/") and len(moved) <= MAX_SCOPE_CHARS else scope
    return other if scope == host else scope


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
