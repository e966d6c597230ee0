"""Runs a node as a child process and starts it again when it fails, where no systemd does that.

It ends with the child's exit code in four cases. The code says that a restart is vain; the child ended by itself; it
was told to stop; or several runs in a row failed quickly.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from node.process.service_unit import FINAL_CODES

CHILD = "DSE_SUPERVISED"  # in the environment of the child, which runs the node itself
QUICK_S = 60.0  # a run that fails within it has not come far
MOST_QUICK = 6  # in a row; the pauses between these come to a minute
_STOPS = (signal.SIGTERM, signal.SIGINT)
_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


@dataclass(slots=True)
class Restarts:
    """Decides whether a child that ended is started again, and after which pause. Pure."""

    pause_s: float = 2.0  # after the first quick failure; each further one doubles it
    quick: int = 0  # failures in a row

    def pause(self, code: int, ran_s: float) -> float | None:
        """Return the seconds until the next start, None where there is none. `code`: as exit codes of shells are."""
        if code == 0 or str(code) in FINAL_CODES.split():
            return None
        self.quick = self.quick + 1 if ran_s < QUICK_S else 0
        if self.quick >= MOST_QUICK:
            return None
        return self.pause_s * float(1 << max(0, self.quick - 1))


def supervise(command: Sequence[str], restarts: Restarts) -> int:
    """Run a command again and again; return its last exit code, 128 + n where signal n ended it."""
    waited = {*_STOPS, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, waited)  # each is taken where it is waited for
    try:
        while True:
            began_at = time.monotonic()
            code, is_stopped = _run(command, before, waited)
            ran_s = time.monotonic() - began_at
            pause_s = None if is_stopped else restarts.pause(code, ran_s)
            if pause_s is None:
                if code and not is_stopped:
                    _tell(f"the node ended with code {code} after {ran_s:.0f} s and is not started again")
                return code
            _tell(f"the node ended with code {code} after {ran_s:.0f} s and starts again in {pause_s:g} s")
            if signal.sigtimedwait(_STOPS, pause_s) is not None:
                return code
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(command: Sequence[str], mask: set[signal.Signals | int], waited: set[signal.Signals]) -> tuple[int, bool]:
    """Run the child once and pass signals on; return its exit code, and whether it was told to stop."""
    parent, is_stopped, library = os.getpid(), False, ctypes.CDLL(None)

    def begin() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        library.prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM)  # no child outlives a parent that was killed
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)

    environment = {**os.environ, CHILD: "1"}
    with subprocess.Popen(command, env=environment, preexec_fn=begin) as child:
        while child.poll() is None:
            found = signal.sigwaitinfo(waited).si_signo
            if found in _STOPS:
                is_stopped = True
                child.send_signal(signal.SIGTERM)
        code = child.returncode
    return (code if code >= 0 else 128 - code), is_stopped


def _tell(what: str) -> None:
    print(f"dse-node: {what}", file=sys.stderr, flush=True)
