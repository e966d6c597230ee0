"""How many URLs may be in flight at once, from the start of a fetch to the recorded outcome.

Pure: seconds in, a number out. Owners that are short of processors take pages late, and whoever went on at full speed
would have all writes grow too old and be made again. So the number halves where an outcome came late, once in a while,
and grows with each that came in time, four times as fast before the first was late (Jacobson 1988).
"""

WANTED_S = 5.0  # from the end of a request to its recorded outcome: a fourth of the time when a write is given up
FIRST, LEAST = 32, 8
GROWTH = 0.25  # for each outcome in time; 1 before any was late: all that are in flight double their number at once


class FlightLimit:
    """The bound of one crawler, at most `most` URLs."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._urls: float = min(FIRST, most)
        self._growth, self._cut_at = 1.0, float("-inf")

    @property
    def urls(self) -> int:
        """The bound now."""
        return int(self._urls)

    def note(self, now_s: float, took_s: float) -> None:
        """Take note of an outcome that was recorded now, so long after its request (steady seconds)."""
        if took_s <= WANTED_S:
            self._urls = min(self._most, self._urls + self._growth)
        elif now_s - self._cut_at >= WANTED_S:  # what was in flight at the last cut says nothing of it
            self._urls = min(self._most, max(LEAST, self._urls / 2))
            self._growth, self._cut_at = GROWTH, now_s
