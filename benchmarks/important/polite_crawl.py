"""Simulates the crawl of a web that is known beforehand, to see in which order a policy fetches its pages.

In a round every site may be asked once, and so many requests are made in all. A page becomes known when the first page
that links to it is fetched, or as a seed. Pages are ordered by their worth when they become known, and anew whenever
another hundredth of the web has been fetched.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from crawl.frontier.turn_order import TurnOrder, domain_bit, fame

REFRESHES = 100  # in a crawl
SITE_SWEEPS, ALPHA = 30, 0.85
BY_TURN_ORDER = ("fame", "ranks")
Values = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Web:
    """A web's links. `site` has the number of each page's site."""

    site: Places
    starts: Places  # `targets[starts[n]:starts[n + 1]]` are linked from page n
    targets: Places
    seeds: Places

    def targets_of(self, page: int) -> Places:
        """Return the pages that a page links to."""
        return self.targets[self.starts[page] : self.starts[page + 1]]


class Seen:
    """A crawler's knowledge, with an entry for each page of the web. `given`: what fetched pages gave to it; `depth`:
    links from a seed; `domains`: of sites, a bit for each site that links there."""

    def __init__(self, web: Web) -> None:
        pages, sites = len(web.site), int(web.site.max()) + 1
        self.web = web
        self.is_known, self.is_fetched = np.zeros(pages, bool), np.zeros(pages, bool)
        self.given, self.number, self.depth = np.zeros(pages), np.zeros(pages), np.zeros(pages)
        self.domains = [0] * sites
        self.fetched = self.found = 0

    def find(self, pages: Places, depth: float) -> None:
        """Note pages that became known."""
        self.is_known[pages], self.depth[pages] = True, depth
        self.number[pages] = np.arange(self.found, self.found + len(pages))
        self.found += len(pages)


@dataclass(frozen=True, slots=True)
class Policy:
    """An order. `worth`: of some pages; `gives`: what a page hands to each of its targets when it is fetched;
    `refresh`: what is computed now and then, None where worths never change. `sites`: in turn, those first whose best
    page is worth most, or by fame as the crawler has it, from those sites alone that the same one of `nodes` crawls."""

    worth: Callable[[Seen, Places], Values]
    gives: Callable[[Seen, int], float] | None = None
    refresh: Callable[[Seen], None] | None = None
    sites: Literal["turns", "best", "fame", "ranks"] = "turns"
    nodes: int = 1


class Crawl:
    """One crawl, with so many requests in a round at most."""

    def __init__(self, web: Web, policy: Policy, requests: int) -> None:
        self._web, self._policy, self._requests = web, policy, requests
        self._seen, self._site_of = Seen(web), web.site.tolist()
        self._waiting: list[list[tuple[float, float, int]]] = [[] for _ in self._seen.domains]
        self._line: dict[int, None] = {}  # sites where pages wait, that which waits longest first
        self._turns, self._known = TurnOrder(), set[int]()  # sites of which a page was found
        self._edges, self._site_ranks = set[tuple[int, int]](), [1.0] * len(self._waiting)
        self._bits = [domain_bit(f"{site}.test") for site in range(len(self._waiting))]

    def run(self) -> Places:
        """Return the pages in the order in which they are fetched."""
        seen, order, due = self._seen, list[int](), 0
        seen.find(self._web.seeds, 0)
        self._push(self._web.seeds)
        while self._line:
            if self._policy.refresh is not None and seen.fetched >= due:
                due += len(self._site_of) // REFRESHES
                self._refresh()
            for site in self._turn():
                order.append(page := heapq.heappop(self._waiting[site])[2])
                self._fetch(page, site)
        return np.array(order)

    def _fetch(self, page: int, site: int) -> None:
        seen, targets = self._seen, self._web.targets_of(page)
        seen.is_fetched[page], seen.fetched = True, seen.fetched + 1
        if self._policy.gives is not None:
            seen.given[targets] += self._policy.gives(seen, page)
        new = targets[~seen.is_known[targets]]
        seen.find(new, seen.depth[page] + 1)
        if self._policy.sites == "ranks":
            self._edges |= {(site, other) for other in self._web.site[targets].tolist() if other != site}
        if self._policy.sites == "fame":
            for other in set(self._web.site[targets].tolist()) - {site}:
                is_heard = other in self._known and (site - other) % self._policy.nodes == 0
                if is_heard and not seen.domains[other] & self._bits[site]:
                    seen.domains[other] |= self._bits[site]
                    self._turns.value(str(other), fame(seen.domains[other]))
        if self._waiting[site]:
            self._join(site)
        self._push(new)

    def _push(self, pages: Places) -> None:
        worths = (-self._policy.worth(self._seen, pages)).tolist()
        for item in zip(worths, self._seen.number[pages].tolist(), pages.tolist(), strict=True):
            site = self._site_of[item[2]]
            heapq.heappush(self._waiting[site], item)
            self._join(site)

    def _join(self, site: int) -> None:
        if site not in self._line:
            self._line[site] = None
            self._known.add(site)
            if self._policy.sites in BY_TURN_ORDER:
                self._turns.join(str(site), self._fame(site))

    def _fame(self, site: int) -> int:
        return round(self._site_ranks[site]) if self._policy.sites == "ranks" else fame(self._seen.domains[site])

    def _rank_sites(self) -> None:
        """Compute what sites have beside one without links, of what is known now; each names another once."""
        edges, count = np.array(sorted(self._edges), np.int64).reshape(-1, 2), len(self._waiting)
        degrees, values = np.maximum(np.bincount(edges[:, 0], minlength=count), 1), np.ones(count)
        for _ in range(SITE_SWEEPS):
            values = 1 + ALPHA * np.bincount(edges[:, 1], (values / degrees)[edges[:, 0]], minlength=count)
        self._site_ranks = values.tolist()
        for site in self._line:
            self._turns.value(str(site), self._fame(site))

    def _refresh(self) -> None:
        assert self._policy.refresh is not None
        self._policy.refresh(self._seen)
        if self._policy.sites == "ranks":
            self._rank_sites()
        for queue in self._waiting:
            queue.clear()
        self._push(np.flatnonzero(self._seen.is_known & ~self._seen.is_fetched))

    def _turn(self) -> list[int]:
        line, most = self._line, min(self._requests, len(self._line))
        if self._policy.sites in BY_TURN_ORDER:
            turn = []
            while len(turn) < most and (name := self._turns.pop()) is not None:
                turn.append(int(name))
        elif self._policy.sites == "turns":
            turn = list(islice(line, most))
        else:
            turn = heapq.nsmallest(most, line, key=lambda site: self._waiting[site][0][0])
        for site in turn:
            del line[site]
        return turn
