"""The state of one URL, which a crawler knows without asking anybody: where it waits, and what stands before its fetch.

Pure: values only. The holder of a URL's slot tells them to whoever asks why a page was not fetched.
"""

from dataclasses import dataclass
from enum import IntEnum


class UrlStage(IntEnum):
    """Where a URL is at its holder; the number is on the wire."""

    UNKNOWN = 0  # in no slot held here, or never heard of
    LATER = 1  # known; its due time has not come
    READY = 2  # waits for its site's turn
    OPEN = 3  # being fetched, read or handed over


class RobotsAccess(IntEnum):
    """The word of robots.txt on a URL; the number is on the wire."""

    UNKNOWN = 0  # not read lately: it is asked first
    ALLOWED = 1
    DISALLOWED = 2
    BARRED = 3  # it could not be read, so nothing is fetched


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """A URL's place in the frontier. `ahead`: URLs of its site before it, counted up to a bound; `site_rest_s`: until
    the site may be asked again; `is_site_open`: a request to the site is under way."""

    stage: UrlStage = UrlStage.UNKNOWN
    ahead: int = 0
    site_rest_s: float = 0.0
    is_site_open: bool = False


@dataclass(frozen=True, slots=True)
class UrlStatus:
    """A URL's position and everything that stands before its fetch; each reason is "" where there is none.

    `robots_why`: why the site's robots.txt could not be read. `trap`: why what was learned about the site speaks
    against the URL, or why its literal IP address is never contacted. `pause_reason`: why nothing at all is fetched
    here just now. `breaker_reason`: why the site's circuit breaker is open, so that it is asked only
    once in a while."""

    position: QueuePosition = QueuePosition()
    robots: RobotsAccess = RobotsAccess.UNKNOWN
    robots_why: str = ""
    crawl_delay_s: float = 0.0
    trap: str = ""
    pause_reason: str = ""
    breaker_reason: str = ""
