"""Takes the time of a side: the processor's of this process with all its threads, and the wall's."""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class Took(NamedTuple):
    """Seconds that some work took."""

    cpu_s: float
    wall_s: float


def timed(work: Callable[[], object]) -> Took:
    """Run some work and return what it took."""
    began, used = time.perf_counter(), time.process_time()
    work()
    return Took(time.process_time() - used, time.perf_counter() - began)


def written_bytes() -> int:
    """Return how many bytes this process has handed to the system so far, to files and sockets."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar:"))


@contextmanager
def new_folder() -> Iterator[Path]:
    """Make a folder on the disk of temporary files for the body of a `with`, and delete it."""
    folder = Path(tempfile.mkdtemp(prefix="dse-store-"))
    try:
        yield folder / "store"
    finally:
        shutil.rmtree(folder)
