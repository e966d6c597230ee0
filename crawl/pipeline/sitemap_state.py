"""Sitemap files that are still to be fetched, by site: each takes one turn of its host, before the host's pages.

Pure: bounded per site and in sites.

Which feeds of a site were handed over already: every page of a site names the same ones.

Pure: bounded per site and in sites; what is forgotten is handed over once more, which changes nothing.

What the sitemaps that were handed in listed, for those who wait for the pages.

Pure: bounded memory, the oldest list forgotten first; nothing else is lost by that.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dht import site_of


@dataclass(slots=True)
class _Plan:
    depth: int
    scope: str
    waiting: deque[str] = field(default_factory=deque)
    seen: set[str] = field(default_factory=set)


class SitemapQueue:
    """`per_site` sitemap files are fetched of a site for one robots.txt, indexes and their members together."""

    def __init__(self, per_site: int, sites: int) -> None:
        self._per_site, self._sites = per_site, sites
        self._plans: OrderedDict[str, _Plan] = OrderedDict()

    def start(self, site: str, urls: Iterable[str], depth: int, scope: str) -> None:
        """robots.txt was read: take its sitemaps, in place of what was left of an earlier one. `depth`, `scope`: of
        the URL that had it read."""
        self._plans.pop(site, None)
        if depth <= 0:  # what is found from here on is out of scope
            return
        self._plans[site] = _Plan(depth, scope)
        self.add(site, urls)
        if len(self._plans) > self._sites:
            self._plans.popitem(last=False)

    def add(self, site: str, urls: Iterable[str]) -> None:
        """A sitemap index names further files; those of other sites are not taken."""
        plan = self._plans.get(site)
        if plan is None:
            return
        for url in urls:
            if site_of(url) == site and url not in plan.seen and len(plan.seen) < self._per_site:
                plan.seen.add(url)
                plan.waiting.append(url)

    def take(self, site: str) -> tuple[str, int, str] | None:
        """The next file of a site, with depth and scope for the URLs in it."""
        plan = self._plans.get(site)
        return (plan.waiting.popleft(), plan.depth, plan.scope) if plan and plan.waiting else None


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


MAX_LISTED = 50_000  # URLs of all lists together, about 150 bytes each


class SitemapListings:
    """Pages and further sitemaps by the URL of the list."""

    def __init__(self, limit: int = MAX_LISTED) -> None:
        self._limit, self._count = limit, 0
        self._lists: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def add(self, url: str, found: Sequence[str]) -> None:
        """A list was read."""
        self._count -= len(self._lists.pop(url, ()))
        self._lists[url] = tuple(found)
        self._count += len(found)
        while self._count > self._limit and self._lists:
            self._count -= len(self._lists.popitem(last=False)[1])

    def find(self, url: str) -> tuple[str, ...]:
        """What it named, nothing where that is not known (any more)."""
        return self._lists.get(url, ())
