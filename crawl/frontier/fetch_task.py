"""A URL that waits in the frontier, and one that was taken from it to be fetched.

Pure: values, changed by the frontier alone.
"""

from dataclasses import dataclass

from crawl.frontier.url_status import UrlStage
from crawl.schedule.url_state import Visit
from dht import Slot

FAR = 32  # links to follow: from there on the more linked page is first, and one found by a detour leads far enough
_LEVELS = 16  # of links
_PLACES = tuple(range((FAR + 1) * _LEVELS))  # shared by all URLs, of which there may be a million


@dataclass(slots=True, eq=False)
class QueuedUrl:
    """A URL that waits. `links`: pages that were found to link to it meanwhile. `stage`: LATER or READY; UNKNOWN once
    the entry counts no more, so that queues pass it over when they come to it."""

    visit: Visit
    slot: Slot
    epoch: int  # of the lease under which the slot is held
    site: str
    stage: UrlStage = UrlStage.LATER
    links: int = 0

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
