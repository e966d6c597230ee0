"""Measures how many links lie between two pages, from a sample of pages to all that they reach.

Pure. 64 pages go at once, one bit each (Then et al. 2014, "The more the merrier"): a step costs one pass over the
links. The effective diameter is the distance within which 90 % of connected pairs lie, between two whole steps by
interpolation (Leskovec, Kleinberg & Faloutsos 2007).
"""

from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from node.extras.web_report.web_graph import Counts, WebGraph

SAMPLE = 64  # pages, one bit each
SHARE = 0.9  # of connected pairs
MAX_STEPS = 256  # a chain of pages may be as long as a stranger likes; the webs that were measured have 7 to 17


class Distances(msgspec.Struct, frozen=True):
    """How far pages lie from a sample of pages, in links."""

    sampled: int
    steps: tuple[int, ...]  # pairs at distance 1, 2, …
    effective: float  # diameter
    mean: float
    reached: float  # share of all pairs of the sample that are connected
    is_cut: bool  # some are farther than was gone


def distances_of(graph: WebGraph, rng: Random) -> Distances:
    """Return the distances of the links between stored pages."""
    inner = graph.between_pages()
    begins = sorted(rng.sample(range(inner.pages), min(SAMPLE, inner.pages)))
    steps, is_cut = _steps(inner, begins)
    pairs = len(begins) * (inner.pages - 1)
    mean = sum(count * far for far, count in enumerate(steps, 1)) / max(1, sum(steps))
    return Distances(len(begins), steps, _effective(steps), mean, sum(steps) / max(1, pairs), is_cut)


def _steps(inner: WebGraph, begins: list[int]) -> tuple[tuple[int, ...], bool]:
    starts, sources = inner.reversed()
    linked = np.flatnonzero(np.diff(starts))  # reduceat wants no empty runs
    seen = np.zeros(inner.pages, dtype=np.uint64)
    seen[begins] = np.left_shift(np.uint64(1), np.arange(len(begins), dtype=np.uint64))
    front, steps = seen.copy(), list[int]()
    while len(linked) and front.any() and len(steps) < MAX_STEPS:
        front = _next(front, seen, sources, starts, linked)
        seen |= front
        steps.append(_bits(front))
    is_cut = len(steps) == MAX_STEPS and bool(front.any())
    while steps and not steps[-1]:
        steps.pop()
    return tuple(steps), is_cut


def _next(
    front: NDArray[np.uint64], seen: NDArray[np.uint64], sources: NDArray[np.int32], starts: Counts, linked: Counts
) -> NDArray[np.uint64]:
    """Which pages of the sample reach each page for the first time."""
    found = np.zeros_like(front)
    found[linked] = np.bitwise_or.reduceat(front[sources], starts[linked])
    return found & ~seen


def _bits(words: NDArray[np.uint64]) -> int:
    return int(np.unpackbits(words[words != 0].view(np.uint8)).sum(dtype=np.int64))


def _effective(steps: tuple[int, ...]) -> float:
    wanted, before = SHARE * sum(steps), 0
    for far, count in enumerate(steps, 1):
        if before + count >= wanted > 0:
            return far - 1 + (wanted - before) / count
        before += count
    return 0.0
