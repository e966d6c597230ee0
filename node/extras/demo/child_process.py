"""Runs any of our programs as a child that ends soon after the demo does, even if the demo was killed.

Asking who our parent is costs nothing and works on every Unix; Linux alone would offer a signal at its death.
"""

import os
import runpy
import signal
import sys
import threading
import time

from node.process.memory_upkeep import shape_heap

LOOK_EVERY_S = 0.5
STOP_WITHIN_S = 8.0


def outlive_nobody(parent: int) -> None:
    """End this process and its group when its parent has ended: by SIGTERM first, then by SIGKILL."""
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_WITHIN_S)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Run `python -m MODULE ARGUMENTS…` as a child of PARENT, a process id, given PARENT MODULE ARGUMENTS…"""
    parent, module, *arguments = sys.argv[1:]
    shape_heap()  # as a node does, which has no thread before
    threading.Thread(target=outlive_nobody, args=(int(parent),), daemon=True).start()
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
