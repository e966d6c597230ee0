"""Remembers the last crawls that were handed in at this node, and follows what becomes of them.

Pure: `now` is an argument, and answers are brought. It lives in memory alone: a crawl goes on without it. Each job is
followed up to a bound, and asked for only while somebody looks.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from node.api.body import Json
from node.api.crawl import Seed
from node.jobs.job_wait import JobWait
from node.views.safe_text import plain

MAX_JOBS = 16
MAX_FOLLOWED = 2000  # URLs of one job
ASKED_AT_ONCE = 100  # of all jobs together
SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class JobRow:
    """One crawl: its first seed, how many seeds it has, how deep it goes, and what became of it so far."""

    at: float
    first: str
    seeds: int
    depth: int
    wait: JobWait

    @property
    def waiting(self) -> int:
        """Return how many addresses have no outcome yet; those that nobody took are none of them."""
        return self.wait.waiting - self.wait.unknown

    @property
    def others(self) -> int:
        """Return how many are gone, refused or redirected."""
        counts = self.wait.counts
        return counts.total() - counts["fetched"] - counts["failed"]

    @property
    def is_done(self) -> bool:
        """Tell whether all that is followed has an outcome."""
        return self.waiting == 0 and self.wait.is_counted

    @property
    def reasons(self) -> list[str]:
        """Return the commonest reasons of failures, with their counts."""
        return [f"{count:,} {plain(reason, 120)}" for reason, count in self.wait.reasons.most_common(SHOWN_REASONS)]


class JobLedger:
    """Holds the jobs, newest last."""

    def __init__(self) -> None:
        self._jobs: deque[JobRow] = deque(maxlen=MAX_JOBS)

    def note(self, seeds: Sequence[Seed], depth: int, now: float) -> None:
        """Remember a crawl; `now`: Unix seconds."""
        if seeds:
            followed = [{"url": each.url, "depth": depth, "scope": each.scope} for each in seeds[:MAX_FOLLOWED]]
            wait = JobWait(followed, MAX_FOLLOWED)
            self._jobs.append(JobRow(now, plain(seeds[0].url), len(seeds), depth, wait))

    def begin_round(self) -> None:
        """Have all that has no outcome yet asked for once more."""
        for job in self._jobs:
            job.wait.begin_round()

    def ask(self) -> list[tuple[JobWait, list[Json]]]:
        """Return what is to be asked now of unfinished jobs, the newest first; each answer goes to its `take`. Nothing
        where all was asked for in this round."""
        left, asked = ASKED_AT_ONCE, list[tuple[JobWait, list[Json]]]()
        for job in reversed(self._jobs):
            if left > 0 and not job.wait.is_counted:
                asked.append((job.wait, job.wait.ask(left)))
                left -= len(asked[-1][1])
        return asked

    def rows(self) -> tuple[JobRow, ...]:
        """Return a row for each job, the newest first."""
        return tuple(reversed(self._jobs))
