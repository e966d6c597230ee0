"""Counts the processor's instructions for a page in the parser, for a page in the index, and for a query.

    python -m benchmarks.instructions [--json] [--tree DIR]

Instructions do not depend on what else the machine does. Valgrind counts them (`cachegrind` without its caches), and
without valgrind nothing is measured. Each figure is a ratio to UNIT rounds of a loop in Python, counted the same way:
another build of Python changes it little. PAGES pages of the bundled sample warm everything up; of as many others, each
is parsed, indexed and asked for. A task's instructions are those of a process that does it after the warm-up, less
those of a process that only warms up. `tests/data/ratchet.toml` has the ceilings.
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
PARSED = 4  # times each page, since threads of the start-up make a process vary by some million instructions
QUERY_WORDS = 2
MAX_LINKS, MAX_TEXT_CHARS = 2_000, 1 << 20
TASKS = ("parser", "index", "query")
LOOP = "loop"
SLOWER = 50  # so many times slower go the clocks, since valgrind slows everything down: no deadline passes
COUNTED = re.compile(rb"I\s+refs:\s+([\d,]+)")
WITHIN_S = 900
MISSING = "valgrind is not installed"


def has_valgrind() -> bool:
    """Tell whether instructions can be counted on this machine."""
    return which("valgrind") is not None


def measure(tree: Path = ROOT) -> tuple[dict[str, int], int]:
    """Return the instructions of each task for one page or query, and those of UNIT rounds of the loop."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        warm, loop, *each = pool.map(lambda task: _counted(tree, task), ("", LOOP, *TASKS))
    times = {"parser": PARSED * PAGES}
    counts = {task: (n - warm) // times.get(task, PAGES) for task, n in zip(TASKS, each, strict=True)}
    return counts, (loop - warm) * UNIT // LOOPS


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
        raise RuntimeError(f"{task or 'the warm-up'} failed:\n{done.stderr.decode()[-2000:]}")
    return int(found[1].replace(b",", b""))


def loop() -> int:
    """Do the work that everything is compared with."""
    total = 0
    for number in range(LOOPS):
        total = (total * 31 + number) & 0xFFFFFFFF
    return total


async def work(task: str) -> None:
    """Warm up, and do one task."""
    from benchmarks.search.one_node import TextsOfLog, node_of
    from benchmarks.search.web_pages import WebPage, read_page
    from index import DocumentChange

    files = _sample()
    warm, cold = ([read_page(*file) for file in each] for each in files[:2])
    log = list[DocumentChange]()

    async def add(pages: Sequence[WebPage]) -> None:
        log.extend(DocumentChange(page.text.id, page.text) for page in pages)
        await node.follow()

    async def ask(pages: Sequence[WebPage]) -> None:
        for page in pages:
            await node.ask(" ".join(page.text.body.split()[:QUERY_WORDS]))

    with tempfile.TemporaryDirectory() as folder:
        async with node_of(log, "tantivy", Path(folder), TextsOfLog(log)) as node:
            parse(files[0])
            await add(warm)
            await ask(warm)
            if task == LOOP:
                loop()
            elif task == "parser":
                parse(files[2] * PARSED)
            elif task == "index":
                await add(cold)
            elif task == "query":
                await ask(cold)


def parse(files: Sequence[tuple[str, bytes]]) -> None:
    """Parse pages as a parser process does."""
    from crawl.content.parse_task import ParseTask
    from crawl.parsing.inline import parse_once

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
    parser.add_argument("--task", choices=["", LOOP, *TASKS], help="do the work itself, as valgrind's process does")
    chosen = parser.parse_args()
    if chosen.task is not None:
        sys.path[0] = str(chosen.tree)  # not the folder of this file: that has rooms of the same names
        slow_clocks()
        asyncio.run(work(chosen.task))
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
