"""Measures what a node takes that has pages and nothing to do: memory, processor, disk.

A node on loopback, a network of one, is given so many pages as a WARC: those of the bundled sample web, again and again
under other names. It is left alone until it has indexed all pages, and ten minutes more for what work left in memory.
Then Linux's counters of it and its child processes are read for some minutes. They are anonymous memory (smaps_rollup;
without mapped files, which could be dropped), seconds of the processor, and bytes written to the disk.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.archive import MADE_AT, captures
from benchmarks.cpu import PROC, tree, tree_s
from benchmarks.figures import Row, row
from benchmarks.lone_node import LoneNode, dse_node, new_node
from node.extras.archive.warc_writer import write_warc

GOAL_MEMORY_MB, GOAL_CPU_SHARE, GOAL_WRITTEN_MB_H = 110.0, 0.005, 1.0
PAGES, QUICK_PAGES = 10_000, 500
WATCHED_S, QUICK_WATCHED_S = 300.0, 20.0
GIVES_UP_WITHIN_S = 600.0
LOOK_S, RESTING_SHARE = 20.0, 0.02  # of a core, over a look: what was begun is done
PATIENCE_S = 1800.0


def rows(is_quick: bool) -> list[Row]:
    """Build such a node, wait until it rests, and watch it."""
    pages, watched_s = (QUICK_PAGES, QUICK_WATCHED_S) if is_quick else (PAGES, WATCHED_S)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        node, archive = new_node(folder), folder / "pages.warc"
        with archive.open("wb") as out:
            write_warc(captures(pages), out, MADE_AT)
        with node.running() as pid:
            _until(node.shows_page)
            dse_node("archive", "import", str(archive), "--data-dir", str(node.home))
            _until(lambda: node.status()["documents"] >= pages)
            _rest(pid)
            time.sleep(0 if is_quick else GIVES_UP_WITHIN_S)
            return _watched(pid, watched_s, node)


def _watched(pid: int, watched_s: float, node: LoneNode) -> list[Row]:
    began, used_s, written = time.monotonic(), tree_s(pid), _written_bytes(pid)
    time.sleep(watched_s)
    took_s = time.monotonic() - began
    share = (tree_s(pid) - used_s) / took_s
    written_mb_h = (_written_bytes(pid) - written) / 1e6 / took_s * 3600
    about = f"idle node, {node.status()['documents']:,} pages, {sum(1 for _ in tree(pid))} processes"
    anonymous = _memory_mb(pid, "Anonymous:")
    private = _memory_mb(pid, "Private_Clean:") + _memory_mb(pid, "Private_Dirty:")
    return [
        row(f"{about}: private memory", [anonymous], "MB", goal=GOAL_MEMORY_MB),
        row("mapped of files by it alone, beside", [max(private - anonymous, 0.0)], "MB"),
        row("the processor", [share], "of a core", goal=GOAL_CPU_SHARE),
        row("written to the disk", [written_mb_h], "MB/h", goal=GOAL_WRITTEN_MB_H),
    ]


def _rest(pid: int) -> None:
    """Wait until the processes do next to nothing."""
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE_S:
        used_s, at = tree_s(pid), time.monotonic()
        time.sleep(LOOK_S)
        if tree_s(pid) - used_s < RESTING_SHARE * (time.monotonic() - at):
            return
    raise RuntimeError("the node does not come to rest")


def _until(holds: Callable[[], bool]) -> None:
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > PATIENCE_S:
            raise RuntimeError("the node does not get that far")
        time.sleep(0.5)


def _memory_mb(pid: int, field: str) -> float:
    return sum(_counted(pid, "smaps_rollup", field)) * 1024 / 1e6


def _written_bytes(pid: int) -> int:
    return sum(_counted(pid, "io", "write_bytes:"))


def _counted(root: int, file: str, field: str) -> list[int]:
    """Read a field of a file of each process."""
    lines = [line.split() for pid in tree(root) for line in (PROC / str(pid) / file).read_text().splitlines()]
    return [int(words[1]) for words in lines if words[0] == field]
