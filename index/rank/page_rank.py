"""PageRank by sweeps over the links, with a bound for what is still wrong.

Pure: arrays in, arrays out. Solved is x = (1 - a) + a Pᵀx, where P gives each link of a page an equal part of its rank
and a page without links gives nothing. Divided by its sum that is the PageRank in which pages without links give to all
alike (Del Corso, Gullì & Romani 2005): so nobody has to know the number of pages, or what such pages hold, before the
end. A sweep is Gauss-Seidel by blocks: each block of rows reads what the blocks before it have just become.
The bound: after a sweep that moved x by m in all, no more than a·m is missing in the equations, so x is wrong by no
more than a·m/(1 - a); divided by the sum, ranks are wrong by at most twice that share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.rank.link_graph import LinkGraph

ALPHA = 0.85  # Brin & Page 1998
BASE = 1 - ALPHA  # what a page has without any link
CONVERGED = 1e-6  # ranks add up to 1, and are together wrong by no more
MOST_SWEEPS = 400  # from any begin, .85 ** 400 of the error is left
BLOCK_LINKS = 1 << 15  # read at once: their 256 kB stay in a core's cache
Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PageRanks:
    """Ranks by row, which add up to 1; `error`: their distances from the true ones add up to at most this."""

    ranks: Values
    error: float
    sweeps: int


def rank_pages(graph: LinkGraph, tolerance: float = CONVERGED) -> PageRanks:
    """Compute the ranks of all pages of a graph that is a whole; it has no border."""
    sweeper = Sweeper(graph)
    base, values = np.where(graph.is_own, BASE, 0.0), np.ones(len(graph.numbers))
    sweeps, error, mass = 0, 0.0 if not len(values) else np.inf, 0.0
    while error > tolerance and sweeps < MOST_SWEEPS:
        missing, sweeps = ALPHA * sweeper.sweep(values, base), sweeps + 1
        if error_share(missing, mass) <= tolerance or not mass or sweeps == MOST_SWEEPS:
            sweeper.finish(values, base)
            mass = float(values.sum())
            error = error_share(missing, mass)
    return PageRanks(values / max(float(values.sum()), BASE), error, sweeps)


def error_share(missing: float, mass: float) -> float:
    """Return by how much ranks that add up to 1 may be wrong together. `missing`: what the equations of all pages lack;
    `mass`: the sum of what was computed."""
    return 2 * missing / BASE / mass if mass > 0 else np.inf


class Sweeper:
    """Sweeps over the links of one graph, with room for a block of them. What gives nothing to others is left out until
    the end: on the web that is most pages, all that nobody fetched."""

    def __init__(self, graph: LinkGraph) -> None:
        self._starts, self._sources = graph.starts, graph.sources
        self._linked = len(graph.starts) - 1
        self._parts = ALPHA / np.maximum(graph.degrees, 1)  # of its rank that a page gives each target; never read at 0
        self._given = np.empty(len(graph.degrees))
        giving = int(graph.is_linking[: self._linked].sum())
        self._giving = list(_blocks(graph.starts, 0, giving))
        self._others = list(_blocks(graph.starts, giving, self._linked))
        self._room = np.empty(max((end - begin for *_, begin, end in self._giving + self._others), default=0))

    def sweep(self, values: Values, base: Values) -> float:
        """Move the values of pages that give to others to what `base` and the links make of them; return by how much
        they moved in all. Before any value of the others is read they need a `finish`."""
        moved = float(np.abs(values[self._linked :] - base[self._linked :]).sum())
        values[self._linked :] = base[self._linked :]
        np.multiply(values, self._parts, out=self._given)
        return moved + self._move(self._giving, values, base)

    def finish(self, values: Values, base: Values) -> None:
        """Move the values of pages that give nothing to others; then they lack nothing."""
        self._move(self._others, values, base)

    def _move(self, blocks: Sequence["_Block"], values: Values, base: Values) -> float:
        given, moved = self._given, 0.0
        for first, last, begin, end in blocks:
            room = self._room[: end - begin]
            given.take(self._sources[begin:end], out=room, mode="clip")  # "raise" would copy; rows are in range
            new = np.add.reduceat(room, self._starts[first:last] - begin)
            new += base[first:last]
            old = values[first:last]
            old -= new
            moved += float(np.abs(old, out=old).sum())
            old[:] = new
            np.multiply(new, self._parts[first:last], out=given[first:last])
        return moved

    def given_to(self, values: Values, starts: NDArray[np.int64], sources: NDArray[np.int32]) -> Values:
        """Return what each target outside is given by the rows that link to it; `starts` and `sources` as in a
        graph."""
        if len(starts) < 2:
            return np.empty(0)
        found: Values = np.add.reduceat((values * self._parts).take(sources), starts[:-1])
        return found


_Block = tuple[int, int, int, int]  # first row, last row + 1, first link, last link + 1


def _blocks(starts: NDArray[np.int64], first: int, end: int) -> Iterator[_Block]:
    """Yield blocks of whole rows, from the first up to the end."""
    while first < end:
        begin = int(starts[first])
        last = max(int(np.searchsorted(starts, begin + BLOCK_LINKS, side="right")) - 1, first + 1)
        last = min(last, end)
        yield first, last, begin, int(starts[last])
        first = last
