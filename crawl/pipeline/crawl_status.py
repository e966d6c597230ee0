"""Counts what the crawler has done since its start, and explains in a line what it does just now.

Pure: values and the crawler's parts in, counts and words out.
"""

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Literal

from crawl.content.scripts import NEEDS_SCRIPT
from crawl.frontier.frontier import Frontier
from crawl.frontier.mirror_alias import REASON, is_aliased
from crawl.politeness.site_delays import SiteDelays
from crawl.schedule.url_state import Visit, VisitState
from dht import Now, counted

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
        self.scripted = 0  # pages whose text comes by script
        self.refused: Counter[str] = Counter()
        self._recent: deque[tuple[float, int]] = deque()  # (second, pages)

    def count_outcome(self, before: Visit, outcome: Visit, now: float, *, is_declined: bool) -> None:
        """Count a recorded outcome. `now`: steady seconds; `is_declined`: nobody who may make the request did."""
        self.recorded += 1
        self.scripted += outcome.reason.startswith(NEEDS_SCRIPT)
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


SOON_S = 60.0  # what is due by then counts as waiting
RESTING_S = 10.0  # a longer wait for a site's turn is politeness; a shorter one explains no standstill

CrawlState = Literal["crawling", "waiting", "idle", "paused"]


@dataclass(frozen=True, slots=True)
class CrawlStatus:
    """Says what the crawler does at one moment, and why (`reason`, one line)."""

    state: CrawlState
    reason: str
    slots: int  # held
    waiting: int  # URLs to be fetched soon: due now or within a minute, first visits, retries and revisits alike
    due: int  # of these, URLs that only wait for their site's turn
    open: int  # URLs in flight: being fetched, read or handed to their owners
    fetched: int  # pages fetched and recorded since the start
    failed: int
    refused: dict[str, int]  # by reason
    per_s: float
    incomplete: int = 0  # slots with more URLs than fit into memory
    broken: int = 0  # sites that do not answer, and are asked only once in a while
    recorded: int = 0  # outcomes of any kind since the start
    scripted: int = 0  # of the fetched pages: those whose text comes by script, which is not run
    is_resting: bool = False  # all that is due waits for its sites' rest, for bandwidth, or by the owner's wish


@dataclass(frozen=True, slots=True)
class CrawlSnapshot:
    """Explains the crawler's state from its parts. `late_s`: until the bandwidth limit lets a fetch begin; `pending`:
    pages that their owners have not acknowledged yet, of `most_pending` that may be."""

    frontier: Frontier
    delays: SiteDelays
    most_pending: int
    pause_reason: str
    late_s: float
    pending: int

    def explain(self, now: Now) -> tuple[CrawlState, str]:
        """Return the state and the reason for it: the first thing that stands before the next fetch."""
        frontier = self.frontier
        if self.pause_reason:
            return "paused", self.pause_reason
        if self.pending >= self.most_pending:
            return "waiting", f"{counted(self.pending, 'page')} not acknowledged yet by their owners"
        if self.late_s > 1.0:
            return "waiting", f"crawl.max_bytes_s is used up: the next fetch begins in {span(self.late_s)}"
        due = frontier.due_count(now)
        if frontier.in_flight:
            return (
                "crawling",
                f"{counted(frontier.in_flight, 'URL')} in flight, {due:,} waiting for the turn of their host",
            )
        next_in = span(frontier.next_due(now) or 0.0)
        if due and due == frontier.held_count:
            return "waiting", f"{counted(due, 'URL')} due, all of hosts that this node's owner has paused"
        if due:
            reason = f"{counted(due, 'URL')} due, waiting for the delay of their sites, the first for {next_in}"
            return "waiting", reason + self._broken()
        if not frontier.slots:
            return "idle", "other nodes crawl this node's slots"
        if soon := frontier.due_count(now, SOON_S):
            return "waiting", f"{counted(soon, 'URL')} due within a minute, the first in {next_in}"
        if len(frontier):
            known = f"{counted(len(frontier), 'URL')} known here, all visited"
            return "idle", f"{known}; the next one is due again in {next_in}"
        return "idle", "no URL is known in the slots that this node holds; add some with dse-node crawl"

    def is_resting(self, now: Now) -> bool:
        """Tell whether all that is due waits for a reason that is no fault: its sites' rest, the bandwidth limit, or
        the owner's wish."""
        if self.late_s > 1.0:
            return True
        frontier = self.frontier
        is_held = frontier.due_count(now) == frontier.held_count
        return not frontier.in_flight and (is_held or (frontier.next_due(now) or 0.0) > RESTING_S)

    def _broken(self) -> str:
        """Say which site does not answer, and how many more, ready to be appended; "" where all answer."""
        sites = list(self.delays.broken_sites())
        if not sites:
            return ""
        more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
        return f"; failing, retried occasionally: {sites[-1]} ({self.delays.breaker_reason(sites[-1])}){more}"


def span(seconds: float) -> str:
    """Return a time to wait in words, such as "2 minutes"."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
