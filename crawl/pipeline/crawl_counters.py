"""Counts what the crawler has done since it was started.

Pure: values in, values out.
"""

import re
from collections import Counter, deque

from crawl.frontier.mirror_alias import REASON, is_aliased
from crawl.schedule.url_state import Visit, VisitState

_COUNTS = re.compile(r"[0-9]+ (of [0-9]+ |other )")
_WINDOW_S = 30.0  # over which pages per second are measured
_MAX_REASONS = 64


def kind_of(reason: str) -> str:
    """Return what reasons of one kind share: a guard's words without its counts, others up to their first colon."""
    if reason.startswith(REASON):
        return "alias"
    return _COUNTS.sub("", reason) if reason.startswith("guard") else reason.partition(":")[0]


class CrawlCounters:
    """Counts pages, failures and refusals since the start, and pages per second of late."""

    def __init__(self) -> None:
        self.fetched = 0
        self.failed = 0
        self.recorded = 0  # outcomes of any kind
        self.refused: Counter[str] = Counter()
        self._recent: deque[tuple[float, int]] = deque()  # (second, pages)

    def count_outcome(self, before: Visit, outcome: Visit, now: float, *, is_declined: bool) -> None:
        """Count a recorded outcome. `now`: steady seconds; `is_declined`: nobody who may make the request did."""
        self.recorded += 1
        if is_declined or (outcome.state == VisitState.REFUSED and not (is_aliased(outcome) and is_aliased(before))):
            self.count_refusal(outcome.reason)
        elif outcome.state == VisitState.FAILED:
            self.failed += 1
        elif outcome.state != VisitState.REFUSED:  # else a twin was looked at again
            self._count_page(now)

    def count_refusal(self, reason: str) -> None:
        """Count a URL or link that was not taken; reasons are counted without their details."""
        name = kind_of(reason)
        self.refused[name if name in self.refused or len(self.refused) < _MAX_REASONS else "other"] += 1

    def per_s(self, now: float) -> float:
        """Return pages per second over the last 30 s; `now`: steady seconds."""
        self._trim(now)
        return sum(count for _, count in self._recent) / _WINDOW_S

    def _count_page(self, now: float) -> None:
        self.fetched += 1
        second = float(int(now))
        if self._recent and self._recent[-1][0] == second:
            self._recent[-1] = (second, self._recent[-1][1] + 1)
        else:
            self._recent.append((second, 1))
        self._trim(now)

    def _trim(self, now: float) -> None:
        while self._recent and self._recent[0][0] < now - _WINDOW_S:
            self._recent.popleft()
