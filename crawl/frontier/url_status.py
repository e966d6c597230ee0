"""What a crawler knows of one URL without asking anybody: where it waits, and what stands before its fetch.

Pure: values only. The holder of a URL's slot tells them to whoever asks why a page was not fetched.
"""

from dataclasses import dataclass
from enum import IntEnum


class Stand(IntEnum):
    """Where a URL is at its holder; the number is on the wire."""

    UNKNOWN = 0  # in no slot held here, or never heard of
    LATER = 1  # known; its due time has not come
    READY = 2  # waits for its host's turn
    OPEN = 3  # being fetched, read or handed over


class RobotsSay(IntEnum):
    """What robots.txt says of a URL; the number is on the wire."""

    UNKNOWN = 0  # not read lately: it is asked first
    ALLOWED = 1
    DISALLOWED = 2
    BARRED = 3  # it could not be read, so nothing is fetched


@dataclass(frozen=True, slots=True)
class Queued:
    """A URL's place in the frontier. `ahead`: URLs of its host before it, counted up to a bound; `host_rest_s`: until
    the host may be asked again; `is_host_open`: a request to the host is under way."""

    stand: Stand = Stand.UNKNOWN
    ahead: int = 0
    host_rest_s: float = 0.0
    is_host_open: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """All of it. `trap`: why what was learned about the site speaks against the URL, "" where nothing does.
    `robots_why`: why its rules could not be read. `hindrance`: why nothing at all is fetched here just now.
    `trouble`: why the host is asked once in a while alone."""

    queued: Queued = Queued()
    robots: RobotsSay = RobotsSay.UNKNOWN
    robots_why: str = ""
    crawl_delay_s: float = 0.0
    trap: str = ""
    hindrance: str = ""
    trouble: str = ""
