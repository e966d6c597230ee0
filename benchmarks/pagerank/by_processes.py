"""Computes ranks in several processes, as `dse-node web-report --processes N` does, and measures what they cost."""

import os
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path

from benchmarks.cpu import process_s, pss_bytes
from benchmarks.crawl.cap import capped
from node.extras.web_report.page_rank import InLinks, Ranks, rank
from node.extras.web_report.rank_processes import sweeper


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """Ranks and their cost, from when all processes have started and opened the links.

    cpu_s: of this process, which leads them, and of all others.
    worker_bytes: memory of all but this process at the end; what they share counts once.
    """

    ranks: Ranks
    wall_s: float
    cpu_s: float
    worker_bytes: int


def compute(links: InLinks, processes: int, share: float | None = None) -> Computed:
    """Compute ranks in so many processes beside this one. `share`: of one core, the most that each may use."""
    with tempfile.TemporaryDirectory() as folder, sweeper(links, processes, Path(folder)) as sweeps:
        workers = [child.pid for child in active_children() if child.pid]
        pids = [os.getpid(), *workers]
        with capped(workers, share) if share else nullcontext():
            before_s, began = sum(map(process_s, pids)), time.perf_counter()
            found = rank(links, sweeps)
            wall_s, cpu_s = time.perf_counter() - began, sum(map(process_s, pids)) - before_s
        return Computed(found, wall_s, cpu_s, sum(map(pss_bytes, workers)))
