"""Measures PageRank of the web report, and the cost of a whole report.

The rows are CPU time for 35,602 sites, and for 10⁶ pages with 10⁷ links (in --quick a tenth), in one process and in
several. The peers are networkx and a reference solved to 1e-12. The web is made up by a seed. Sorting links by their
target is told apart.

`python -m benchmarks.pagerank [--part sites|pages|processes|report] [--quick] [--json] [--seed N]`
"""

import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import Row, parser_for, row, show
from benchmarks.pagerank.by_processes import compute
from benchmarks.pagerank.goals import DISTANCE, PAGES_CPU_S, SITES_CPU_S
from benchmarks.pagerank.made_up_web import MadeUpWeb, make_up
from benchmarks.pagerank.reference import networkx_s, power_iteration
from benchmarks.pagerank.whole_report import cost_of
from node.extras.web_report.page_rank import CONVERGED, OneSweeper, in_links, rank
from node.extras.web_report.site_rank import rank_sites
from node.extras.web_report.web_graph import distinct

PARTS = ("sites", "pages", "processes", "report")
PROCESSES = (1, 2, 4)
SITES, PAGES, LINKS = 35_602, 1_000_000, 10_000_000  # sites: of Li, Ai & Wang 2018
SOURCE_S = "585 s in the source of 2018, four machines"


def site_rows(web: MadeUpWeb) -> list[Row]:
    """Rank the sites of a web, each a domain of its own."""
    graph = web.graph()
    sites = len(graph.site_names)
    pairs = distinct(web.site[web.sources] * sites + web.site[web.targets])
    source, target = pairs // sites, pairs % sites
    source, target = source[source != target], target[source != target]
    began = time.process_time()
    found = rank_sites(graph, np.arange(sites, dtype=np.int32))
    took_s = time.process_time() - began
    about = f"{sites:,} sites, {len(source):,} edges"
    away = _millionths(found.ranks, power_iteration(source, target, sites))
    return [
        row(f"ranks of {about}, from the links of all pages, CPU", [took_s], "s", goal=SITES_CPU_S, peer=SOURCE_S),
        row(f"the same beside networkx, {about}", [took_s], "s", peer=networkx_s(source, target, sites, CONVERGED)),
        row(f"distance from the reference, {about}", [away], "millionths", goal=DISTANCE),
    ]


def page_rows(web: MadeUpWeb, true: NDArray[np.float64]) -> list[Row]:
    """Rank the pages of a web in this process."""
    about = f"{len(true):,} pages, {len(web.targets):,} links"
    began = time.process_time()
    links = in_links(web.graph())
    sorted_s = time.process_time() - began
    began = time.process_time()
    found = rank(links, OneSweeper(links))
    took_s = time.process_time() - began
    return [
        row(f"ranks of {about}, CPU", [took_s], "s", goal=PAGES_CPU_S),
        row(f"sweeps, {about}", [found.sweeps], "sweeps"),
        row(f"sorting {about} by target, CPU", [sorted_s], "s"),
        row(f"distance from the reference, {about}", [_millionths(found.ranks, true)], "millionths", goal=DISTANCE),
        row("the same, as proved without one", [found.error * 1e6], "millionths", goal=DISTANCE),
    ]


def process_rows(web: MadeUpWeb, true: NDArray[np.float64]) -> list[Row]:
    """Rank the pages of a web in several processes."""
    links, rows = in_links(web.graph()), list[Row]()
    for processes in PROCESSES:
        found = compute(links, processes)
        rows += [
            row(f"ranks by {processes}, wall", [found.wall_s], "s"),
            row(f"ranks by {processes}, CPU of all", [found.cpu_s], "s"),
            row(f"sweeps, {processes} processes", [found.ranks.sweeps], "sweeps"),
            row(f"distance, {processes}", [_millionths(found.ranks.ranks, true)], "millionths", goal=DISTANCE),
            row(f"memory of {processes} processes", [found.worker_bytes / 1e6], "MB"),
        ]
    return rows


def report_rows(size: tuple[int, int, int], seed: int) -> list[Row]:
    """Make whole reports of a web."""
    rows = list[Row]()
    for processes in PROCESSES:
        cost = cost_of(processes, size, seed)
        rows += [
            row(f"a report by {processes}, wall", [cost.wall_s], "s"),
            row(f"of it PageRank, with start of processes, by {processes}", [cost.ranks_s], "s"),
            row(f"CPU of all, by {processes}", [cost.cpu_s], "s"),
            row(f"memory at most, without workers, by {processes}", [cost.own_mb], "MB"),
        ]
    return rows


def _millionths(ranks: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    return float(np.abs(ranks - true).sum()) * 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return 0 whether goals are met or not."""
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="of the web that is made up")
    parser.add_argument("--part", choices=PARTS, help="only this part; else all")
    options = parser.parse_args(arguments)
    parts = (options.part,) if options.part else PARTS
    sites, pages, links = (each // 10 if options.quick else each for each in (SITES, PAGES, LINKS))
    rows = list[Row]()
    if "report" in parts:
        rows += report_rows((sites, pages, links), options.seed)
    if parts != ("report",):
        web = make_up(options.seed, sites, pages, links)
        rows += site_rows(web) if "sites" in parts else []
        if {"pages", "processes"} & {*parts}:
            true = power_iteration(web.sources, web.targets, pages)
            rows += page_rows(web, true) if "pages" in parts else []
            rows += process_rows(web, true) if "processes" in parts else []
    show("pagerank", rows, ["numpy", "networkx", "scipy"], as_json=options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
