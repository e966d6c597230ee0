"""Ranks of sites, where a site's own pages and names cannot vote for it.

Pure. All links from one registrable domain to one site count as one edge, and links inside a domain do not count. A
domain gives each site that it links to an equal part of the rank of all its sites. Every domain has the same rank
without any link. So another name below a domain costs its owner nothing, and brings nothing.
"""

import numpy as np

from node.extras.web_report.page_rank import CONVERGED, OneSweeper, Ranks, links_by_target, rank
from node.extras.web_report.web_graph import Ids, WebGraph, distinct

SHARED = 5  # times the error of domains' ranks: 1 + 2a from giving them to sites, 1 + a from dividing by the sum


def rank_sites(graph: WebGraph, domains: Ids, tolerance: float = CONVERGED) -> Ranks:
    """Return the ranks of all sites. `domains`: the number of each site's registrable domain."""
    sites, count = len(domains), int(domains.max(initial=-1)) + 1
    from_domain, to_site = _edges(graph, domains)
    links = links_by_target(from_domain, domains[to_site], count, count)
    found = rank(links, OneSweeper(links), tolerance / SHARED)
    votes = (found.ranks * links.parts)[from_domain]
    voted = np.bincount(to_site, votes, minlength=sites)
    of_domain = np.bincount(domains, voted, minlength=count)
    # A domain's rank beyond the votes for its sites belongs to all its sites alike.
    own = np.maximum(found.ranks - of_domain, 0) / np.bincount(domains, minlength=count)
    ranks = voted + own[domains]
    return Ranks(ranks / max(float(ranks.sum()), np.finfo(float).tiny), SHARED * found.error, found.sweeps)


def _edges(graph: WebGraph, domains: Ids) -> tuple[Ids, Ids]:
    """The domain and the site of each edge, each edge once."""
    sources, targets = domains[graph.sites[graph.sources]], graph.sites[graph.targets]
    leaves = sources != domains[targets]
    edges = distinct(sources[leaves].astype(np.int64) * max(1, len(domains)) + targets[leaves])
    return (edges // max(1, len(domains))).astype(np.int32), (edges % max(1, len(domains))).astype(np.int32)
