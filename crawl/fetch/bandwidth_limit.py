"""How many bytes a second the node may take from the web: a token bucket over bodies as they arrive.

Pure: `now` is steady time in seconds. A fetch that has read a piece owes its bytes, and waits until the bucket is back
at zero before it reads the next one. Pieces are small, so open fetches take turns and share alike. While more is owed
than LATE_S of the rate no fetch should begin: a few that are quick are better than many that crawl, for sites too.
Source: Turner 1986 (leaky bucket); heads and TLS are not counted, some 5 % of what is.
"""

BURST_S = 1.0  # of the rate may come at once after a silence
LATE_S = 2.0
PIECES_S = 0.1  # of the rate is a piece


class BandwidthLimit:
    """Bounds the bytes a second that all fetches take together. `bytes_s` 0: no limit."""

    def __init__(self, bytes_s: float) -> None:
        self._at: float | None = None
        self.set_rate(bytes_s)

    def set_rate(self, bytes_s: float) -> None:
        """Take over another rate, from now on; what is owed by the rate before is forgiven."""
        self._bytes_s = bytes_s
        self._left = BURST_S * bytes_s  # below 0: owed

    @property
    def is_bounded(self) -> bool:
        """Tell whether there is a limit."""
        return self._bytes_s > 0

    def piece_bytes(self, most: int) -> int:
        """Return how many bytes to read at once, `most` at most."""
        return min(most, max(1024, int(self._bytes_s * PIECES_S))) if self._bytes_s else most

    def take(self, size: int, now: float) -> float:
        """Count bytes that have come; return the seconds until more may be read."""
        if not self._bytes_s:
            return 0.0
        self._refill(now)
        self._left -= size
        return max(0.0, -self._left / self._bytes_s)

    def late_s(self, now: float) -> float:
        """Return the seconds until another fetch may begin."""
        if not self._bytes_s:
            return 0.0
        self._refill(now)
        return max(0.0, -self._left / self._bytes_s - LATE_S)

    def _refill(self, now: float) -> None:
        passed_s = 0.0 if self._at is None else max(0.0, now - self._at)
        self._left = min(self._left + passed_s * self._bytes_s, BURST_S * self._bytes_s)
        self._at = now
