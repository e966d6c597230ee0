"""Which feeds of a site were handed over already: every page of a site names the same ones.

Pure: bounded per site and in sites; what is forgotten is handed over once more, which changes nothing.
"""

from collections import OrderedDict
from collections.abc import Iterable

from dht import site_of

PER_SITE = 8  # a blog has two; one for the comments on each of its pages is no list of pages
SITES = 10_000


class SiteFeeds:
    """Feeds by site."""

    def __init__(self, per_site: int = PER_SITE, sites: int = SITES) -> None:
        self._per_site, self._sites = per_site, sites
        self._known: OrderedDict[str, set[str]] = OrderedDict()

    def news(self, site: str, urls: Iterable[str]) -> list[str]:
        """Those of the site's own feeds that are to be handed over now."""
        mine = [url for url in urls if site_of(url) == site]
        if not mine:
            return []
        known = self._known.setdefault(site, set())
        self._known.move_to_end(site)
        if len(self._known) > self._sites:
            self._known.popitem(last=False)
        found = [url for url in dict.fromkeys(mine) if url not in known][: max(0, self._per_site - len(known))]
        known.update(found)
        return found
