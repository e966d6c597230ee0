"""The orders in which a crawler may fetch what it knows.

Pure. *Breadth first* is what Najork & Wiener 2001 found good; *in-links* is of Cho, Garcia-Molina & Page 1998; *cash* is
OPIC of Abiteboul, Preda & Cobena 2003; *larger sites first* and ranks of what is known so far are of Baeza-Yates,
Castillo, Marin & Rodriguez 2005.
"""

from collections.abc import Callable

import numpy as np

from benchmarks.important.polite_crawl import Places, Policy, Seen, Values

ALPHA, BASE = 0.85, 0.15
SWEEPS = 8  # of each refresh, which goes on from the one before


def breadth_first(seen: Seen, pages: Places) -> Values:
    """Fewest links from a seed first."""
    return -seen.depth[pages]


def given(seen: Seen, pages: Places) -> Values:
    """What is given to each page."""
    return seen.given[pages]


def paced(seen: Seen, pages: Places) -> Values:
    """What is given to each page for each page that was fetched since it was found, and some more."""
    return (1 + seen.given[pages]) / (seen.fetched - seen.found_at[pages] + len(seen.web.site) / 20)


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
    """Refresh the order alone."""


def best(worth: float, waiting: int) -> float:
    return worth


def larger(worth: float, waiting: int) -> float:
    return waiting


def perfect(ranks: Values) -> Callable[[Seen, Places], Values]:
    """The worth of pages to who knows the ranks of the whole web."""
    return lambda seen, pages: ranks[pages]


def policies(ranks: Values) -> dict[str, Policy]:
    def outside(seen: Seen, page: int) -> Values:
        t = seen.web.targets_of(page)
        return (seen.web.site[t] != seen.web.site[page]) * 1.0
    return {
        "breadth first": Policy(breadth_first),
        "bf best": Policy(breadth_first, turns=best),
        "bf, larger sites": Policy(breadth_first, turns=larger),
        "in-links": Policy(given, lambda seen, page: 1.0, nothing),
        "in-links best": Policy(given, lambda seen, page: 1.0, nothing, best),
        "outside in-links": Policy(given, outside, nothing),
        "outside in-links best": Policy(given, outside, nothing, best),
        "cash": Policy(given, cash, nothing),
        "cash best": Policy(given, cash, nothing, best),
        "cash paced": Policy(paced, cash, nothing),
        "cash paced best": Policy(paced, cash, nothing, best),
        "rank": Policy(given, rank, rank_known),
        "rank best": Policy(given, rank, rank_known, best),
        "rank larger": Policy(given, rank, rank_known, larger),
        "rank paced best": Policy(paced, rank, rank_known, best),
        "perfect": Policy(perfect(ranks)),
        "perfect best": Policy(perfect(ranks), turns=best),
    }
