"""The webs that are crawled: made up by a seed."""

import numpy as np

from benchmarks.important.polite_crawl import Places, Web
from benchmarks.pagerank.made_up_web import make_up

SEEDS = 10


def scattered(seed: int, sites: int, pages: int) -> Web:
    """A web whose pages link anywhere in their site (benchmarks.pagerank)."""
    made = make_up(seed, sites, pages, 8 * pages)
    first = np.searchsorted(made.site, np.arange(sites))
    return Web(made.site, made.starts, made.targets, _seeds(seed, first))


def branching(seed: int, sites: int, pages: int) -> Web:
    """Return a web whose sites are trees with menus. A page links to its front page, its parent, its children, two of
    the menu's pages and some of its site. Every second one links to another site, most often to a front page. Larger
    sites are more famous, by the root of their size and chance."""
    rng = np.random.default_rng(seed)
    sizes = 1 + rng.multinomial(pages - sites, (weights := np.arange(1, sites + 1) ** -0.9) / weights.sum())
    site, first = np.repeat(np.arange(sites), sizes), np.concatenate(([0], np.cumsum(sizes)[:-1]))
    place, start, size = np.arange(pages) - first[site], first[site], sizes[site]
    parent = start + (place * rng.random(pages) ** 1.5).astype(np.int64)
    menu = start + (rng.random((2, pages)) * np.minimum(size, 8)).astype(np.int64)
    near = start + (rng.random((2, pages)) * size).astype(np.int64)
    fame = np.sqrt(sizes) * rng.lognormal(0, 1.5, sizes.shape)
    out = np.flatnonzero(rng.random(pages) < 0.5)
    to = rng.choice(sites, len(out), p=fame / fame.sum())
    deep = first[to] + np.where(rng.random(len(out)) < 0.3, sizes[to] * rng.random(len(out)) ** 3, 0).astype(np.int64)
    page = np.arange(pages)
    source = np.concatenate([page, page, parent, page, page, page, page, out])
    target = np.concatenate([start, parent, page, *menu, *near, deep])
    found = np.unique((source * pages + target)[source != target])
    starts = np.searchsorted(found, np.arange(pages + 1) * pages)
    return Web(site, starts, found % pages, _seeds(seed, first))


def _seeds(seed: int, fronts: Places) -> Places:
    return np.random.default_rng(seed).choice(fronts, SEEDS, replace=False)


WEBS = {"scattered": scattered, "branching": branching}
