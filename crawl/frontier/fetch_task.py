"""A URL that waits in the frontier, one that was taken from it to be fetched, and what its holder tells of its state.

Pure: values; the frontier alone changes tasks. The holder of a URL's slot answers whoever asks why it was not fetched.
"""

from dataclasses import dataclass
from enum import IntEnum

from crawl.schedule.url_state import Visit, decode_visit, encode_visit
from dht import Slot


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


FAR = 32  # links to follow: from there on the more linked page is first, and one found by a detour leads far enough
_LEVELS = 16  # of links
_PLACES = tuple(range((FAR + 1) * _LEVELS))  # shared by all URLs, of which there may be a million


@dataclass(slots=True, eq=False)
class QueuedUrl:
    """A URL that waits. `links`: pages that were found to link to it meanwhile. `stage`: LATER or READY; UNKNOWN once
    the entry counts no more, so that queues pass it over when they come to it. `known`: its visit, encoded while it is
    LATER, which takes 450 bytes less."""

    known: Visit | bytes
    slot: Slot
    epoch: int  # of the lease under which the slot is held
    site: str
    stage: UrlStage = UrlStage.LATER
    links: int = 0

    @property
    def visit(self) -> Visit:
        """Return what is known of it."""
        return decode_visit(self.known) if isinstance(self.known, bytes) else self.known

    def says(self, visit: Visit) -> bool:
        """Tell whether a visit is what is known of it, as it is when its holder hears of its own outcome."""
        return self.known == (encode_visit(visit) if isinstance(self.known, bytes) else visit)

    @property
    def place(self) -> int:
        """Where it stands in its site's queue, the least first: by how far it leads, and how often its links doubled;
        age decides among equals."""
        level = min(self.links.bit_length(), _LEVELS - 1)
        return _PLACES[(FAR - min(self.visit.depth, FAR)) * _LEVELS + _LEVELS - 1 - level]


@dataclass(slots=True, eq=False)
class FetchTask:
    """A URL taken from the frontier, until its outcome is settled. `newer`: what was observed of it meanwhile."""

    visit: Visit
    slot: Slot
    epoch: int
    site: str
    address: str  # where the request counts against the address's limits, "" where it does not
    counted: float = 0.0  # what AddressLimits.begin said
    newer: Visit | None = None
    outcome: Visit | None = None  # of the fetch, while the owners of the URL do not have it yet
    site_links: int = -1  # see `Page.site_links`
