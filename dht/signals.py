"""Lets a process hear once that it should stop, by SIGINT or SIGTERM."""

import asyncio
import signal
from collections.abc import Callable

STOPS = (signal.SIGINT, signal.SIGTERM)


def when_told_to_stop(act: Callable[[], object]) -> None:
    """Call `act` on the running loop at the first SIGINT or SIGTERM.

    Later ones do nothing: who is impatient must not end a clean stop. From then on the process ignores them, not the
    loop, so that they find nobody after the loop either."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for number in STOPS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_IGN)
        act()

    for number in STOPS:
        loop.add_signal_handler(number, stop)
