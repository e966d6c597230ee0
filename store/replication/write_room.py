"""How much a node writes at once: what its owners keep within some seconds, and who asked first goes first.

What a slow network is given beyond that waits until its time is up, is thrown away and brought again, and makes it
slower still. So the bound is halved where writes took too long, and rises by what was written in time: additive
increase, multiplicative decrease (Chiu and Jain 1989), as in TCP. Who waits here has a deadline only afterwards, so a
crawler fetches less instead of losing what it fetched.
"""

import asyncio
from collections import deque


class WriteRoom:
    """Holds the bytes that are queued or under way; `least_bytes` and `most_bytes` bound the bound."""

    def __init__(self, least_bytes: int, most_bytes: int, in_time_s: float) -> None:
        """What was written later than `in_time_s` after it entered was too much."""
        self._least, self._most, self._in_time_s = min(least_bytes, most_bytes), most_bytes, in_time_s
        self.bound_bytes = self._least  # it doubles with all that is written in time, so it is soon found
        self.held_bytes = 0
        self._lowered_at = float("-inf")  # steady time
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    async def enter(self, size: int) -> None:
        """Return when there is room for a write of so many bytes, which may be more than is left; it then holds it."""
        if not self._waiting and self.held_bytes <= self.bound_bytes:
            self.held_bytes += size
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((turn, size))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(size)
            raise

    def leave(self, size: int) -> None:
        """Give bytes back, and let in who waits."""
        self.held_bytes -= size
        while self._waiting and self.held_bytes <= self.bound_bytes:
            turn, wanted = self._waiting.popleft()
            if not turn.done():
                self.held_bytes += wanted
                turn.set_result(None)

    def note(self, size: int, since: float, now: float) -> None:
        """Learn from bytes that are written, or given up: all of one jam lower the bound once."""
        if now - since <= self._in_time_s:
            self.bound_bytes = min(self._most, self.bound_bytes + size)
        elif since >= self._lowered_at:
            self.bound_bytes = max(self._least, self.bound_bytes // 2)
            self._lowered_at = now
