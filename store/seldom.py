"""Saying something again and again only once in a while.

Pure: time in, an answer out.
"""


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
