"""Runs the parts of the crawler's benchmark in their order."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.crawl import copies, index_copies, mechanisms, memory, million, ratio, scaling
from benchmarks.crawl import open as open_
from benchmarks.figures import Row

PARTS = {
    "ratio": ratio,
    "open": open_,
    "scaling": scaling,
    "mechanisms": mechanisms,
    "copies": copies,
    "index-copies": index_copies,
    "million": million,
    "memory": memory,
}
# With --quick, so that all ends within a minute: each lane one after the other, both at once. Most of a small run is
# starting and waiting, and what is compared is processor time, not walls.
LANES = (("ratio", "million", "mechanisms"), ("open", "scaling", "copies", "index-copies", "memory"))


def measured(parts: Sequence[str], quick: bool, web: Path | None) -> Mapping[str, Sequence[Row]]:
    """Return the rows of these parts, run one after the other."""
    return {name: PARTS[name].rows(quick, web) for name in parts}


def side_by_side(web: Path | None) -> Mapping[str, Sequence[Row]]:
    """Return the rows of all parts, run small, each lane in a process of its own."""
    with ProcessPoolExecutor(len(LANES), get_context("spawn")) as pool:
        running = [pool.submit(measured, lane, True, web) for lane in LANES]
        return {name: rows for lane in running for name, rows in lane.result().items()}
