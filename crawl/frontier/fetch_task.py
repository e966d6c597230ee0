"""A URL that waits in the frontier, and one that was taken from it to be fetched.

Pure: values, changed by the frontier alone.
"""

from dataclasses import dataclass

from crawl.frontier.url_status import UrlStage
from crawl.schedule.url_state import Visit
from dht import Slot


@dataclass(slots=True, eq=False)
class QueuedUrl:
    """A URL that waits. `number` orders URLs by age. `stage`: LATER or READY; UNKNOWN once the entry counts no more, so
    that queues pass it over when they come to it."""

    visit: Visit
    slot: Slot
    epoch: int  # of the lease under which the slot is held
    number: int
    site: str
    stage: UrlStage = UrlStage.LATER


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
