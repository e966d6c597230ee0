"""Finds hubs, pages that link to good pages, and authorities, pages that good hubs link to.

Pure. Only links between sites count. All pages of one site that link to a page have one vote together. So have all
pages of one site that a page links to: a site gains no weight by more pages. Sources: Kleinberg
1999 (HITS); Bharat & Henzinger 1998, section 3.1 (those weights).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from node.extras.web_report.web_graph import WebGraph

SHOWN = 20
MAX_ROUNDS = 200
SETTLED = 1e-9  # of the change in a round, in L1; scores are compared to four digits


@dataclass(frozen=True, slots=True)
class Ranked:
    """One URL with its score: 1.0 is that of the best."""

    node: int
    score: float


def hubs_and_authorities(graph: WebGraph) -> tuple[list[Ranked], list[Ranked]]:
    """Return the best hubs and the best authorities, best first; none where no site links to another."""
    outward = graph.between_sites()
    if not len(outward.targets):
        return [], []
    sources = outward.sources.astype(np.int64)
    to_authority = _matrix(outward, _shares(outward.sites[sources], outward.targets)).T.tocsr()
    to_hub = _matrix(outward, _shares(sources, outward.sites[outward.targets]))
    hubs = np.ones(outward.pages)
    for _ in range(MAX_ROUNDS):
        authorities = _scaled(to_authority @ hubs)
        before, hubs = hubs, _scaled(to_hub @ authorities)
        if np.abs(hubs - before).sum() <= SETTLED * hubs.sum():
            break
    return _best(hubs), _best(authorities)


def _shares(left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the weight of each link: 1 divided by the number of links with the same pair (left, right)."""
    pairs = left.astype(np.int64) * (int(right.max()) + 1) + right
    _, inverse, counts = np.unique(pairs, return_inverse=True, return_counts=True)
    shares: NDArray[np.float64] = 1.0 / counts[inverse]
    return shares


def _matrix(graph: WebGraph, weights: NDArray[np.float64]) -> csr_array:
    return csr_array((weights, graph.targets, graph.starts.astype(np.int32)), shape=(graph.pages, graph.nodes))


def _scaled(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = scores / scores.max()
    return scaled


def _best(scores: NDArray[np.float64]) -> list[Ranked]:
    most = min(SHOWN, len(scores))
    best = np.lexsort((np.arange(len(scores)), -scores))[:most]
    return [Ranked(int(node), float(scores[node])) for node in best if scores[node] > 0]
