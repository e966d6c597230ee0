"""Remembers the last crawls that were handed in at this node, and follows what becomes of them.

Pure: `now` is an argument, and answers are brought. A crawl goes on without it. Each job is followed up to a bound, and
asked for only while somebody looks. `node/jobs/job_schedule.py` keeps the jobs for the next start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from crawl import leaves_out, scope_words
from node.api.body import Json
from node.api.crawl import Pace, Seed
from node.api.owner import JobEntry
from node.jobs.job_schedule import MAX_ONCE
from node.jobs.job_wait import JobWait
from node.views.safe_text import plain

MAX_FOLLOWED = 2000  # URLs of one job
MAX_FOLLOWED_EVERY = 200  # of one that is submitted again: there may be more of those
ASKED_AT_ONCE = 100  # of all jobs together
SHOWN_REASONS = 3
CANCELLED_WITHIN_S = 300.0  # by then each page that was being fetched has told its links; the rest waits elsewhere


@dataclass(frozen=True, slots=True)
class JobRow:
    """One crawl: its number, its first seed, how many seeds it has, how deep and how far it goes, and what became of it
    so far."""

    number: int
    at: float
    first: str
    seeds: int
    depth: int
    scope: str  # of the first seed, in words
    wait: JobWait
    cancelled_at: float = 0.0  # 0.0: never
    every: Pace = ""  # the pace at which it is submitted again

    @property
    def is_cancelled(self) -> bool:
        """Tell whether the owner has ended it."""
        return self.cancelled_at > 0

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

    def entry(self) -> JobEntry:
        """Return the job as programs read it."""
        return JobEntry(
            number=self.number,
            at=self.at,
            first=self.first,
            seeds=self.seeds,
            depth=self.depth,
            scope=self.scope,
            fetched=self.wait.counts["fetched"],
            waiting=self.waiting,
            failed=self.wait.counts["failed"],
            others=self.others,
            reasons=self.reasons,
            is_done=self.is_done,
            is_cut=self.wait.is_cut,
            is_cancelled=self.is_cancelled,
            every=self.every,
        )


class JobLedger:
    """Holds the jobs, newest last: the last MAX_ONCE, and all that are submitted again."""

    def __init__(self) -> None:
        self._jobs: list[JobRow] = []
        self._noted = 0
        self._noted_at = 0.0  # a new crawl ends the cancelling of those before it, as it may ask for the same

    def note(self, seeds: Sequence[Seed], depth: int, now: float, every: Pace = "", number: int = 0) -> int:
        """Remember a crawl, and return its number; `now`: Unix seconds. `number`: that of a job which is submitted
        again."""
        number, most = number or self._noted + 1, MAX_FOLLOWED_EVERY if every else MAX_FOLLOWED
        if seeds:
            followed = [{"url": each.url, "depth": depth, "scope": each.scope} for each in seeds[:most]]
            wait, first = JobWait(followed, most), seeds[0]
            row = JobRow(
                number, now, plain(first.url), len(seeds), depth, plain(scope_words(first.scope)), wait, every=every
            )
            self._noted, self._noted_at = max(self._noted, number), now
            self._jobs = [*(job for job in self._jobs if job.number != number), row]
            oldest = [job.number for job in self._jobs if not job.every][:-MAX_ONCE]
            self._jobs = [job for job in self._jobs if job.number not in oldest]
        return number

    def cancel(self, number: int, now: float) -> JobRow | None:
        """Mark a job as cancelled, and follow it anew with a higher bound, so that all that waits of it is found. None
        where there is no such job."""
        for place, job in enumerate(self._jobs):
            if job.number == number:
                if not job.is_cancelled:
                    self._jobs[place] = replace(job, wait=JobWait(job.wait.seeds), cancelled_at=now, every="")
                return self._jobs[place]
        return None

    def excluding(self, url: str) -> int:
        """Return the number of the newest job whose patterns leave out a canonical URL, 0 where none does."""
        jobs = ((job.number, {seed["scope"] for seed in job.wait.seeds}) for job in reversed(self._jobs))
        return next((number for number, scopes in jobs if any(leaves_out(each, url) for each in scopes)), 0)

    def begin_round(self) -> None:
        """Have all that has no outcome yet asked for once more."""
        for job in self._jobs:
            job.wait.begin_round()

    def is_cancelling(self, now: float) -> bool:
        """Tell whether a job was cancelled lately of which something may still wait."""
        recent = (job for job in self._jobs if now - job.cancelled_at < CANCELLED_WITHIN_S)
        return any(job.cancelled_at > self._noted_at and not job.is_done for job in recent)

    def ask(self) -> list[tuple[JobWait, list[Json], bool]]:
        """Return what is to be asked now of unfinished jobs, the newest first, and whether the job is being cancelled;
        each answer goes to its `take`. Nothing where all was asked for in this round."""
        left, asked = ASKED_AT_ONCE, list[tuple[JobWait, list[Json], bool]]()
        for job in reversed(self._jobs):
            if left > 0 and not job.wait.is_counted:
                asked.append((job.wait, job.wait.ask(left), job.cancelled_at > self._noted_at))
                left -= len(asked[-1][1])
        return asked

    def rows(self) -> tuple[JobRow, ...]:
        """Return a row for each job, the newest first."""
        return tuple(reversed(self._jobs))
