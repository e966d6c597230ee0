"""What the crawler did so far, and what it says about itself.

Pure: values in, values out.
"""

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Literal

from crawl.alias import REASON

_COUNTS = re.compile(r"[0-9]+ (of [0-9]+ |other )")
_WINDOW_S = 30.0  # over which pages per second are measured
_MAX_REASONS = 64

CrawlState = Literal["crawling", "waiting", "idle", "paused"]


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """One look at the crawler. `reason`: one line that says why it does what it does."""

    state: CrawlState
    reason: str
    slots: int  # held
    waiting: int  # URLs to be fetched soon: due now or within a minute, first visits, retries and revisits alike
    due: int  # of these, URLs that only wait for their host's turn
    open: int  # URLs in flight: being fetched, read or handed to their owners
    fetched: int  # pages fetched and recorded since the start
    failed: int
    refused: dict[str, int]  # by reason
    per_s: float
    incomplete: int = 0  # slots with more URLs than fit into memory
    broken: int = 0  # hosts that do not answer, and are asked once in a while alone


def kind_of(reason: str) -> str:
    """What reasons of one kind have in common: a guard's words without its counts, others up to their first colon."""
    if reason.startswith(REASON):
        return "alias"
    return _COUNTS.sub("", reason) if reason.startswith("guard") else reason.partition(":")[0]


class Tally:
    """Counts since the start."""

    def __init__(self) -> None:
        self.fetched = 0
        self.failed = 0
        self.refused: Counter[str] = Counter()
        self._recent: deque[tuple[float, int]] = deque()  # (second, pages)

    def count_page(self, now: float) -> None:
        """A page was fetched and its outcome recorded. `now`: steady seconds."""
        self.fetched += 1
        second = float(int(now))
        if self._recent and self._recent[-1][0] == second:
            self._recent[-1] = (second, self._recent[-1][1] + 1)
        else:
            self._recent.append((second, 1))
        self._trim(now)

    def count_refusal(self, reason: str) -> None:
        """A URL or link was not taken; reasons are counted without their details."""
        name = kind_of(reason)
        self.refused[name if name in self.refused or len(self.refused) < _MAX_REASONS else "other"] += 1

    def per_s(self, now: float) -> float:
        """Pages per second over the last 30 s."""
        self._trim(now)
        return sum(count for _, count in self._recent) / _WINDOW_S

    def _trim(self, now: float) -> None:
        while self._recent and self._recent[0][0] < now - _WINDOW_S:
            self._recent.popleft()
