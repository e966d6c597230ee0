"""Reads the processor time of a process with all its descendants, dead ones included, as Linux counts it."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


def tree_s(root: int) -> float:
    """Return the seconds of user and system time of a process and its descendants; what has ended counts where it was
    waited for."""
    return sum(_times(pid) for pid in tree(root))


def used_s(pid: int) -> float:
    """Return the seconds of processor time of one process alone to the nanosecond, 0 where it is gone."""
    return _clock_s(~pid << 3 | 2)


def thread_used_s(thread: int) -> float:
    """Return the same of one thread, which the system's number names."""
    return _clock_s(~thread << 3 | 6)


def _clock_s(clock: int) -> float:
    """Read a clock that Linux has for each process and thread, named as its headers do: CPUCLOCK_SCHED is 2."""
    try:
        return time.clock_gettime(clock)
    except OSError:
        return 0.0


def process_s(pid: int) -> float:
    """Return the seconds of user and system time of one process alone, its threads that have ended included."""
    return sum(map(int, _stat(PROC / str(pid) / "stat")[1][11:13])) / TICKS


def pss_bytes(root: int) -> int:
    """Return the memory of a process and its living descendants; what several of them share counts once, in parts."""
    return memory_bytes(root, "Pss:")


def memory_bytes(root: int, name: str) -> int:
    """Return the sum of a line of smaps_rollup of a process and its living descendants."""
    found = 0
    for pid in tree(root):
        try:
            lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found += sum(int(line.split()[1]) << 10 for line in lines if line.startswith(name))
    return found


def threads_s(root: int) -> dict[str, float]:
    """Return the seconds of user and system time of one process's living threads, by their names."""
    found: dict[str, float] = {}
    for task in (PROC / str(root) / "task").iterdir():
        try:
            name, fields = _stat(task / "stat")
        except FileNotFoundError:
            continue
        found[name] = found.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / TICKS
    return found


def tree(root: int) -> Iterator[int]:
    """Yield a process and its living descendants."""
    children: dict[int, list[int]] = {}
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                parent = int(_stat(folder / "stat")[1][1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(folder.name))
    todo = [root]
    while todo:
        pid = todo.pop()
        yield pid
        todo += children.get(pid, [])


def _times(pid: int) -> float:
    try:
        fields = _stat(PROC / str(pid) / "stat")[1]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS


def _stat(path: Path) -> tuple[str, list[str]]:
    """Split a stat file into (command, fields from the third on): a command may hold spaces and brackets."""
    head, _, tail = path.read_text().rpartition(")")
    return head.partition("(")[2], tail.split()
