"""How fast slots are handed over: so many bytes a second, whoever brings or fetches them.

Pure: `now` is steady time in seconds. What a message held is known when it is there; so the rest comes after it.
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
