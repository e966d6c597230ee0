"""Runs a program whose threads bear their names for the operating system too, as Python does from 3.14 on.

python -m benchmarks.crawl.named MODULE ARGUMENTS…
"""

import runpy
import sys
import threading
from pathlib import Path

MAX_CHARS = 15  # of a thread's name on Linux
_run = threading.Thread.run


def _run_named(thread: threading.Thread) -> None:
    comm = Path(f"/proc/self/task/{threading.get_native_id()}/comm")
    if comm.exists():
        comm.write_text(thread.name[:MAX_CHARS])
    _run(thread)


def main() -> None:
    """Run `python -m MODULE ARGUMENTS…`, given MODULE ARGUMENTS…"""
    threading.Thread.run = _run_named  # type: ignore[method-assign]
    _, module, *arguments = sys.argv
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
