"""PageRank by another way: a dense matrix with uniform redistribution, solved by elimination to 1e-12 and better."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

ALPHA = 0.85


def dense_pagerank(links: Mapping[int, Sequence[int]]) -> dict[int, float]:
    """Return each page's rank. Links to itself and repeated ones do not count; what is linked to is a page, too."""
    pages = sorted({*links, *(target for found in links.values() for target in found)})
    row = {page: n for n, page in enumerate(pages)}
    matrix: NDArray[np.float64] = np.zeros((len(pages), len(pages)))
    for page in pages:
        targets = {target for target in links.get(page, ()) if target != page}
        for target in targets or pages:  # a page without links gives to all alike
            matrix[row[target], row[page]] += 1 / len(targets or pages)
    base = np.full(len(pages), (1 - ALPHA) / len(pages))
    ranks = np.linalg.solve(np.eye(len(pages)) - ALPHA * matrix, base)
    assert abs(ranks.sum() - 1) < 1e-12
    return dict(zip(pages, ranks.tolist(), strict=True))
