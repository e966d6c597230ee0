"""Turns of a site that its crawler lends to others, one request each, so that the site sees one polite crawler.

Pure: `now` is steady time in seconds. A turn is borrowed from the queues like any (`site_queues.py`). The borrower
reports on its return how long the site must rest, and it rests no less than after one of our own requests. One that is
not returned ends by itself. Of a site's turns about one in SPARED is lent, but for a few at once, so second looks slow
the crawler down little.
"""

from dataclasses import dataclass

from crawl.frontier.site_queues import BUSY_S, SiteQueues
from crawl.politeness.site_delays import SiteDelays
from dht import Slot

TURN_S = 90.0  # longer than any fetch
SPARED = 5.0  # a turn lent puts the next off by so many rests
AT_ONCE = 6.0  # turns of one site lent without sparing it: a look and two more, each with its robots.txt
MAX_LENT = 256  # turns out at once, and sites whose next one is waited for
AGAIN_S = 60.0  # until a site that is down is asked for again


@dataclass(slots=True)
class _Loan:
    by: str
    slot: Slot
    rest_s: float
    expires_at: float


@dataclass(frozen=True, slots=True)
class _Spared:
    """When a site's crawler has had its share again of all turns so far, and how long one lent turn puts that off."""

    until: float
    each_s: float


class LentTurns:
    """The turns of sites that others have just now."""

    def __init__(self, queues: SiteQueues, delays: SiteDelays) -> None:
        self._queues, self._delays = queues, delays
        self._out: dict[str, _Loan] = {}
        self._spared: dict[str, _Spared] = {}
        self._returned: dict[str, float] = {}  # by whom, lately, until when we remember it

    def lend(self, site: str, slot: Slot, by: str, floor_s: float, now: float) -> float:
        """Lend a site's turn and return 0.0, or return the seconds after which to ask again. `slot`: in which the site
        is at home here; `floor_s`: the strategy's minimum rest."""
        self.expire(now)
        if by in self._returned:
            return AGAIN_S  # a question that came twice, the second time late: nobody would return that turn
        loan = self._out.get(site)
        if loan is not None:
            return 0.0 if loan.by == by else BUSY_S  # its answer may have been lost
        spared = self._spared.get(site)
        if spared is not None and (wait_s := spared.until - now - (AT_ONCE - 1) * spared.each_s) > 0:
            return wait_s
        if len(self._out) + len(self._spared) >= MAX_LENT or self._delays.breaker_reason(site):
            return AGAIN_S
        if wait_s := self._queues.borrow(site, by, now):
            return wait_s
        self._out[site] = _Loan(by, slot, self._delays.usual(site, floor_s), now + TURN_S)
        return 0.0

    def take_back(self, site: str, by: str, rest_s: float, now: float) -> bool:
        """End a turn; the site rests for so many seconds, or longer. Return False, and change nothing, where `by` does
        not have the turn."""
        loan = self._out.get(site)
        if loan is None or loan.by != by:
            return False
        del self._out[site]
        self._returned[by] = now + TURN_S
        if len(self._returned) > MAX_LENT:
            del self._returned[next(iter(self._returned))]
        rest_s = max(rest_s, loan.rest_s)
        before, each_s = self._spared.get(site), SPARED * rest_s
        self._spared[site] = _Spared(max(now, before.until if before else now) + each_s, each_s)
        self._queues.give_back(site, now, rest_s)
        return True

    def expire(self, now: float) -> None:
        """End the turns that were not returned in time."""
        self._spared = {site: spared for site, spared in self._spared.items() if spared.until > now}
        self._returned = {by: until for by, until in self._returned.items() if until > now}
        for site, loan in [(site, loan) for site, loan in self._out.items() if loan.expires_at <= now]:
            self.take_back(site, loan.by, loan.rest_s, now)

    def next_expiry(self) -> float | None:
        """Return the steady instant at which the next turn ends that is not returned; None where none is out."""
        return min((loan.expires_at for loan in self._out.values()), default=None)

    def has(self, slot: Slot) -> bool:
        """Tell whether a site at home in a slot is being asked by somebody else."""
        return any(loan.slot == slot for loan in self._out.values())
