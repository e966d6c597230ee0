"""Decides when a site is so big that one place is not enough, and into how many it goes.

Pure: counts in, depth out. The holder of the site's home slot decides, and writes it into the host's record; a rule of
the strategy wins over that. Without spreading the biggest sites no choice of owners helps (largest site 8.9 % of all
pages: max/mean 10 and 90 at 100 and 1,000 nodes).
"""

from dataclasses import dataclass

from dht.keys import MAX_SPREAD

AGAIN = 2.0  # times what a place may have: chance alone does not put so much into one of several


@dataclass(frozen=True, slots=True)
class ShardPolicy:
    """Which sites are spread. Smaller networks and sites gain nothing: their pages are together sooner than apart."""

    pages: int = 10_000  # a site with fewer stays where it is
    share: float = 0.25  # of what a node keeps on average; a place of a site should be less
    nodes: int = 16  # a network of fewer is left alone
    look_every_s: float = 600.0  # between two looks at the slots held


def spread_depth(pages: int, depth: int, documents: int, replicas: int, nodes: int, bounds: ShardPolicy) -> int:
    """Return the spread depth d that a site of so many pages should have: 2**d places. It is never below its present
    `depth`.

    `documents`: all documents of the network, each counted once; `nodes` nodes keep `replicas` copies of each. The
    pages of a site that is already spread are an estimate from one of its places. So such a site goes deeper only when
    it has AGAIN times the allowed pages."""
    if nodes < bounds.nodes or pages < bounds.pages:
        return depth
    most = bounds.share * documents * min(replicas, nodes) / nodes
    if depth and pages < AGAIN * most * (1 << depth):
        return depth
    while depth < MAX_SPREAD and pages >= most * (1 << depth):
        depth += 1
    return depth


def documents_of(sampled: list[int], slots: int, own: int) -> int | None:
    """Estimate how many documents a network has: `own` in one slot, and in each other slot the mean of those sampled.

    Return None where too few were sampled to say."""
    if len(sampled) * 4 < min(slots - 1, 32):
        return None
    return own + (round(sum(sampled) / len(sampled) * (slots - 1)) if sampled else 0)
