"""Runs a node that says what its memory holds:

    python -m benchmarks.crawl.held REPORT [--trace] ARGUMENTS…

runs `dse-node ARGUMENTS…`. At each SIGUSR1 it writes the file REPORT, a JSON object of bytes by holder. With `--trace`
it counts Python's objects by the package whose code made them, which takes twice the time and memory. From SIGUSR2
to the next it looks SOONER times as often whether it rests.
"""

import json
import os
import re
import signal
import sys
import tempfile
import threading
import tracemalloc
from collections import Counter
from pathlib import Path

ALWAYS_S, SOONER = 10.0, 20  # between two looks
PARSER_IDLE_S = 60.0  # instead of five minutes
LIBRARIES, HEAP, APART = "mapped files", "C heap", "mapped apart"
PACKAGES = frozenset({"bootstrap", "crawl", "dht", "index", "node", "store"})


def mapped(pid: int) -> dict[str, int]:
    """Return the bytes of a process by what is mapped there; of what several share, a part."""
    found, kind = Counter[str](), ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            name = words[5] if len(words) > 5 else ""
            kind = HEAP if name == "[heap]" else LIBRARIES if name.startswith("/") else APART
        elif words[0] == "Pss:":
            found[kind] += int(words[1]) << 10
    return dict(found)


def held() -> dict[str, int]:
    """Return the bytes of this process by holder."""
    if tracemalloc.is_tracing():
        return _traced()
    from node.web.monitoring import heap_bytes

    pages, heap, (room, used) = mapped(os.getpid()), heap_bytes() or Counter(), _python()
    return {
        "files mapped: libraries": pages[LIBRARIES],
        "small objects of Python": used,
        "free among them": room - used,
        "larger objects, SQLite, zstd, tantivy (C heap)": heap["used"],
        "free among them, not given back": max(0, pages[HEAP] - heap["used"]),
        "stacks and large buffers": max(0, pages[APART] - room),
    }


def _python() -> tuple[int, int]:
    """Return the bytes that Python has for small objects, and those in use."""
    with tempfile.TemporaryFile() as out:
        kept = os.dup(2)
        os.dup2(out.fileno(), 2)
        sys._debugmallocstats()
        os.dup2(kept, 2)
        os.close(kept)
        out.seek(0)
        told = out.read().decode().replace(",", "")
    return tuple(
        int(re.search(rf"{what} += +(\d+)$", told, re.MULTILINE)[1]) for what in ("bytes/arena", "allocated blocks")
    )


def _traced() -> dict[str, int]:
    found = Counter[str]()
    for each in tracemalloc.take_snapshot().statistics("filename"):
        found[_package(each.traceback[0].filename)] += each.size
    return dict(found.most_common())


def _package(file: str) -> str:
    """Return what the objects made by a file are called: code, a library, or a file of this program."""
    if file.startswith("<frozen importlib"):
        return "code of all modules"
    parts = Path(file).parts
    if "site-packages" in parts:
        return "libraries"
    own = next((n for n, part in enumerate(parts) if part in PACKAGES), None)
    return "/".join(parts[own:]) if own is not None else "Python's library"


def _answer(report: Path, asked: threading.Event) -> None:
    while asked.wait():
        asked.clear()
        new = report.with_suffix(".new")
        new.write_text(json.dumps(held()))
        new.replace(report)


def _hasten() -> None:
    from node.process import memory_upkeep

    look_s = memory_upkeep.LOOK_S
    memory_upkeep.LOOK_S = look_s / SOONER if look_s == ALWAYS_S else ALWAYS_S


def main() -> int:
    """Run `dse-node ARGUMENTS…`, and write REPORT when asked."""
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    signal.signal(signal.SIGUSR2, lambda *_: _hasten())
    _, report, *arguments = sys.argv
    if arguments[0] == "--trace":
        tracemalloc.start(1)
        arguments.pop(0)
    from crawl.parsing import pool
    from node.cli.main import main as run

    pool.IDLE_S = PARSER_IDLE_S
    threading.Thread(target=_answer, args=(Path(report), asked), daemon=True).start()
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
