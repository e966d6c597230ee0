"""Computes ranks by other ways, to compare with: a plain power iteration, and networkx where it is installed."""

import time

import numpy as np
from numpy.typing import NDArray

TOLERANCE = 1e-12
ALPHA = 0.85


def power_iteration(source: NDArray[np.int64], target: NDArray[np.int64], pages: int) -> NDArray[np.float64]:
    """Iterate with uniform redistribution of what pages without links hold, until nothing moves by more than 1e-12 in
    all."""
    degrees = np.bincount(source, minlength=pages)
    ranks, parts = np.full(pages, 1 / pages), 1 / np.maximum(degrees, 1)
    while True:
        new = ALPHA * np.bincount(target, (ranks * parts)[source], minlength=pages)
        new += (1 - ALPHA + ALPHA * ranks[degrees == 0].sum()) / pages
        moved = np.abs(new - ranks).sum()
        ranks = new
        if moved <= TOLERANCE:
            return ranks


def networkx_s(source: NDArray[np.int64], target: NDArray[np.int64], nodes: int, tolerance: float) -> list[float] | str:
    """Return the CPU seconds of networkx for a graph that it has built, or why there are none. Its own tolerance is a
    mean: it ends where ranks move by less than `nodes` times as much."""
    try:
        import networkx
        import scipy  # noqa: F401 - networkx computes ranks with it
    except ImportError as error:
        return f"no {error.name}"
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(nodes))
    graph.add_edges_from(zip(source.tolist(), target.tolist(), strict=True))
    began = time.process_time()
    networkx.pagerank(graph, ALPHA, max_iter=1_000, tol=tolerance / nodes)
    return [time.process_time() - began]
