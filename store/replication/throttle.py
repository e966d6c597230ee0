"""How fast slots are handed over: so many bytes a second, whoever brings or fetches them.

Pure: `now` is steady time in seconds. What a message held is known when it is there; so the rest comes after it.

Saying something again and again only once in a while.

Pure: time in, an answer out.
"""

BURST_S = 1.0  # of the rate may pass at once: small slots need not wait


class Pace:
    """Shared by all sessions of one node; `bytes_s` is the bound."""

    def __init__(self, bytes_s: float) -> None:
        self._bytes_s = bytes_s
        self._free_at = float("-inf")

    def rest_s(self, now: float, moved_bytes: int) -> float:
        """Seconds to rest after so many bytes were moved, 0.0 within the burst."""
        self._free_at = max(self._free_at, now - BURST_S) + moved_bytes / self._bytes_s
        return max(0.0, self._free_at - now)


class Seldom:
    """Allows one of a kind in `every_s` seconds of steady time."""

    def __init__(self, every_s: float = 60.0) -> None:
        self._every_s = every_s
        self._last = float("-inf")

    def allows(self, now: float) -> bool:
        """Whether the last that was allowed is long enough ago."""
        if now - self._last < self._every_s:
            return False
        self._last = now
        return True
