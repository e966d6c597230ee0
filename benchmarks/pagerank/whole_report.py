"""A process of its own that makes a web report of a made-up web, and prints its cost as JSON.

`python -m benchmarks.pagerank.whole_report PROCESSES SITES PAGES LINKS SEED`
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.pagerank.made_up_web import make_up
from node.extras.web_report.html_page import html_page
from node.extras.web_report.link_table import SiteGroups, WebTable
from node.extras.web_report.page_life import page_life
from node.extras.web_report.page_rank import in_links
from node.extras.web_report.rank_processes import ranks_by
from node.extras.web_report.report import ReportCoverage, measure, report_of

PROC = Path("/proc/self")


class Cost(msgspec.Struct, frozen=True, array_like=True):
    """Cost of one report, from the graph of its links to the page. Memory is the most in that time."""

    wall_s: float
    ranks_s: float  # of it, for PageRank
    cpu_s: float  # of all processes
    own_mb: float  # of the process that writes the report


def cost_of(processes: int, size: tuple[int, int, int], seed: int) -> Cost:
    """Make a report in a process of its own. `size`: sites, pages, links of its web."""
    words = [str(each) for each in (processes, *size, seed)]
    command = [sys.executable, "-m", "benchmarks.pagerank.whole_report", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout, type=Cost)


def main() -> int:
    """Make the report."""
    processes, sites, pages, links, seed = map(int, sys.argv[1:])
    web = make_up(seed, sites, pages, links).graph()
    domains = np.arange(len(web.site_names), dtype=np.int32)
    ungrouped = SiteGroups(np.full(len(web.site_names), -1, dtype=np.int32), ())
    sizes = np.random.default_rng(seed).integers(0, 30_000, pages)
    table = WebTable(web, domains, {"en": pages}, sizes, 0, ungrouped, ungrouped)
    del web
    PROC.joinpath("clear_refs").write_text("5")  # Linux: the peak of memory begins anew
    used_s, began = time.process_time(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        page_ranks = ranks_by(processes, in_links(table.graph), Path(folder))
    ranks_s = time.perf_counter() - began
    measured = measure(table, page_ranks, seed)
    html_page(report_of(measured, measured.wanted(), ReportCoverage(), seed, page_life(())))
    wall_s, workers = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = time.process_time() - used_s + workers.ru_utime + workers.ru_stime
    print(json.dumps([wall_s, ranks_s, cpu_s, _most_mb()]))
    return 0


def _most_mb() -> float:
    (line,) = [line for line in PROC.joinpath("status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    sys.exit(main())
