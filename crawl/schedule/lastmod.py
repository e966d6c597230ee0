"""Dates of change that sites publish in their sitemaps, believed once they have proved right.

Pure: bounded memory; what is forgotten is read again with the site's next robots.txt. Each visit of a page whose date
is known tests it: does "changed since the last visit", or "not changed", agree with what the visit found? A site whose
dates were right nearly always is believed. Then a page that has changed by its date is due at once. Of pages that
have not changed by their dates only one in eight is fetched, to test the dates.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

PROVEN_TESTS = 10  # agreeing by chance ten times is rare where pages change and dates do not follow
PROVEN_SHARE = 0.9
COVERED = (
    0.8  # of the time between two visits lies before the dates were read; else the change may have come after them
)
_MEMORY = 100.0  # tests that count; older ones fade
TEST_EACH = 8  # one in so many pages that need no visit gets one


@dataclass(slots=True)
class _SiteDates:
    read_at: float = 0.0
    changed_at: dict[str, float] = field(default_factory=dict)
    right: float = 0.0
    tests: float = 0.0


class Lastmods:
    """Keeps the sitemaps' dates by page, and how far each site's are trusted. `limit`: dates in memory; instants are
    Unix seconds."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sites: OrderedDict[str, _SiteDates] = OrderedDict()
        self._kept = 0

    def learn(self, site: str, changed_at: Mapping[str, float], now: float) -> None:
        """Take over the dates of a sitemap of the site; dates in the future are none."""
        changed_at = {url: at for url, at in changed_at.items() if at <= now + 86_400}
        if not changed_at:
            return
        known = self._sites.setdefault(site, _SiteDates())
        self._sites.move_to_end(site)
        before = len(known.changed_at)
        known.read_at = now
        known.changed_at.update(changed_at)
        self._kept += len(known.changed_at) - before
        while self._kept > self._limit and self._sites:
            self._kept -= len(self._sites.popitem(last=False)[1].changed_at)

    def check(self, site: str, url: str, seen_at: float, now: float, *, changed: bool) -> None:
        """Test a page's date: a visit, the first since `seen_at`, found it changed or not."""
        known = self._sites.get(site)
        if known is None or not seen_at or url not in known.changed_at:
            return
        if known.read_at - seen_at < COVERED * (now - seen_at):
            return
        known.tests += 1.0
        known.right += (known.changed_at[url] > seen_at) == changed
        if known.tests > _MEMORY:
            known.tests, known.right = known.tests / 2, known.right / 2

    def is_trusted(self, site: str) -> bool:
        """Tell whether the site's dates were right nearly always."""
        known = self._sites.get(site)
        return known is not None and known.tests >= PROVEN_TESTS and known.right >= PROVEN_SHARE * known.tests

    def unchanged_until(self, site: str, url: str, seen_at: float) -> float:
        """Return until when a trusted site says that a page, last seen at `seen_at`, had not changed; 0: nothing is
        said."""
        known = self._sites.get(site)
        if known is None or not self.is_trusted(site) or known.read_at <= seen_at:
            return 0.0
        return known.read_at if known.changed_at.get(url, known.read_at) <= seen_at else 0.0

    def changed(self, site: str, url: str, seen_at: float) -> bool:
        """Tell whether a trusted site says that a page has changed since `seen_at`."""
        known = self._sites.get(site)
        return known is not None and self.is_trusted(site) and known.changed_at.get(url, 0.0) > seen_at
