"""Tells the service manager that started this process how it is, as sd_notify(3) describes it: one datagram a message.

Nothing is told where nobody asked: NOTIFY_SOCKET names whom to tell, WATCHDOG_USEC how often it wants a sign of life.
The signs come from the main loop, so that a node whose loop stalls falls silent and is started anew.
"""

import asyncio
import os
import socket
from collections.abc import MutableMapping
from contextlib import suppress

BEATS = 3  # signs of life within the time after which the manager ends a silent process: two may be late
MOST_BEAT_S = 60.0  # between two signs, however patient the manager is


class ServiceManager:
    """Sends messages to a service manager's socket; does nothing where there is none."""

    def __init__(self, address: str = "", watchdog_s: float = 0.0) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address  # Linux's names without a file
        self._watchdog_s = watchdog_s

    @classmethod
    def of(cls, environment: MutableMapping[str, str]) -> "ServiceManager":
        """Read who started this process, and take that out of the environment: its children have nothing to tell."""
        address = environment.pop("NOTIFY_SOCKET", "")
        limit, pid = environment.pop("WATCHDOG_USEC", ""), environment.pop("WATCHDOG_PID", "")
        watches = limit.isascii() and limit.isdecimal() and pid in ("", str(os.getpid()))
        return cls(address if address[:1] in ("/", "@") else "", int(limit) / 1e6 if watches else 0.0)

    def tell(self, *lines: str) -> None:
        """Send lines such as READY=1 in one message; who does not listen any more is in nobody's way."""
        if not self._address:
            return
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as sender:
            sender.sendto("\n".join(lines).encode(), self._address)

    async def keep_told(self, is_up: asyncio.Event, status: str) -> None:
        """Say that the node is ready once `is_up`, then give signs of life from this loop until cancelled."""
        await is_up.wait()
        self.tell("READY=1", f"STATUS={status}")
        while self._watchdog_s:
            self.tell("WATCHDOG=1")
            await asyncio.sleep(min(MOST_BEAT_S, self._watchdog_s / BEATS))
