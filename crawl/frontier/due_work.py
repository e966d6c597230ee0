"""How much of what is ready to be fetched politeness lets out soon, by slot: what balancing leases goes by.

Pure: counts in, counts out, each change in constant time. A site with a thousand ready URLs and a delay of ten seconds
is not a thousand URLs of work. Within HORIZON_S it yields sixty, wherever it is crawled.
"""

from collections import Counter
from collections.abc import Mapping

from dht import Slot

HORIZON_S = 600.0  # a pair of nodes shares work at most this often
DELAY_S = 1.0  # between two requests to a site that was not asked yet
LEAST_DELAY_S = 0.01  # sites of tests rest for nothing


class DueWork:
    """Counts ready URLs by slot and site, each site up to what its delay lets out within HORIZON_S."""

    def __init__(self) -> None:
        self._ready: dict[tuple[Slot, str], int] = {}
        self._work: Counter[Slot] = Counter()
        self._slots: dict[str, set[Slot]] = {}  # of sites with ready URLs
        self._most: dict[str, int] = {}  # of sites with ready URLs, where it is not that of DELAY_S

    def by_slot(self) -> Mapping[Slot, int]:
        """Count the URLs that could be fetched within HORIZON_S, by slot; slots without any are left out."""
        return {slot: count for slot, count in self._work.items() if count}

    def add(self, slot: Slot, site: str, count: int = 1) -> None:
        """Count so many more ready URLs of a site, or fewer where `count` is negative."""
        before = self._ready.get((slot, site), 0)
        after = self._ready[slot, site] = before + count
        most = self._most.get(site, _most(DELAY_S))
        self._work[slot] += min(after, most) - min(before, most)
        if after:
            self._slots.setdefault(site, set()).add(slot)
            return
        del self._ready[slot, site]
        self._slots[site].discard(slot)
        if not self._slots[site]:
            del self._slots[site]
            self._most.pop(site, None)

    def set_delay(self, site: str, delay_s: float) -> None:
        """Note the seconds that a site rests between two requests."""
        slots = self._slots.get(site)
        if not slots:
            return
        before, after = self._most.get(site, _most(DELAY_S)), _most(delay_s)
        self._most[site] = after
        for slot in slots:
            ready = self._ready[slot, site]
            self._work[slot] += min(ready, after) - min(ready, before)


def _most(delay_s: float) -> int:
    return max(1, int(HORIZON_S / max(delay_s, LEAST_DELAY_S)))
