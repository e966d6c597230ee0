"""The two clocks of a node, as values that pure code takes.

`wall` is Unix time: signed into records, may jump. `steady` only grows, and counts time spent suspended
(CLOCK_BOOTTIME): timers, leases and liveness go by it.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple


class Now(NamedTuple):
    """One reading of both clocks, in seconds."""

    wall: float
    steady: float


Clock = Callable[[], Now]


class ReadableClock(ABC):
    """A clock other than the machine's whose steady half can be read alone, in less time."""

    @abstractmethod
    def __call__(self) -> Now:
        """Read both clocks."""

    @abstractmethod
    def read_steady(self) -> float:
        """Read the steady clock alone."""


DAY_S = 86_400.0

_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # looked up once
now_of = partial(tuple.__new__, Now)  # half the time of `Now(…)`; the clocks are read a hundred times a page


def system_clock() -> Now:
    """Read this machine's clocks; the simulator has its own."""
    return now_of((time.time(), time.clock_gettime(_STEADY)))


def day_of(wall: float) -> int:
    """Return the day of a wall time, counted from 1970 in UTC; 0 for what is before."""
    return max(0, int(wall // DAY_S))


def steady_of(clock: Clock) -> Callable[[], float]:
    """Return a function that reads a clock's steady half alone, in a third of the time: for what is asked at every
    step."""
    if clock is system_clock:
        return partial(time.clock_gettime, _STEADY)
    return clock.read_steady if isinstance(clock, ReadableClock) else lambda: clock().steady
