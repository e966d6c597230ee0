"""One clock for each site that several nodes crawl: only one of them has its ticket at a time.

Pure: `now` is steady time in seconds. The holder of the site's first place keeps the clock, and is a crawler like the
others. A ticket is for one request; whoever had it says how long the site must rest. A ticket that is not returned runs
out. Who has just become the holder knows nothing of the tickets before, so it waits until those have been used.

Leave to ask a site, for sites that several nodes crawl: who may come in whose turn is decided elsewhere.

Pure: values and a protocol; `node/delegation/site_token_exchange.py` provides it. Most sites have one crawler, which
needs no leave.
"""

from dataclasses import dataclass
from typing import Protocol

from crawl.schedule.url_state import Visit

GUARD_S = 30.0  # a new clock gives its first ticket after this; a lease changes hands within as long
TICKET_S = 90.0  # longer than any fetch with its robots.txt
POLL_S = 1.0  # until whoever finds the ticket given away asks again
MAX_SITES = 4096  # clocks kept; one that was dropped begins anew, with its guard


@dataclass(slots=True)
class _Clock:
    epoch: int
    free_at: float
    holder: bytes = b""
    until: float = 0.0  # the ticket's end


class SiteClocks:
    """The clocks of one node; `epoch` is that of its lease, under which a clock was begun."""

    def __init__(self) -> None:
        self._clocks: dict[str, _Clock] = {}

    def ask(self, now: float, site: str, epoch: int, peer: bytes) -> float:
        """Give a peer the site's ticket: 0.0; or the seconds after which to ask again."""
        clock = self._clocks.pop(site, None)
        if clock is None or clock.epoch != epoch:
            clock = _Clock(epoch, now + GUARD_S)
        self._clocks[site] = clock  # the one asked for last is last
        if len(self._clocks) > MAX_SITES:
            del self._clocks[next(iter(self._clocks))]
        if clock.holder not in (b"", peer) and now < clock.until:
            return POLL_S
        if now < clock.free_at:
            return clock.free_at - now
        clock.holder, clock.until = peer, now + TICKET_S
        return 0.0

    def done(self, now: float, site: str, peer: bytes, rest_s: float) -> None:
        """A peer used its ticket, and the site must rest; of a ticket that it does not have nothing is believed."""
        clock = self._clocks.get(site)
        if clock is not None and clock.holder == peer:
            clock.holder, clock.free_at = b"", max(clock.free_at, now + rest_s)


@dataclass(frozen=True, slots=True)
class Permit:
    """`wait_s` > 0: not now, ask again then. `known`: the URL was fetched where its records lay before."""

    wait_s: float = 0.0
    known: Visit | None = None


class Permits(Protocol):
    """Asked before each request to a site, and told when it is over."""

    async def ask(self, visit: Visit) -> Permit:
        """Leave for one request to the site of a URL; never raises."""

    async def done(self, url: str, rest_s: float) -> None:
        """That request is over, and the site must be left alone for so many seconds; never raises."""


class Free:
    """Leave for everything."""

    async def ask(self, visit: Visit) -> Permit:
        return Permit()

    async def done(self, url: str, rest_s: float) -> None:
        return
