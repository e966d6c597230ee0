"""Says what this process takes of its machine, as far as the system and its C library tell."""

import ctypes
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

_NAMES = ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"]


class _MallInfo2(ctypes.Structure):
    """The structure that glibc's mallinfo2(3) fills in, from version 2.33 on."""

    _fields_ = [(name, ctypes.c_size_t) for name in _NAMES]


def process_figures(tasks: int) -> Iterable[Metric]:
    """Yield tasks, threads and memory as Prometheus figures; `tasks`: of the event loop, now."""
    yield GaugeMetricFamily("dse_tasks", "Tasks of the event loop", value=tasks)
    yield GaugeMetricFamily("dse_threads", "Threads of this process", value=_threads())
    if (own := own_memory()) is not None:
        yield GaugeMetricFamily("dse_own_memory_bytes", "Resident memory that no file backs", value=own)
    blocks = sys.getallocatedblocks()
    yield GaugeMetricFamily("dse_python_blocks", "Blocks of memory that the interpreter's objects take", value=blocks)
    if (heap := heap_bytes()) is not None:
        family = GaugeMetricFamily("dse_heap_bytes", "Memory of the C library's heap", labels=["state"])
        for state, value in heap.items():
            family.add_metric([state], value)
        yield family


def heap_bytes() -> dict[str, int] | None:
    """Return the bytes of the C library's heap by state: used, free (given back or not), and in large blocks that are
    mapped by themselves. None where the library does not tell (glibc before 2.33, others)."""
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except (OSError, AttributeError, TypeError):
        return None
    mallinfo2.restype = _MallInfo2
    told = mallinfo2()
    return {"used": told.uordblks, "free": told.fordblks, "mapped": told.hblkhd}


def own_memory(proc: Path = Path("/proc/self/status")) -> int | None:
    """Return the bytes of resident memory that no file backs, where the system tells: what a process allocated.

    Resident memory counts pages of mapped files too, which come and go as index files are merged."""
    try:
        lines = proc.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:")), None)


def _threads(proc: Path = Path("/proc/self/task")) -> int:
    """Return how many threads there are, those of libraries included where the system tells."""
    try:
        return len(list(proc.iterdir()))
    except OSError:
        return threading.active_count()
