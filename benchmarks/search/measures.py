"""Judges an order of results: how much it gains, where the first right one stands.

Pure: names in, figures out.
"""

import math
from collections.abc import Collection, Mapping, Sequence

DEPTH = 10  # results: what people see without paging


def ndcg(got: Sequence[str], judged: Mapping[str, int], k: int = DEPTH) -> float:
    """Return the normalized discounted cumulative gain of the first k (Järvelin & Kekäläinen 2002)."""

    def gain(grades: Sequence[int]) -> float:
        return sum((2 ** max(grade, 0) - 1) / math.log2(rank + 2) for rank, grade in enumerate(grades[:k]))

    best = gain(sorted(judged.values(), reverse=True))
    return gain([judged.get(each, 0) for each in got]) / best if best else 0.0


def hit(got: Sequence[str], judged: Mapping[str, int], k: int = 1) -> float:
    """Return 1.0 where a relevant document is among the first k, else 0.0."""
    return float(any(judged.get(each, 0) > 0 for each in got[:k]))


def unjudged(got: Sequence[str], judged: Collection[str], k: int = DEPTH) -> float:
    """Return the share of the first k that nobody judged: a set says nothing of them."""
    return sum(each not in judged for each in got[:k]) / len(got[:k]) if got else 0.0


def reciprocal_rank(got: Sequence[str], right: Collection[str], k: int = DEPTH) -> float:
    """Return 1/rank of the first right result, 0.0 where none is among the first k."""
    return next((1 / (rank + 1) for rank, each in enumerate(got[:k]) if each in right), 0.0)
