"""Caps the processor time of several programs alike, each with its children, by a control group for each.

Version 1 of control groups with its controller `cpu`, which root may use; where there is none, nothing is capped and
`can_cap` says so. Groups are made below the one that this program is in, and removed at the end.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.cpu import tree

MOUNT = Path("/sys/fs/cgroup/cpu")
PERIOD_US = 20_000  # the kernel's 100 ms would stop a node for longer than its peers wait for an answer


def can_cap() -> bool:
    """Tell whether this machine lets us cap programs."""
    return os.access(_ours(), os.W_OK) and (_ours() / "cpu.cfs_quota_us").is_file()


@contextmanager
def capped(roots: Sequence[int], share: float) -> Iterator[None]:
    """Give each program, with the children that it has now and those to come, so much of one core."""
    groups = [_ours() / f"dse-bench-{root}" for root in roots]
    try:
        for root, group in zip(roots, groups, strict=True):
            group.mkdir()
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(int(share * PERIOD_US)))
            for pid in tree(root):
                (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        for group in filter(Path.is_dir, groups):
            for pid in (group / "cgroup.procs").read_text().split():
                (_ours() / "cgroup.procs").write_text(pid)
            group.rmdir()


def _ours() -> Path:
    """Return the group of this program."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return MOUNT / next((path.lstrip("/") for _, names, path in lines if "cpu" in names.split(",")), "none")
