"""The hours of the day in which an operator lets the node fetch.

Pure: a clock's time in, a reason out. Times are those of the clock on the wall, which is read anew each time. So it is
right, too, on days when clocks are put forward or back: a skipped hour is not open, and a repeated one is open twice.
"""

import re
from dataclasses import dataclass
from datetime import time

_RANGE = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-4]):([0-5]\d)")


@dataclass(frozen=True, slots=True)
class FetchHours:
    """Ranges of minutes of the day, [from, to); one that ends before it begins goes over midnight. No range: always."""

    text: str
    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def parse(cls, text: str) -> "FetchHours":
        """Read "22:00-07:00" or several such, by commas; raises ValueError that says what is wrong."""
        ranges = []
        for part in filter(None, (part.strip() for part in text.split(","))):
            found = _RANGE.fullmatch(part)
            first, last = (int(found[1]) * 60 + int(found[2]), int(found[3]) * 60 + int(found[4])) if found else (0, 0)
            if first == last or last > 24 * 60:
                raise ValueError(f'{part!r} is not a range of hours such as "22:00-07:00"')
            ranges.append((first, last))
        return cls(text, tuple(ranges))

    def closed(self, clock: time) -> str:
        """Explain why nothing is fetched at this time of the day, "" where it may be."""
        minute = clock.hour * 60 + clock.minute
        if not self.ranges or any(_holds(each, minute) for each in self.ranges):
            return ""
        opens = min((first for first, _ in self.ranges), key=lambda first: (first - minute) % (24 * 60))
        return f"outside crawl.hours ({self.text}); goes on at {opens // 60:02}:{opens % 60:02}"


def _holds(hours: tuple[int, int], minute: int) -> bool:
    first, last = hours
    return first <= minute < last if first < last else minute >= first or minute < last
