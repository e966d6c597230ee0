"""Sitemap files that are still to be fetched, by site: each takes one turn of its host, before the host's pages.

Pure: bounded per site and in sites.
"""

from collections import OrderedDict, deque
from collections.abc import Iterable
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
