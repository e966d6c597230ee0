"""Ranks of hosts, where a site's own pages and names cannot vote for it.

Pure: names in, numbers out. A link counts as one edge for each registrable domain that it comes from and host that it
leads to, however many pages hold it; links inside a domain say nothing. A domain gives each host that it links to an
equal part of what all its hosts have, and has as much without any link as every other domain: another name below it
costs its owner nothing, and so brings nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from index.rank.link_graph import Border, LinkGraph
from index.rank.page_rank import ALPHA, CONVERGED, rank_pages

MOST_EDGES = 2_000_000  # some 0.2 GB while they are read; 10⁶ pages have about half a million


@dataclass(frozen=True, slots=True, eq=False)
class HostEdges:
    """Edges from domains to hosts, each once, by host; `domain_of` says which domain a host belongs to."""

    hosts: tuple[str, ...]
    domains: tuple[str, ...]
    domain_of: NDArray[np.int64]  # by host
    from_domain: NDArray[np.int64]  # by edge
    to_host: NDArray[np.int64]
    left_out: int  # links beyond the bound, which were not read


def host_edges(
    links: Iterable[tuple[str, Iterable[str]]], domain_of: Callable[[str], str], most_edges: int = MOST_EDGES
) -> HostEdges:
    """Read the edges of a host graph from (host of a page, hosts of its links), in any order. `domain_of`: the
    registrable domain of a host, itself where it has none."""
    hosts, domains = dict[str, int](), dict[str, int]()
    homes, edges, left_out = list[int](), set[int](), 0

    def number(host: str) -> int:
        if host not in hosts:
            hosts[host] = len(hosts)
            homes.append(domains.setdefault(domain_of(host), len(domains)))
        return hosts[host]

    for source, targets in links:
        home = homes[number(source)]
        for target in targets:
            host = number(target)
            edge = host << 32 | home
            if homes[host] == home or edge in edges:
                continue
            if len(edges) < most_edges:
                edges.add(edge)
            else:
                left_out += 1
    found = np.sort(np.fromiter(edges, np.int64, len(edges)))
    return HostEdges(tuple(hosts), tuple(domains), np.array(homes, np.int64), found & 0xFFFFFFFF, found >> 32, left_out)


def rank_hosts(edges: HostEdges, tolerance: float = CONVERGED) -> NDArray[np.float64]:
    """Return the ranks of all hosts, which add up to 1 and are together wrong by at most `tolerance`."""
    if not edges.hosts:
        return np.empty(0)
    graph = _of_domains(edges)
    by_domain = np.empty(len(edges.domains))
    by_domain[graph.numbers.astype(np.int64)] = rank_pages(graph, tolerance / 2).ranks
    degrees = np.bincount(edges.from_domain, minlength=len(edges.domains))
    return by_hosts(edges, by_domain, ALPHA * (by_domain / np.maximum(degrees, 1))[edges.from_domain])


def by_hosts(edges: HostEdges, by_domain: NDArray[np.float64], votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of hosts, which add up to 1, by what their domains have and what each edge gives."""
    found = np.bincount(edges.to_host, votes, minlength=len(edges.hosts))
    # What a domain has beyond its hosts' votes is its own, of all its hosts alike.
    voted = np.bincount(edges.domain_of, found, minlength=len(edges.domains))
    sizes = np.bincount(edges.domain_of, minlength=len(edges.domains))
    ranks: NDArray[np.float64] = found + (np.maximum(by_domain - voted, 0) / sizes)[edges.domain_of]
    ranks /= ranks.sum()
    return ranks


def _of_domains(edges: HostEdges) -> LinkGraph:
    """The graph of domains: one that links to three hosts of another gives it three parts."""
    count = len(edges.domains)
    target = edges.domain_of[edges.to_host]
    counts = np.bincount(target, minlength=count)
    degrees = np.bincount(edges.from_domain, minlength=count)
    order = np.lexsort((-counts, degrees == 0, counts == 0))
    row_of = np.empty(count, np.int64)
    row_of[order] = np.arange(count)
    by_target = np.argsort(row_of[target], kind="stable")
    degrees = degrees[order]
    linked = counts[order]
    nothing = np.empty(0, np.int64)
    return LinkGraph(
        numbers=order.astype(np.uint64),
        is_own=np.ones(count, np.bool_),
        is_alias=np.zeros(count, np.bool_),
        is_linking=degrees > 0,
        degrees=degrees.astype(np.int32),
        starts=np.concatenate(([0], np.cumsum(linked[linked > 0]))),
        sources=row_of[edges.from_domain][by_target].astype(np.int32),
        border=Border(nothing.astype(np.uint64), nothing, np.zeros(1, np.int64), nothing.astype(np.int32)),
        left_out=edges.left_out,
    )
