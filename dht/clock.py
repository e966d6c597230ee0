"""The two clocks of a node, as values that pure code takes.

`wall` is Unix time: signed into records, may jump. `steady` only grows, and counts time spent suspended
(CLOCK_BOOTTIME): timers, leases and liveness go by it.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple


class Now(NamedTuple):
    """One reading of both clocks, in seconds."""

    wall: float
    steady: float


Clock = Callable[[], Now]


_steady: Callable[[], float]
if hasattr(time, "CLOCK_BOOTTIME"):
    _steady = partial(time.clock_gettime, time.CLOCK_BOOTTIME)
else:
    _steady = time.monotonic


def system_clock() -> Now:
    """This machine's clocks; the simulator has its own."""
    return Now(time.time(), _steady())
