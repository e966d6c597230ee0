"""Asks a network of five nodes while other programs take all processors.

The goal holds whatever else the machine does: an answer comes in time, whole or not. Nodes and other programs have the
same priority.
"""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context

from benchmarks.figures import Row, row
from benchmarks.query.crowd import Load, overload, percentile
from benchmarks.query.five_nodes import FiveNodes
from benchmarks.query.goals import BUSY_P99_MS

PROGRAMS = 40  # that take whatever processor time they get
PER_S = 2.0  # queries
BEGUN_S = 5.0  # until the nodes have felt it
SPIN = "import sys, time; end = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"


@contextmanager
def other_programs(count: int, most_s: float) -> Iterator[None]:
    """Keep all processors busy for the block, and no longer than `most_s`, whatever becomes of this process."""
    programs = [subprocess.Popen([sys.executable, "-c", SPIN, str(most_s)]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


async def busy_rows(network: FiveNodes, queries: Iterator[str], for_s: float) -> list[Row]:
    """Return the rows of queries to one node beside other programs."""
    with other_programs(PROGRAMS, 5 * for_s + 60.0):
        await asyncio.sleep(BEGUN_S)
        asked = list(islice(queries, int(PER_S * for_s)))
        load = await _asked_from_outside(network.nodes[0].web_port, asked, for_s)
    return _rows(load, f"beside {PROGRAMS} other programs")


async def _asked_from_outside(port: int, queries: Sequence[str], for_s: float) -> Load:
    """Ask from a process that does nothing else: this one is the web that the nodes crawl."""
    with ProcessPoolExecutor(1, get_context("spawn")) as asker:
        return await asyncio.get_running_loop().run_in_executor(asker, _ask, port, queries, for_s)


def _ask(port: int, queries: Sequence[str], for_s: float) -> Load:
    return asyncio.run(overload(port, iter(queries), PER_S, for_s))


def _rows(load: Load, what: str) -> list[Row]:
    count = len(load.replies) + load.silent
    walls = sorted([*load.answers, *[20_000.0] * load.silent])
    inside = [each.said()["took_ms"] for each in load.replies if each.is_answer]
    return [
        row(f"{what}: load of the machine", [os.getloadavg()[0]], ""),
        row(f"{what}: wall p50 of answers", [percentile(walls, 50)], "ms"),
        row(f"{what}: wall p95 of answers", [percentile(walls, 95)], "ms"),
        row(f"{what}: wall p99 of answers", [percentile(walls, 99)], "ms", goal=BUSY_P99_MS),
        row(f"{what}: of it within the search, p99", [percentile(inside, 99)], "ms"),
        row(f"{what}: partial", [load.partial / count], "share"),
        row(f"{what}: refused", [len(load.refusals) / count], "share"),
        row(f"{what}: not answered within 20 s", [load.silent / count], "share"),
    ]
