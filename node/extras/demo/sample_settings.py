"""Reads how one host of the sample web behaves, the `_site.toml` in its folder; without one it serves files only.

Pure: text in, settings out.
"""

import re
import tomllib
from typing import Literal

import msgspec
from msgspec.structs import replace

from dht import InputError

Trap = Literal["calendar", "hatchline", "facets", "login", "huge", "drip", "bomb"]


class BadSite(InputError):
    """Says that a `_site.toml` cannot be read, where and why."""


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Holds the keys of `_site.toml`; shares and rates are of pages, times by the server's (hurried) clock."""

    front: str = ""  # the page that "/" gives; else index.html, else a listing
    mirror_of: str = ""  # serves that host's files
    families: tuple[int, ...] = ()  # [4], [6] or both; empty: both, or a fixed mix where the server is told to mix
    canonical: str = ""  # host:port named in <link rel=canonical> of each page
    redirects: tuple[tuple[str, str, int], ...] = ()  # (path or prefix*, path or URL with *, status)
    # what is said to robots
    robots: str | None = None  # text of /robots.txt; none: the folder's own robots.txt, else an empty one
    robots_status: int = 200
    sitemap: bool = False
    feed: bool = False
    noindex_share: float = 0.0
    nofollow_share: float = 0.0
    nofollow_links: tuple[str, ...] = ()
    # transport
    latency_ms: tuple[float, float] | None = None  # median, and sigma of its logarithm
    rate_limit: float = 0.0  # requests a second and client; more get 429
    error_rate: float = 0.0
    error_status: tuple[int, ...] = (500, 503)
    retry_after: int = 2
    compress: tuple[str, ...] = ("gzip",)
    validators: tuple[str, ...] = ("etag", "last-modified")
    charset: str = "utf-8"  # bodies are re-encoded to it
    charset_header: str | None = None  # a lie; "" leaves it out; none: the truth
    # change
    churn_per_hour: float = 0.0
    churn_share: float = 1.0
    vanish_per_hour: float = 0.0
    vanish_share: float = 1.0
    vanish_status: int = 404
    date_line: bool = False  # the time in each page: near-duplicates
    # what should not be there
    dead_links: int = 0  # in each page
    session_ids: bool = False
    traps: tuple[Trap, ...] = ()  # entrances in each page

    @property
    def is_steady(self) -> bool:
        """Tell whether a path always gives the same response."""
        changes = self.churn_per_hour or self.vanish_per_hour or self.date_line
        return not (changes or self.error_rate or self.rate_limit or self.session_ids)


def parse_settings(text: str, where: str) -> SiteSettings:
    """Parse a `_site.toml`; raises BadSite, which names `where`."""
    try:
        return msgspec.convert(tomllib.loads(text), SiteSettings)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadSite(f"{where}: {error}") from error


_CRAWL_DELAY = re.compile(r"^[ \t]*crawl-delay[^\n]*\n?", re.IGNORECASE | re.MULTILINE)


def calmed(settings: SiteSettings) -> SiteSettings:
    """Return a host's settings without what makes two visits differ: latency, errors, limits, changes, traps,
    redirects and its Crawl-delay. Its files, charset, compression and the rest of its robots.txt stay."""
    kept = ("front", "mirror_of", "families", "compress", "validators", "charset", "charset_header")
    robots = None if settings.robots is None else _CRAWL_DELAY.sub("", settings.robots)
    return replace(SiteSettings(robots=robots), **{name: getattr(settings, name) for name in kept})
