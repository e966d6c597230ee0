"""Computes PageRank in several processes, each of which solves the equations of a block of pages.

The links and the values lie in files that all processes map into memory. In a sweep each process reads the values of
the sweep before, but for its own pages, and writes those of its pages; then all wait for the last one. So the same
number of processes gives the same ranks.
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from node.errors import NothingToDo
from node.extras.web_report.page_rank import BASE, InLinks, OneSweeper, Ranks, Sweeps, Values, rank, solve_rows

ARRAYS = ("linked", "starts", "sources", "parts")
VALUES = "values"


def ranks_by(processes: int, links: InLinks, folder: Path) -> Ranks:
    """Compute the ranks of all nodes in so many processes. `folder`: where several may share files meanwhile."""
    if processes == 1 or not len(links.sources):
        return rank(links, OneSweeper(links))
    with sweeper(links, processes, folder) as sweeps:
        return rank(links, sweeps)


@contextmanager
def sweeper(links: InLinks, processes: int, folder: Path) -> Iterator[Sweeps]:
    """Open a sweeper over links, of which there are some, in so many processes beside this one.

    folder: where the processes share files, as long as the sweeper is open.
    Raises NothingToDo where a process dies."""
    context = get_context("spawn")  # a fork of a process with threads may hang
    with TemporaryDirectory(dir=folder, prefix="ranks-") as name:
        for array in ARRAYS:
            np.save(Path(name, array), getattr(links, array))
        np.save(Path(name, VALUES), np.full((2, links.nodes), BASE))
        both = np.load(Path(name, f"{VALUES}.npy"), mmap_mode="r+")
        try:
            with ProcessPoolExecutor(processes, context, _Block.open, (name, links.nodes)) as pool:
                yield _ManySweepers(links, pool, processes, both)
        except BrokenProcessPool:
            problem, remedy = "a process ended before its work was done", "give fewer, or fewer links (--max-links)"
            raise NothingToDo("--processes", problem, remedy) from None


class _ManySweepers:
    """Sweeps in the processes of a pool. The values before a sweep and those after it change places each time."""

    def __init__(self, links: InLinks, pool: ProcessPoolExecutor, processes: int, both: Values) -> None:
        giving = links.giving
        cuts = np.searchsorted(links.starts[: giving + 1], np.linspace(0, links.starts[giving], processes + 1)[1:-1])
        self._blocks = list(zip([0, *cuts.tolist()], [*cuts.tolist(), giving], strict=True))
        self._pool, self._both, self._turn = pool, both, 0
        list(pool.map(_Block.wait, range(processes)))  # all have started

    @property
    def values(self) -> Values:
        """The values of all nodes, as the last sweep left them."""
        found: Values = self._both[self._turn]
        return found

    def sweep(self) -> float:
        """Solve once the equations of all nodes that may link to others; return the sum of the changes."""
        tasks = [self._pool.submit(_Block.solve, first, last, self._turn) for first, last in self._blocks]
        moved = sum(task.result() for task in tasks)
        self._turn = 1 - self._turn
        return moved


class _Block:
    """Keeps what one process of the pool has open."""

    links: InLinks
    both: Values

    @classmethod
    def open(cls, folder: str, nodes: int) -> None:
        """Map the files of a folder."""
        cls.links = InLinks(nodes, *(np.load(Path(folder, f"{array}.npy"), mmap_mode="r") for array in ARRAYS))
        cls.both = np.load(Path(folder, f"{VALUES}.npy"), mmap_mode="r+")

    @staticmethod
    def wait(number: int) -> int:
        """Return the number once this process has opened its files."""
        return number

    @classmethod
    def solve(cls, first: int, last: int, turn: int) -> float:
        """Solve some rows from the values of this turn into those of the next."""
        return solve_rows(cls.links, first, last, cls.both[turn], cls.both[1 - turn])
