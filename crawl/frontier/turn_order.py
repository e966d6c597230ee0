"""In which order the sites get turns that could be asked now: by their fame, and by how long they wait.

Pure. A turn costs a site 1, divided by its fame, on top of the price of a turn when it came in line. The cheapest site
is next (fair queueing by Golestani 1994). So where not all can be asked at once, a famous site is asked more often,
however many pages it has. Every fourth turn goes to the site that has waited longest. So no site waits more than four
times as long as if all took turns, whatever others pretend to be.
"""

import heapq
from collections import OrderedDict
from zlib import crc32

AGED_EVERY = 4  # turns
_FAME_BITS = 64
_STALE_LEAST = 1_000  # entries of the heap that no longer count, before it is worth a cleaning


def domain_bit(domain: str) -> int:
    """Return the bit of a registrable domain in the set of those that link to a site; some domains share one."""
    return 1 << crc32(domain.encode()) % _FAME_BITS


def fame(domains: int) -> int:
    """Return a site's fame by the bits of the other domains that link to it: 1 … 65, each domain counting once."""
    return 1 + domains.bit_count()


class TurnOrder:
    """The line of sites that could be asked now."""

    def __init__(self) -> None:
        self._line: OrderedDict[str, tuple[float, int]] = OrderedDict()  # (cost, number), longest in line first
        self._cheapest: list[tuple[float, int, str]] = []  # the same, and what counts no more
        self._cost = 0.0  # of the last turn by fame; only rises
        self._number = self._turns = 0

    def __bool__(self) -> bool:
        """Tell whether any site is in line."""
        return bool(self._line)

    def join(self, site: str, fame: int) -> None:
        """Put a site at the end of the line."""
        self._enter(site, self._cost + 1 / fame)

    def value(self, site: str, fame: int) -> None:
        """Use a site's new fame (1 … 65) for its next turn, where the site is in line and its turn becomes cheaper."""
        if (known := self._line.get(site)) is not None:
            self._enter(site, min(known[0], self._cost + 1 / fame))

    def pop(self) -> str | None:
        """Take the site out of line whose turn it is; None: nobody is there."""
        if not self._line:
            return None
        self._turns += 1
        if self._turns % AGED_EVERY == 0:
            return self._line.popitem(last=False)[0]
        while True:
            self._cost, number, site = heapq.heappop(self._cheapest)
            if self._line.get(site) == (self._cost, number):
                del self._line[site]
                return site

    def _enter(self, site: str, cost: float) -> None:
        self._number += 1
        self._line[site] = cost, self._number
        heapq.heappush(self._cheapest, (cost, self._number, site))
        if len(self._cheapest) > 2 * len(self._line) + _STALE_LEAST:
            self._cheapest = [item for item in self._cheapest if self._line.get(item[2]) == item[:2]]
            heapq.heapify(self._cheapest)
