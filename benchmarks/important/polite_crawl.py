"""Simulates the crawl of a web that is known beforehand, to see in which order a policy fetches its pages.

Pure. In a round every site may be asked once, and so many requests are made in all. A page becomes known when the first
page that links to it is fetched, or as a seed. Pages are ordered by their worth when they become known, and anew
whenever another hundredth of the web has been fetched, as by a node that computes ranks now and then.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

REFRESHES = 100  # in a crawl
Values = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Web:
    """Pages are 0 … n - 1, `site` has the number of each one's site."""

    site: Places
    starts: Places  # `targets[starts[n]:starts[n + 1]]` are linked from page n
    targets: Places
    seeds: Places

    def targets_of(self, page: int) -> Places:
        """Return the pages that a page links to."""
        return self.targets[self.starts[page] : self.starts[page + 1]]


@dataclass(slots=True, eq=False)
class Seen:
    """What a crawler knows: an entry for each page of the web. `given`: what fetched pages gave to a page."""

    web: Web
    is_known: NDArray[np.bool_] = field(init=False)
    is_fetched: NDArray[np.bool_] = field(init=False)
    given: Values = field(init=False)
    number: Values = field(init=False)  # in the order of finds
    found_at: Values = field(init=False)  # by the count of pages fetched by then
    depth: Values = field(init=False)  # links from a seed
    fetched: int = 0
    found: int = 0

    def __post_init__(self) -> None:
        pages = len(self.web.site)
        self.is_known, self.is_fetched = np.zeros(pages, bool), np.zeros(pages, bool)
        self.given, self.number, self.found_at, self.depth = (np.zeros(pages) for _ in range(4))

    def find(self, pages: Places, depth: float) -> None:
        """Note pages that became known."""
        self.is_known[pages], self.found_at[pages], self.depth[pages] = True, self.fetched, depth
        self.number[pages] = np.arange(self.found, self.found + len(pages))
        self.found += len(pages)


@dataclass(frozen=True, slots=True)
class Policy:
    """An order. `worth`: of some pages. `gives`: what a page hands to each of its targets when it is fetched; `refresh`:
    what is computed now and then, None where worths never change. `turns`: of a site, by its best page's worth and how
    many wait there, the greatest first; None: the site that waited longest comes first."""

    worth: Callable[[Seen, Places], Values]
    gives: Callable[[Seen, int], Values | float] | None = None
    refresh: Callable[[Seen], None] | None = None
    turns: Callable[[float, int], float] | None = None


Queues = list[list[tuple[float, float, int]]]


def crawl(web: Web, policy: Policy, requests: int) -> Places:
    """Return the pages in the order in which they are fetched, with so many requests in a round at most."""
    seen, order, site_of = Seen(web), list[int](), web.site.tolist()
    waiting: Queues = [[] for _ in range(max(site_of) + 1)]
    line: dict[int, None] = {}  # sites where pages wait, that which waits longest first
    step, due = len(site_of) // REFRESHES, 0

    def push(pages: Places) -> None:
        worths, numbers = (-policy.worth(seen, pages)).tolist(), seen.number[pages].tolist()
        for item in zip(worths, numbers, pages.tolist(), strict=True):
            heapq.heappush(waiting[site_of[item[2]]], item)
            line.setdefault(site_of[item[2]])

    seen.find(web.seeds, 0)
    push(web.seeds)
    while line:
        if policy.refresh is not None and seen.fetched >= due:
            due += step
            policy.refresh(seen)
            for queue in waiting:
                queue.clear()
            push(np.flatnonzero(seen.is_known & ~seen.is_fetched))
        for site in _turn(policy, waiting, line, requests):
            del line[site]
            page = heapq.heappop(waiting[site])[2]
            order.append(page)
            seen.is_fetched[page], seen.fetched = True, seen.fetched + 1
            targets = web.targets_of(page)
            if policy.gives is not None:
                seen.given[targets] += policy.gives(seen, page)
            new = targets[~seen.is_known[targets]]
            seen.find(new, seen.depth[page] + 1)
            if waiting[site]:
                line[site] = None
            push(new)
    return np.array(order)


def _turn(policy: Policy, waiting: Queues, line: dict[int, None], requests: int) -> list[int]:
    if policy.turns is None or len(line) <= requests:
        return list(islice(line, requests))
    worths = {site: policy.turns(-waiting[site][0][0], len(waiting[site])) for site in line}
    return heapq.nlargest(requests, line, key=worths.__getitem__)
