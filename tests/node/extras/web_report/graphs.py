"""Small graphs for tests, written as links between numbers."""

from collections.abc import Iterable, Sequence

import numpy as np

from node.extras.web_report.web_graph import WebGraph, graph_of


def graph(links: Iterable[tuple[int, int]], pages: int, sites: Sequence[int] = ()) -> WebGraph:
    """A graph of stored pages 0 … pages - 1 and of what else is linked to; each node is its own site where none is
    given."""
    links = list(links)
    nodes = max([pages - 1, *map(max, links)]) + 1
    site = np.array(sites or range(nodes), dtype=np.int32)
    names = np.arange(nodes, dtype=np.uint64)
    site_names = np.arange(int(site.max()) + 1 if nodes else 0, dtype=np.uint64)
    return graph_of(pages, np.array([a * max(1, nodes) + b for a, b in links], dtype=np.int64), names, site, site_names)


def ring(size: int, first: int = 0) -> list[tuple[int, int]]:
    """Each links to the next, and the last to the first."""
    return [(first + n, first + (n + 1) % size) for n in range(size)]
