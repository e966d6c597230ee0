"""What the crawler did so far, and what it says about itself.

Pure: values in, values out.

What the crawler does just now, and why, in a line that people read.

Pure: what it consists of in, words out.
"""

import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import Literal

from crawl.config import CrawlConfig
from crawl.frontier.frontier import Frontier
from crawl.frontier.mirror_alias import REASON
from crawl.politeness.host_delays import HostDelays
from dht import Now

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


class CrawlCounters:
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


SOON_S = 60.0  # what is due by then counts as waiting


@dataclass(frozen=True, slots=True)
class CrawlSnapshot:
    """`late_s`: until the bandwidth limit lets a fetch begin; `pending`: pages that are not acknowledged yet."""

    frontier: Frontier
    politeness: HostDelays
    config: CrawlConfig
    hindrance: str
    late_s: float
    pending: int

    def told(self, now: Now) -> tuple[CrawlState, str]:
        """The state, and why."""
        frontier = self.frontier
        if self.hindrance:
            return "paused", self.hindrance
        if self.pending >= self.config.max_pending_pages:
            return "waiting", f"{self.pending} pages wait until their owners acknowledge them"
        if self.late_s > 1.0:
            return "waiting", f"crawl.max_bytes_s is used up: the next fetch begins in {span(self.late_s)}"
        if frontier.in_flight:
            return (
                "crawling",
                f"{frontier.in_flight} URLs in flight, {frontier.due_count(now)} wait for their host's turn",
            )
        next_s = frontier.next_due(now) or 0.0
        if due := frontier.due_count(now):
            return (
                "waiting",
                f"all {due} due URLs wait until their sites may be asked again, the first in {span(next_s)}"
                + self._broken(),
            )
        if not frontier.slots:
            return "idle", "holds no lease: other nodes crawl the slots that it owns"
        if soon := frontier.due_count(now, SOON_S):
            return "waiting", f"{soon} URLs are due within a minute, the first in {span(next_s)}"
        if len(frontier):
            return (
                "idle",
                f"all {len(frontier)} URLs known here were visited; the next one is due again in {span(next_s)}",
            )
        return "idle", "no URL is known in the slots that this node holds; add some with dse-node crawl"

    def _broken(self) -> str:
        """Hosts that do not answer, with an example."""
        sites = list(self.politeness.broken())
        if not sites:
            return ""
        more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
        return f"; asked once in a while alone: {sites[-1]} ({self.politeness.trouble(sites[-1])}){more}"


def span(seconds: float) -> str:
    """A time to wait, for reading."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
