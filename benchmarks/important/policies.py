"""The orders in which a crawler may fetch what it knows.

*Breadth first*: Najork & Wiener 2001; *in-links*: Cho, Garcia-Molina & Page 1998; *cash*: OPIC of Abiteboul, Preda &
Cobena 2003; *ranks* of what is known so far: Baeza-Yates, Castillo, Marin & Rodriguez 2005.
"""

import numpy as np

from benchmarks.important.polite_crawl import Places, Policy, Seen, Values

ALPHA, BASE = 0.85, 0.15
SWEEPS = 8  # of each refresh, which goes on from the one before


def breadth_first(seen: Seen, pages: Places) -> Values:
    """Fewest links from a seed first."""
    return -seen.depth[pages]


def given(seen: Seen, pages: Places) -> Values:
    """Return the credit that each page was given."""
    return seen.given[pages]


def doublings(seen: Seen, pages: Places) -> Values:
    """How often the pages that link to each page doubled, its first link left out, as the crawler counts."""
    return np.ceil(np.log2(np.maximum(seen.given[pages], 1)))


def one(seen: Seen, page: int) -> float:
    """Each target gets as much."""
    return 1.0


def cash(seen: Seen, page: int) -> float:
    """All that a page was given, and one more, in equal parts."""
    return float(1 + seen.given[page]) / max(len(seen.web.targets_of(page)), 1)


def rank(seen: Seen, page: int) -> float:
    """The part of a page's rank that each target gets."""
    return ALPHA * float(BASE + seen.given[page]) / max(len(seen.web.targets_of(page)), 1)


def rank_known(seen: Seen) -> None:
    """Compute what the links of fetched pages give to known ones."""
    web = seen.web
    degrees = np.diff(web.starts)
    linking = np.repeat(seen.is_fetched, degrees)
    source, target = np.repeat(np.arange(len(web.site)), degrees)[linking], web.targets[linking]
    for _ in range(SWEEPS):
        parts = ALPHA * (BASE + seen.given) / np.maximum(degrees, 1)
        seen.given = np.bincount(target, parts[source], minlength=len(web.site)).astype(float)


def nothing(seen: Seen) -> None:
    """Order anew by what was given meanwhile."""


def policies(ranks: Values) -> dict[str, Policy]:
    """Return all policies by name. `ranks`: of the whole web, which only the last one knows."""

    def true_rank(seen: Seen, pages: Places) -> Values:
        return ranks[pages]

    return {
        "breadth first": Policy(breadth_first),
        "in-links": Policy(given, one, nothing),
        "cash": Policy(given, cash, nothing),
        "ranks, best page": Policy(given, rank, rank_known, "best"),
        "ranks, famous sites": Policy(given, rank, rank_known, "fame"),
        "breadth first, famous sites": Policy(breadth_first, sites="fame"),
        "in-links, famous sites": Policy(doublings, one, nothing, "fame"),
        "in-links, ranks of sites": Policy(doublings, one, nothing, "ranks"),
        "in-links, famous sites, 16 nodes": Policy(doublings, one, nothing, "fame", nodes=16),
        "true ranks, best page": Policy(true_rank, sites="best"),
    }
