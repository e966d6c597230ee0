"""Counts sites: what they keep, which others link to them, and which pages other sites link to most.

Pure. A site's vote for a site, or for a page, counts once, however many of its pages give it. `votes_of` counts up to
ten of them, and none for navigation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from node.extras.web_report.web_graph import WebGraph, distinct

SHOWN = 20
MOST_VOTES = 10  # of one site for one URL
LEAST_PAGES = 4  # of a site: with fewer, nothing says which links stand on most pages


@dataclass(frozen=True, slots=True)
class PageRow:
    """One page: the sites that link to it, and the pages."""

    node: int
    by_sites: int
    by_pages: int


@dataclass(frozen=True, slots=True, eq=False)
class SiteCounts:
    """Holds counts of each site, by its number."""

    pages: NDArray[np.int64]
    linked_by: NDArray[np.int64]
    links_to: NDArray[np.int64]

    def top(self) -> list[int]:
        """Return the sites that most others link to; of equal ones, those with most pages."""
        found: list[int] = np.lexsort((np.arange(len(self.pages)), -self.pages, -self.linked_by))[:SHOWN].tolist()
        return found


def sites_of(graph: WebGraph) -> SiteCounts:
    """Count the sites of a graph, those of which no page is stored, too."""
    count = len(graph.site_names)
    outward = graph.between_sites()
    pairs = outward.sites[outward.sources].astype(np.int64) * max(1, count) + outward.sites[outward.targets]
    pairs = distinct(pairs)
    return SiteCounts(
        pages=np.bincount(graph.sites[: graph.pages], minlength=count),
        linked_by=np.bincount(pairs % max(1, count), minlength=count),
        links_to=np.bincount(pairs // max(1, count), minlength=count),
    )


def votes_of(graph: WebGraph) -> NDArray[np.int64]:
    """Return the links to each URL, of which each site has at most MOST_VOTES. Navigation is left out: links that stand
    on more than half of the stored pages of a site."""
    nodes = max(1, graph.nodes)
    pairs = np.sort(graph.sites[graph.sources].astype(np.int64) * nodes + graph.targets)
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    counts = np.diff(np.append(first, len(pairs)))
    sites, targets = pairs[first] // nodes, pairs[first] % nodes
    pages = np.bincount(graph.sites[: graph.pages], minlength=len(graph.site_names))[sites]
    is_navigation = (pages >= LEAST_PAGES) & (2 * counts > pages)
    votes = np.where(is_navigation, 0, np.minimum(counts, MOST_VOTES))
    return np.bincount(targets, votes, minlength=graph.nodes).astype(np.int64)


def top_pages(graph: WebGraph) -> list[PageRow]:
    """Return the URLs that most other sites link to."""
    outward = graph.between_sites()
    pairs = distinct(outward.sites[outward.sources].astype(np.int64) * max(1, graph.nodes) + outward.targets)
    by_sites = np.bincount(pairs % max(1, graph.nodes), minlength=graph.nodes)
    by_pages = np.bincount(graph.targets, minlength=graph.nodes)
    order = np.lexsort((np.arange(graph.nodes), -by_pages, -by_sites))[:SHOWN]
    return [PageRow(n, int(by_sites[n]), int(by_pages[n])) for n in order.tolist() if by_sites[n]]
