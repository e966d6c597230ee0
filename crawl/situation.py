"""What the crawler does just now, and why, in a line that people read.

Pure: what it consists of in, words out.
"""

from dataclasses import dataclass

from crawl.config import CrawlConfig
from crawl.frontier import Frontier
from crawl.politeness import Politeness
from crawl.tally import CrawlState
from dht import Now

SOON_S = 60.0  # what is due by then counts as waiting


@dataclass(frozen=True, slots=True)
class Situation:
    """`late_s`: until the bandwidth limit lets a fetch begin; `pending`: pages that are not acknowledged yet."""

    frontier: Frontier
    politeness: Politeness
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
        if frontier.open:
            return "crawling", f"{frontier.open} URLs in flight, {frontier.soon(now)} wait for their host's turn"
        next_s = frontier.next_due(now) or 0.0
        if due := frontier.soon(now):
            return (
                "waiting",
                f"all {due} due URLs wait until their sites may be asked again, the first in {span(next_s)}"
                + self._broken(),
            )
        if not frontier.slots():
            return "idle", "holds no lease: other nodes crawl the slots that it owns"
        if soon := frontier.soon(now, SOON_S):
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
