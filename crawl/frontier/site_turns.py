"""In which order the sites whose rest is over get their turns: by their fame, and by how long they wait.

Pure. A turn costs a site 1, divided by its fame. Next is the site that would then have paid least (fair queueing by
Golestani 1994), so that a famous site is asked more often than others where not all can be asked at once, however many
pages it has. Every fourth turn goes to the site that waits longest: nobody waits four times as long as if all took
turns, whatever others make themselves look like.
"""

import heapq
from collections import OrderedDict
from collections.abc import Iterable

AGED_EVERY = 4  # turns
FAME_BITS = 64
_STALE_LEAST = 1_000  # entries of the heap that no longer count, before it is worth a cleaning


def fame(domains: int) -> int:
    """Return a site's fame by a set of bits, one for each registrable domain that links to it, but its own; domains may
    share a bit, so fame is at most 65."""
    return 1 + domains.bit_count()


class SiteTurns:
    """Orders the sites that are in line. It remembers what sites paid as long as that says anything."""

    def __init__(self) -> None:
        self._paid: dict[str, float] = {}
        self._now = 0.0  # what the last site had paid after its turn; others begin there
        self._line: OrderedDict[str, tuple[float, int]] = OrderedDict()  # as in the heap, longest in line first
        self._least: list[tuple[float, int, str]] = []
        self._price = 0.0  # what the site that was popped last will have paid
        self._number = self._turns = 0

    def __len__(self) -> int:
        """Count the sites in line."""
        return len(self._line)

    def first(self) -> str | None:
        """Return the site that is in line longest."""
        return next(iter(self._line), None)

    def join(self, site: str, fame: int) -> None:
        """Put a site in line, at the end of those that wait."""
        self._line[site] = (0.0, 0)
        self.value(site, fame)

    def value(self, site: str, fame: int) -> None:
        """Let a site's fame count from now on, if it is in line."""
        if site in self._line:
            self._number += 1
            paid = max(self._paid.get(site, 0.0), self._now) + 1 / fame
            self._line[site] = paid, self._number
            heapq.heappush(self._least, (paid, self._number, site))
            self._clean()

    def pop(self) -> str | None:
        """Take the site out of line whose turn it is; it pays if it is `charge`d before the next one."""
        if not self._line:
            return None
        self._turns += 1
        if not self._turns % AGED_EVERY:
            site, (self._price, _) = self._line.popitem(last=False)
            return site
        while True:
            self._price, number, site = heapq.heappop(self._least)
            if self._line.get(site) == (self._price, number):
                del self._line[site]
                return site

    def charge(self, site: str) -> None:
        """Let the site pay that was popped last: it uses its turn."""
        self._paid[site] = self._price
        if self._turns % AGED_EVERY:  # who came by age may be far ahead of the others
            self._now = self._price

    def forget(self, sites: Iterable[str]) -> None:
        """Forget what some sites paid."""
        for site in sites:
            self._paid.pop(site, None)

    def _clean(self) -> None:
        if len(self._least) > 2 * len(self._line) + _STALE_LEAST:
            self._least = [item for item in self._least if self._line.get(item[2]) == item[:2]]
            heapq.heapify(self._least)
