"""Makes up a web of pages and links by a seed: few sites have most pages, few pages most links.

Sizes of sites fall as their rank to the power of -0.8, links from a page are Pareto with 1.7, 5 % of pages have none.
Of the links 85 % stay in their site (Bharat et al. 2001 count three of four and more). The others go to a site by its
fame, which falls as 1 / rank. In half of all cases the page is chosen by 1 / its place.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from node.extras.web_report.web_graph import WebGraph

SURPLUS = 1.9  # links drawn for each that is wanted: many are drawn twice
INSIDE, WITHOUT_LINKS, FAMOUS = 0.85, 0.05, 0.5
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MadeUpWeb:
    """Links by source; pages are 0 … n - 1, those of a site side by side."""

    site: Places  # of each page
    starts: Places  # `targets[starts[n]:starts[n + 1]]` are linked from page n
    targets: Places

    @property
    def sources(self) -> Places:
        """The page that each link stands on."""
        return np.repeat(np.arange(len(self.site)), np.diff(self.starts))

    def graph(self) -> WebGraph:
        """Return the same as the web report has it, all pages stored."""
        names = np.arange(len(self.site), dtype=np.uint64)
        sites, site_names = self.site.astype(np.int32), names[: int(self.site.max()) + 1]
        return WebGraph(len(names), self.starts, self.targets.astype(np.int32), names, sites, site_names)


def make_up(seed: int, sites: int, pages: int, links: int) -> MadeUpWeb:
    """Make up a web with so many sites, pages and at most so many links."""
    rng = np.random.default_rng(seed)
    sizes = _sizes(rng, sites, pages)
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    site = np.repeat(np.arange(sites), sizes)
    activity = rng.pareto(1.7, pages) + 0.2
    activity[rng.random(pages) < WITHOUT_LINKS] = 0
    source = np.repeat(np.arange(pages), rng.multinomial(int(links * SURPLUS), activity / activity.sum()))
    to_site = site[source]
    leaves = rng.random(len(source)) >= INSIDE
    to_site[leaves] = rng.permutation(sites)[_falling(rng, np.full(int(leaves.sum()), sites))]
    target = first[to_site] + np.where(
        rng.random(len(source)) < FAMOUS,
        _falling(rng, sizes[to_site]),
        (rng.random(len(source)) * sizes[to_site]).astype(np.int64),
    )
    found = np.unique(source * pages + target)
    found = found[found // pages != found % pages]
    if len(found) > links:
        found = np.sort(rng.choice(found, links, replace=False))
    starts = np.searchsorted(found, np.arange(pages + 1) * pages)
    return MadeUpWeb(site, starts, found % pages)


def _sizes(rng: np.random.Generator, sites: int, pages: int) -> Places:
    weights = np.arange(1, sites + 1) ** -0.8
    return rng.permutation(1 + rng.multinomial(pages - sites, weights / weights.sum()))


def _falling(rng: np.random.Generator, sizes: Places) -> Places:
    """Draw one of each so many places, the first most often: by 1 / place, about."""
    return np.minimum(np.exp(rng.random(len(sizes)) * np.log(sizes)).astype(np.int64) - 1, sizes - 1).clip(0)
