"""Measures for how long work has been due at this node while nothing of it got done.

Pure: counts and `now` (steady seconds) in, seconds out.
"""

PAUSED_S = 20.0  # between two looks: after more, this node slept, and its crawl begins anew


class CrawlProgress:
    """Remembers since when the crawl has stood still."""

    def __init__(self) -> None:
        self._recorded = 0
        self._since: float | None = None  # None: it does not stand still
        self._looked_at = float("-inf")

    def step(self, now: float, recorded: int, *, is_due: bool) -> None:
        """Take a look. `recorded`: outcomes since the start; `is_due`: work waits, and no good reason keeps it."""
        has_slept, self._looked_at = now - self._looked_at > PAUSED_S, now
        if has_slept or not is_due or recorded != self._recorded:
            self._since = None
        elif self._since is None:
            self._since = now
        self._recorded = recorded

    def still_s(self, now: float) -> float:
        """Return the seconds that the crawl has stood still, 0 where it does not."""
        return 0.0 if self._since is None else now - self._since
