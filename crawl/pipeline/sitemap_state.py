"""Remembers which sitemaps are to be fetched, which feeds were handed over already, and what lists named.

Pure: each memory is bounded and forgets the oldest first. What is forgotten costs little: a feed is handed over once
more, a sitemap is named by the next robots.txt again.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from crawl.frontier.admission import Trail
from dht import site_of

FEEDS_PER_SITE = 8  # a blog has two; one for the comments on each of its pages is no list of pages
MAX_FEED_SITES = 10_000
MAX_LISTED = 50_000  # URLs of all lists together, about 150 bytes each


@dataclass(slots=True)
class _Plan:
    trail: Trail
    waiting: deque[str] = field(default_factory=deque)
    seen: set[str] = field(default_factory=set)


class SitemapQueue:
    """Queues sitemap files that are to be fetched, by site: each takes one turn of its site, before the site's pages.

    `per_site` files are fetched of a site for one robots.txt, indexes and their members together."""

    def __init__(self, per_site: int, sites: int) -> None:
        self._per_site, self._sites = per_site, sites
        self._plans: OrderedDict[str, _Plan] = OrderedDict()

    def start(self, site: str, urls: Iterable[str], trail: Trail) -> None:
        """Take the sitemaps that a robots.txt names, in place of what was left of an earlier one.

        `trail` is that of the URLs in them: the depth and the scope of the URL that had robots.txt read.
        """
        self._plans.pop(site, None)
        if trail.depth <= 0:  # what is found from here on is out of scope
            return
        self._plans[site] = _Plan(trail)
        self.add(site, urls)
        if len(self._plans) > self._sites:
            self._plans.popitem(last=False)

    def add(self, site: str, urls: Iterable[str]) -> None:
        """Take further files, which a sitemap index of the site names; those of other sites are not taken."""
        plan = self._plans.get(site)
        if plan is None:
            return
        for url in urls:
            if site_of(url) == site and url not in plan.seen and len(plan.seen) < self._per_site:
                plan.seen.add(url)
                plan.waiting.append(url)

    def take(self, site: str) -> tuple[str, Trail] | None:
        """Return the next file of a site, and the trail of the URLs in it; None where no file waits."""
        plan = self._plans.get(site)
        return (plan.waiting.popleft(), plan.trail) if plan and plan.waiting else None


class SiteFeeds:
    """Remembers which feeds of a site were handed over already, since every page of a site names the same ones."""

    def __init__(self, per_site: int = FEEDS_PER_SITE, sites: int = MAX_FEED_SITES) -> None:
        self._per_site, self._sites = per_site, sites
        self._known: OrderedDict[str, set[str]] = OrderedDict()

    def take_new(self, site: str, urls: Iterable[str]) -> list[str]:
        """Return those of the URLs that are feeds of the site itself and new, and remember them."""
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


class SitemapListings:
    """Remembers what the sitemaps that were handed in listed, for those who wait for the pages."""

    def __init__(self, limit: int = MAX_LISTED) -> None:
        self._limit, self._count = limit, 0
        self._lists: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def add(self, url: str, found: Sequence[str]) -> None:
        """Remember which pages and further sitemaps the list at a URL names."""
        self._count -= len(self._lists.pop(url, ()))
        self._lists[url] = tuple(found)
        self._count += len(found)
        while self._count > self._limit and self._lists:
            self._count -= len(self._lists.popitem(last=False)[1])

    def find(self, url: str) -> tuple[str, ...]:
        """Return what the list at a URL names; nothing where that is not known (any more)."""
        return self._lists.get(url, ())
