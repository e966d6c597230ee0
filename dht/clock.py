"""The two clocks of a node, as values that pure code takes.

`wall` is Unix time: signed into records, may jump. `steady` only grows, and counts time spent suspended
(CLOCK_BOOTTIME): timers, leases and liveness go by it.
"""

import time
from collections.abc import Callable
from typing import NamedTuple


class Now(NamedTuple):
    """One reading of both clocks, in seconds."""

    wall: float
    steady: float


Clock = Callable[[], Now]

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # looked up once


def system_clock() -> Now:
    """This machine's clocks; the simulator has its own."""
    return Now(time.time(), time.clock_gettime(_STEADY))
