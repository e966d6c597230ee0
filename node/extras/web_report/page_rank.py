"""PageRank by sweeps over the links, with a bound for the error that is left.

Pure: arrays in, arrays out. The equations are x = (1 - a) + a Pᵀx. P gives each link of a page an equal part of its
rank; a page without links gives nothing. Divided by its sum, x is the PageRank in which pages without links give to all
pages alike (Del Corso, Gullì & Romani 2005). So no sweep needs the number of pages, or their dangling mass.

The bound. A sweep that changes x by m in all, in L1, reads each value either as it was before the sweep or as it is
after it. The residual of the equations is then at most a·m, because a·Pᵀ shrinks every vector in L1 to a share a or
less. So x is wrong by at most a·m/(1 - a), and the ranks x/Σx by at most twice that share of Σx.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from node.extras.web_report.web_graph import Counts, Ids, WebGraph, starts_of

ALPHA = 0.85  # Brin & Page 1998
BASE = 1 - ALPHA  # value of a page without any link to it
CONVERGED = 1e-6  # ranks add up to 1, and are together wrong by no more
MAX_SWEEPS = 400  # from any begin, .85 ** 400 of the error is left
BLOCK_LINKS = 1 << 15  # read at once: their 256 kB stay in a core's cache
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class InLinks:
    """Holds links by their target: `sources[starts[n]:starts[n + 1]]` link to node `linked[n]`.

    nodes: how many there are.
    linked: nodes with a link to them, ascending.
    parts: share of its value that a node gives to each of its targets; later nodes link to nothing.
    """

    nodes: int
    linked: Ids
    starts: Counts
    sources: Ids
    parts: Values

    @property
    def giving(self) -> int:
        """How many of the first rows are nodes that may link to others."""
        return int(np.searchsorted(self.linked, len(self.parts)))


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Ranks by node, which add up to 1. `error`: their distances from the true ranks add up to at most this."""

    ranks: Values
    error: float
    sweeps: int

    def best(self, most: int) -> list[int]:
        """Return the nodes with the highest ranks, the highest first."""
        order = np.lexsort((np.arange(len(self.ranks)), -self.ranks))[:most]
        found: list[int] = order.tolist()
        return found


class Sweeps(Protocol):
    """Sweeps over links again and again. `values`: of all nodes, as the last sweep left them."""

    @property
    def values(self) -> Values: ...

    def sweep(self) -> float:
        """Solve once the equations of all nodes that may link to others; return the sum of the changes."""


class OneSweeper:
    """Sweeps in this process. Each block of rows reads the values that earlier blocks have just set (Gauss-Seidel)."""

    def __init__(self, links: InLinks) -> None:
        self._links, self._giving = links, links.giving
        self.values = np.full(links.nodes, BASE)

    def sweep(self) -> float:
        """Solve once the equations of all nodes that may link to others; return the sum of the changes."""
        return solve_rows(self._links, 0, self._giving, self.values, self.values)


def in_links(graph: WebGraph) -> InLinks:
    """Return the links of a web by their target."""
    return links_by_target(graph.sources, graph.targets, graph.nodes, graph.pages)


def links_by_target(sources: Ids, targets: Ids, nodes: int, givers: int) -> InLinks:
    """Sort links by their target; a link that is given twice counts twice.

    `sources`, `targets`: the numbers of the two nodes of each link, from 0. `nodes`: how many nodes there are.
    `givers`: how many of them, the first ones, may link to others."""
    order = np.argsort(targets, kind="stable")
    counts = np.bincount(targets, minlength=nodes)
    linked = np.flatnonzero(counts)
    degrees = np.bincount(sources, minlength=givers)
    parts = ALPHA / np.maximum(degrees, 1)
    return InLinks(nodes, linked.astype(np.int32), starts_of(counts[linked]), sources[order], parts)


def rank(links: InLinks, sweeps: Sweeps, tolerance: float = CONVERGED) -> Ranks:
    """Return the ranks of all nodes. `sweeps`: over these links, from their begin."""
    if not links.nodes:
        return Ranks(np.empty(0), 0.0, 0)
    count, error = 0, np.inf
    while error > tolerance and count < MAX_SWEEPS:
        missing, count = ALPHA * sweeps.sweep(), count + 1
        error = 2 * missing / BASE / float(sweeps.values.sum())  # later nodes only add to the sum
    values = sweeps.values.copy()
    solve_rows(links, links.giving, len(links.linked), values, values)
    total = float(values.sum())
    return Ranks(values / total, 2 * missing / BASE / total, count)


def solve_rows(links: InLinks, first: int, last: int, before: Values, after: Values) -> float:
    """Solve once the equations of some rows, from the values `before`, into `after`; return the sum of the changes.

    A row reads rows of its own part as they are after, and all others as they were before."""
    given, moved = before[: len(links.parts)] * links.parts, 0.0
    for begin, end in _blocks(links.starts, first, last):
        start = links.starts[begin]
        nodes = links.linked[begin:end]
        read = given.take(links.sources[start : links.starts[end]], mode="clip")  # "raise" would copy
        new = np.add.reduceat(read, links.starts[begin:end] - start) + BASE
        moved += float(np.abs(new - before[nodes]).sum())
        after[nodes] = new
        if nodes[-1] < len(given):
            given[nodes] = new * links.parts[nodes]
    return moved


def _blocks(starts: Counts, first: int, last: int) -> Iterator[tuple[int, int]]:
    """Yield runs of whole rows that have some `BLOCK_LINKS` links each."""
    while first < last:
        end = int(np.searchsorted(starts, starts[first] + BLOCK_LINKS, side="right")) - 1
        end = min(max(end, first + 1), last)
        yield first, end
        first = end
