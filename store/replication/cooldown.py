"""A warning that would come with every try is given once in a while instead.

Pure: time in, an answer out.
"""


class Cooldown:
    """Allows one event in `every_s` seconds of steady time."""

    def __init__(self, every_s: float = 60.0) -> None:
        self._every_s = every_s
        self._last = float("-inf")

    def allows(self, now: float) -> bool:
        """Tell whether the last event that was allowed is long enough ago, and if so allow this one."""
        if now - self._last < self._every_s:
            return False
        self._last = now
        return True
