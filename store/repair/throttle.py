"""How fast slots are handed over: so many bytes a second, whoever brings or fetches them.

Pure: `now` is steady time in seconds. What a message held is known when it is there; so the pause comes after it.
"""

LEAST_BYTES_S = 64_000.0  # a share is no less, so that what is urgent ends at all
BURST_S = 1.0  # of the rate may pass at once: small slots need not wait


class Throttle:
    """Bounds the bytes a second of all sessions of one node together to `bytes_s`."""

    def __init__(self, bytes_s: float) -> None:
        self._bytes_s = bytes_s
        self._free_at = float("-inf")

    def delay_s(self, now: float, moved_bytes: int, share: float = 1.0) -> float:
        """Return the seconds to wait after so many bytes were moved, 0.0 within the burst. What may take but a share of
        the rate has that share, LEAST_BYTES_S at least."""
        bytes_s = max(share * self._bytes_s, min(LEAST_BYTES_S, self._bytes_s))
        self._free_at = max(self._free_at, now - BURST_S) + moved_bytes / bytes_s
        return max(0.0, self._free_at - now)
