"""Counts the processor's instructions for a page in the parser, for a page in the index, and for a query.

    python -m benchmarks.instructions [--json] [--tree DIR]

Instructions do not depend on what else the machine does. Valgrind counts them (`cachegrind` without its caches), and
without valgrind nothing is measured. Each figure is a ratio to UNIT rounds of a loop in Python, counted the same way:
another build of Python changes it little. PAGES pages of the bundled sample warm everything up; of as many others, each
is parsed, indexed and asked for. A task's instructions are those of a process that does it after the warm-up, less
those of a process that only warms up. Two counts of the same program differ by up to NOISE. `tests/data/ratchet.toml`
has the ceilings.
"""

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parents[1]
PAGES = 23
LOOPS, UNIT = 1_000_000, 1_000  # rounds that are counted, and rounds to which all is compared
PARSED = 2  # times each page
QUERY_WORDS = 2
MAX_LINKS, MAX_TEXT_CHARS = 2_000, 1 << 20
TASKS = ("parser", "index", "query")
LOOP = "loop"
BARE, NODE = "warm parser", "warm node"  # warm-ups alone; threads of a node vary by some million instructions
RUNS = (BARE, LOOP, "parser", NODE, "index", "query")
SLOWER = 50  # so many times slower go the clocks, since valgrind slows everything down: no deadline passes
COUNTED = re.compile(rb"I\s+refs:\s+([\d,]+)")
WITHIN_S = 900
NOISE = 0.05
MISSING = "valgrind is not installed"


def has_valgrind() -> bool:
    """Tell whether instructions can be counted on this machine."""
    return which("valgrind") is not None


def measure(tree: Path = ROOT) -> tuple[dict[str, int], int]:
    """Return the instructions of each task for one page or query, and those of UNIT rounds of the loop."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(RUNS, pool.map(lambda task: _counted(tree, task), RUNS), strict=True))
    counts = {
        "parser": (found["parser"] - found[BARE]) // (PARSED * PAGES),
        "index": (found["index"] - found[NODE]) // PAGES,
        "query": (found["query"] - found[NODE]) // PAGES,
    }
    return counts, (found[LOOP] - found[BARE]) * UNIT // LOOPS


def _counted(tree: Path, task: str) -> int:
    """Count the instructions of a process that warms up and does a task."""
    counter = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*counter, sys.executable, str(Path(__file__).resolve()), "--task", task, "--tree", str(tree)],
        capture_output=True, env=environment, timeout=WITHIN_S,
    )  # fmt: skip
    found = COUNTED.search(done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"{task} failed:\n{done.stderr.decode()[-2000:]}")
    return int(found[1].replace(b",", b""))


def loop() -> int:
    """Do the work that everything is compared with."""
    total = 0
    for number in range(LOOPS):
        total = (total * 31 + number) & 0xFFFFFFFF
    return total


def work(task: str) -> None:
    """Warm up, and do one task."""
    warm, cold, unread = _sample()
    parse(warm)
    if task == LOOP:
        loop()
    elif task == "parser":
        parse(unread * PARSED)
    elif task != BARE:
        asyncio.run(work_on_node(task, warm, cold))


async def work_on_node(task: str, warm: Sequence[tuple[str, bytes]], cold: Sequence[tuple[str, bytes]]) -> None:
    """Have a node index some pages and answer queries for them; do one task with the others."""
    from benchmarks.search.one_node import TextsOfLog, node_of
    from benchmarks.search.web_pages import WebPage, read_page
    from index import DocumentChange

    pages = {name: [read_page(*file) for file in files] for name, files in (("warm", warm), ("cold", cold))}
    log = list[DocumentChange]()

    async def add(added: Sequence[WebPage]) -> None:
        log.extend(DocumentChange(page.text.id, page.text) for page in added)
        await node.follow()

    async def ask(asked: Sequence[WebPage]) -> None:
        for page in asked:
            await node.ask(" ".join(page.text.body.split()[:QUERY_WORDS]))

    with tempfile.TemporaryDirectory() as folder:
        async with node_of(log, "tantivy", Path(folder), TextsOfLog(log)) as node:
            await add(pages["warm"])
            await ask(pages["warm"])
            if task == "index":
                await add(pages["cold"])
            elif task == "query":
                await ask(pages["cold"])


def parse(files: Sequence[tuple[str, bytes]]) -> None:
    """Parse pages as a parser process does."""
    from crawl.content.page import ParseTask
    from crawl.parsing.worker import parse_once

    for url, html in files:
        parse_once(ParseTask(url, html, "text/html", "", MAX_LINKS, MAX_TEXT_CHARS))


def _sample() -> Sequence[Sequence[tuple[str, bytes]]]:
    """Return three times PAGES addresses and pages of all hosts of the bundled sample."""
    from benchmarks.search.web_pages import page_files

    try:
        from node.extras.demo.sample_web import unpack_sample
    except ModuleNotFoundError:  # where the demo was no extra yet
        from node.demo.sample_web import unpack_sample  # type: ignore[no-redef]

    with tempfile.TemporaryDirectory() as folder:
        unpack_sample(Path(folder))
        files = [(url, path.read_bytes()) for url, path in page_files(Path(folder))]
    step = len(files) // (3 * PAGES)
    return [files[first * step :: 3 * step][:PAGES] for first in range(3)]


def slow_clocks() -> None:
    """Make the clocks of this process go as slowly as its work."""
    for name in ("time", "monotonic", "perf_counter", "clock_gettime"):
        setattr(time, name, _slowed(getattr(time, name)))


def _slowed(clock: Callable[..., float]) -> Callable[..., float]:
    began: dict[tuple[object, ...], float] = {}

    def read(*which_one: object) -> float:
        now = clock(*which_one)
        start = began.setdefault(which_one, now)
        return start + (now - start) / SLOWER

    return read


def main() -> int:
    """Count, and print the ratios."""
    parser = argparse.ArgumentParser(description="counts instructions for a page and for a query")
    parser.add_argument("--json", action="store_true", help="print the ratios as one JSON object")
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="DIR", help="the checkout that runs")
    parser.add_argument("--task", choices=RUNS, help="do the work itself, as valgrind's process does")
    chosen = parser.parse_args()
    if chosen.task is not None:
        sys.path[0] = str(chosen.tree)  # not the folder of this file: that has rooms of the same names
        slow_clocks()
        work(chosen.task)
    elif not has_valgrind():
        print(f"instructions: left out, {MISSING}")
    else:
        found, unit = measure(chosen.tree.resolve())
        figures = {name: round(count / unit, 2) for name, count in found.items()}
        lines = [f"{name}: {figures[name]} units, {count:,} instructions" for name, count in found.items()]
        print(json.dumps(figures) if chosen.json else "\n".join([*lines, f"a unit: {unit:,} instructions"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
