"""How much each slot may give each other one, by what all say that they give.

Pure: numbers in, numbers out. What leaves a slot cannot be more than a share of what its documents have without links
and of what others give to it, whatever its links are: a·((1 - a)·documents + inflow), since a page gives a share a of
what it has, and what stays inside is given again, less each time. Inflow is what the others say, not the slot itself;
so a holder that claims more gains nothing, and several that claim to give to each other gain what a ring of their own
pages has.
"""

import numpy as np
from numpy.typing import NDArray

from index.rank.page_rank import ALPHA, BASE

TINY = 1e-300  # instead of nothing: a slot without documents and inflow may give 0 of 0
ROUNDS = 200  # the excess of a ring of liars falls by 15 % in each; what is left after them is still an upper bound


def allowed_flows(claims: NDArray[np.float64], documents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of what slots say that they give counts: a slot that claims too much is scaled down as a whole.
    `claims[a, b]`: what a says that it gives b; `documents`: of each slot, by the word of its owners."""
    claims = np.where(np.isfinite(claims), np.maximum(claims, 0.0), 0.0)
    given, share = claims.sum(axis=1), np.ones(len(claims))
    for _ in range(ROUNDS):
        limits = ALPHA * (BASE * documents + share @ claims)
        new = np.minimum(share, limits / np.maximum(np.maximum(given, limits), TINY))
        if np.abs(new - share).max(initial=0.0) < 1e-12:
            break
        share = new
    found: NDArray[np.float64] = claims * share[:, None]
    return found
