"""Measures PageRank: CPU for 35,602 sites and for 10⁶ pages with 10⁷ links (in --quick a tenth), on one node and over
five processes, beside networkx and a reference solved to 1e-12.

The web is made up by a seed. Seconds are of CPU; those of reading links into a graph are told apart.

`python -m benchmarks.pagerank [--part sites|pages|network] [--quick] [--json] [--seed N]`
"""

import resource
import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.pagerank.goals import DISTANCE, PAGES_CPU_S, SITES_CPU_S
from benchmarks.pagerank.made_up_web import MadeUpWeb, make_up
from benchmarks.pagerank.processes import PROCESSES, SLOTS, compute
from benchmarks.pagerank.reference import networkx_s, power_iteration
from index.rank.host_rank import host_edges, rank_hosts
from index.rank.link_graph import build_graph
from index.rank.page_rank import CONVERGED, rank_pages
from index.rank.told_hosts import rank_told_hosts

HOST_SLOTS = 256
SITES, PAGES, LINKS = 35_602, 1_000_000, 10_000_000  # sites: of Li, Ai & Wang 2018
SOURCE_S = "585 s in the source of 2018, four machines"


def site_rows(web: MadeUpWeb, sites: int) -> list[Row]:
    """Rank the sites of a web, each a domain of its own."""
    source = np.repeat(np.arange(len(web.numbers)), np.diff(web.starts))
    pairs = np.unique(web.site[source] * sites + web.site[web.targets])
    source, target = pairs // sites, pairs % sites
    source, target = source[source != target], target[source != target]
    names = [str(site) for site in range(sites)]
    began = time.process_time()
    cuts = np.searchsorted(source, np.arange(sites + 1))
    links = {names[n]: [names[t] for t in target[cuts[n] : cuts[n + 1]].tolist()] for n in range(sites)}
    edges = host_edges(links.items(), lambda host: host)
    read_s = time.process_time() - began
    began = time.process_time()
    ranks = rank_hosts(edges)
    took_s = time.process_time() - began
    order = np.array([int(host) for host in edges.hosts])
    away = _millionths(ranks, power_iteration(source, target, sites)[order])
    about = f"{sites:,} sites, {len(source):,} edges"
    told = {slot: {name: links[name] for name in names[slot::HOST_SLOTS]} for slot in range(HOST_SLOTS)}
    began = time.process_time()
    found = rank_told_hosts(told, dict.fromkeys(told, len(web.numbers)), lambda host: int(host) % HOST_SLOTS, str)
    told_s = time.process_time() - began
    assert found.ranks is not None
    told_away = _millionths(found.ranks, power_iteration(source, target, sites)[[int(host) for host in found.hosts]])
    return [
        row(f"ranks of {about}, CPU", [took_s], "s", goal=SITES_CPU_S, peer=SOURCE_S),
        row(f"the same beside networkx, {about}", [took_s], "s", peer=networkx_s(source, target, sites, CONVERGED)),
        row(f"reading {about}, CPU", [read_s], "s"),
        row(f"distance from the reference, {about}", [away], "millionths", goal=DISTANCE),
        row(f"ranks as {HOST_SLOTS} slots tell of {about}, CPU", [told_s], "s"),
        row(f"distance from the reference, as {HOST_SLOTS} slots tell", [told_away], "millionths", goal=DISTANCE),
    ]


def page_rows(web: MadeUpWeb, true: NDArray[np.float64]) -> list[Row]:
    """Rank the pages of a web on one node."""
    about = f"{len(web.numbers):,} pages, {len(web.targets):,} links"
    began = time.process_time()
    graph = build_graph(web.links())
    read_s = time.process_time() - began
    began = time.process_time()
    found = rank_pages(graph)
    took_s = time.process_time() - began
    away = _millionths(found.ranks, true[_pages(graph.numbers)])
    return [
        row(f"ranks of {about}, CPU", [took_s], "s", goal=PAGES_CPU_S),
        row(f"sweeps, {about}", [found.sweeps], "sweeps"),
        row(f"reading {about} into a graph, CPU", [read_s], "s"),
        row(f"distance from the reference, {about}", [away], "millionths", goal=DISTANCE),
        row("the same, as proved without one", [found.error * 1e6], "millionths", goal=DISTANCE),
        row(
            "memory of the whole benchmark, at most", [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024], "MB"
        ),
    ]


def network_rows(web: MadeUpWeb, true: NDArray[np.float64]) -> list[Row]:
    """Rank the pages of a web over several processes."""
    found = compute(web)
    away = _millionths(found.values / found.values.sum(), true[_pages(found.numbers)])
    about = f"{PROCESSES} processes, {SLOTS} slots"
    crossing = sum(found.bytes)
    return [
        row(f"distance from the reference, {about}", [away], "millionths", goal=DISTANCE),
        row(f"the same, as proved by what they say, {about}", [found.error * 1e6], "millionths", goal=DISTANCE),
        row(f"rounds, {about}", [len(found.bytes)], "rounds"),
        row(f"kB between processes in the first round, {about}", [found.bytes[0] / 1e3], "kB"),
        row(f"kB a round, {about}", [each / 1e3 for each in found.bytes], "kB"),
        row(f"MB in all, {about}", [crossing / 1e6], "MB"),
        row(f"CPU of all, {about}", [sum(found.cpu_s)], "s"),
        row(f"CPU of each, {about}", found.cpu_s, "s"),
    ]


def _millionths(ranks: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    return float(np.abs(ranks - true).sum()) * 1e6


def _pages(numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (numbers & np.uint64((1 << 48) - 1)).astype(np.int64)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the web that is made up")
    parser.add_argument("--part", choices=("sites", "pages", "network"), help="only this part; else all")
    options = parser.parse_args(arguments)
    web = make_up(options.seed, *(each // 10 if options.quick else each for each in (SITES, PAGES, LINKS)))
    rows, pages = list[Row](), len(web.numbers)
    if options.part in (None, "sites"):
        rows += site_rows(web, int(web.site[-1]) + 1)
    if options.part != "sites":
        true = power_iteration(np.repeat(np.arange(pages), np.diff(web.starts)), web.targets, pages)
        rows += page_rows(web, true) if options.part != "network" else []
        rows += network_rows(web, true) if options.part != "pages" else []
    show("pagerank", rows, ["numpy", "networkx", "scipy"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
