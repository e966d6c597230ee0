"""Limits the requests to one server address, since all the sites of shared hosting are one machine.

Pure: `now` is steady time in seconds. An address has at most so many open requests, and at most one begins in so many
seconds. Sites that find no room wait here, in order, and return to the race for turns one at a time. The next one
returns when a request of the one before begins or ends. It returns after AGAIN_S at the latest, since the one before
may have gone elsewhere.
"""

import heapq
from collections import Counter, deque
from math import inf

AGAIN_S = 1.0


class AddressLimits:
    """Counts open requests by address, and lets waiting sites back in.

    `most`: open requests to one address; `delay_s`: from the start of one request to the start of the next."""

    def __init__(self, most: int, delay_s: float) -> None:
        self._most, self._delay_s = most, delay_s
        self._open: Counter[str] = Counter()
        self._free_at: dict[str, float] = {}
        self._waiting: dict[str, deque[str]] = {}
        self._wakes: list[tuple[float, str]] = []
        self._wake_at: dict[str, float] = {}  # by address, of those that wait; other items of `_wakes` are stale
        self._swept = 1_000

    def wait_s(self, address: str, now: float) -> float | None:
        """Return the seconds until the address may be asked; None: not before a request to it has ended."""
        if self._open[address] >= self._most:
            return None
        return max(0.0, self._free_at.get(address, 0.0) - now)

    def line_up(self, address: str, site: str, now: float) -> None:
        """Have a site wait for its address, which has no room; `due` names it when it may race again."""
        self._waiting.setdefault(address, deque()).append(site)
        self._wake(address, now)

    def begin(self, address: str, now: float) -> float:
        """Count a request that begins; returns what `undo` is to be given where it is not made after all."""
        self._open[address] += 1
        free_at = self._free_at[address] = now + self._delay_s
        self._wake(address, now)
        self._sweep(now)
        return free_at

    def undo(self, address: str, free_at: float, now: float) -> None:
        """Forget a request that was not made; unless others have begun since, the next one need not wait for it."""
        if self._free_at.get(address) == free_at:
            self._free_at[address] = now
        self.end(address, now)

    def end(self, address: str, now: float) -> None:
        """Count a request to the address as over."""
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]
        self._wake(address, now)

    def passed(self, address: str, now: float) -> None:
        """Let the next site in, because one that had been let in made no use of it."""
        self._wake(address, now)

    def due(self, now: float) -> list[str]:
        """Return the sites that may race for a turn again."""
        sites = []
        while self._wakes and self._wakes[0][0] <= now:
            at, address = heapq.heappop(self._wakes)
            if self._wake_at.get(address) != at:
                continue
            del self._wake_at[address]
            if self.wait_s(address, now) is None:
                continue
            sites.append(self._waiting[address].popleft())
            if not self._waiting[address]:
                del self._waiting[address]
            self._wake(address, now, AGAIN_S)
        return sites

    def next_due(self) -> float | None:
        """Return the steady instant from which on `due` may name a site; None where none waits."""
        return self._wakes[0][0] if self._wakes else None

    def _wake(self, address: str, now: float, after_s: float = 0.0) -> None:
        if address not in self._waiting or self.wait_s(address, now) is None:
            return
        at = max(now + after_s, self._free_at.get(address, 0.0))
        if at < self._wake_at.get(address, inf):
            self._wake_at[address] = at
            heapq.heappush(self._wakes, (at, address))

    def _sweep(self, now: float) -> None:
        """Forget addresses that are free, whenever their number has doubled."""
        if len(self._free_at) > 2 * self._swept:
            self._free_at = {address: at for address, at in self._free_at.items() if at > now}
            self._swept = max(1_000, len(self._free_at))
