"""Keeps the last crawl jobs, and those that are submitted again every day or week, in a file of the data directory.

The time is an argument. The owner's desk lists and cancels them after a restart, too, and submits those that are due.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from crawl import ScopeKind
from dht import FaultSite, LocalFaults, keep_file
from node.api.crawl import Pace, Seed
from node.config.kept_file import read_kept
from node.errors import NothingToDo

MAX_JOBS = 100  # that repeat
MAX_SEEDS = 10  # of one of those: first pages, from which links lead on
MAX_ONCE = 16  # jobs that do not repeat: the newest
MAX_ONCE_BYTES = 4 << 20  # of their addresses and scopes
RETRY_S = 3600.0  # after a submission that failed
MAX_BYTES = 16 << 20  # of the file: all jobs with the longest addresses and scopes fit
_DAY_S = 86_400.0
_PACES_S: dict[Pace, float] = {"daily": _DAY_S, "weekly": 7 * _DAY_S}


class ScheduledJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One crawl job: its number, when it was submitted last (Unix seconds), its pace, and what it asks for."""

    number: int
    at: float
    every: Pace
    depth: int
    scope: ScopeKind
    seeds: tuple[Seed, ...]
    exclude: tuple[str, ...] = ()


_decoder = msgspec.json.Decoder(tuple[ScheduledJob, ...])


class JobSchedule:
    """Holds the jobs. Blocks while it is made, on one small file. `path` None: jobs last until the node stops.
    `faults`: learns where the disk refuses the file; the jobs hold all the same."""

    def __init__(self, path: Path | None, faults: LocalFaults) -> None:
        """Raise BadDataDir where the file cannot be read."""
        self._path, self._faults, self._writing = path, faults, asyncio.Lock()
        remedy = "mend it, or delete it and add its crawl jobs again"
        self.jobs = read_kept(path, _decoder.decode, MAX_BYTES, remedy) or ()
        self._is_written = True
        self._waits_until: dict[int, float] = {}  # by number: jobs whose last submission failed

    def check(self, seeds: int) -> None:
        """Raise NothingToDo where one more job with so many seeds is not taken."""
        if seeds > MAX_SEEDS:
            remedy = "give the first pages of sites, and a depth"
            raise NothingToDo("every", f"takes at most {MAX_SEEDS} addresses, not {seeds:,}", remedy)
        if sum(job.every != "" for job in self.jobs) >= MAX_JOBS:
            remedy = "end one: dse-node jobs cancel ID"
            raise NothingToDo("every", f"has {MAX_JOBS} jobs already, as many as a node keeps", remedy)

    def due(self, now: float) -> Sequence[ScheduledJob]:
        """Return the jobs that were submitted last a day, or a week, before `now` or earlier. One whose last submission
        failed waits for RETRY_S."""
        due = (job for job in self.jobs if job.every and job.at + _PACES_S[job.every] <= now)
        return [job for job in due if self._waits_until.get(job.number, now) <= now]

    def put_off(self, number: int, now: float) -> None:
        """Have a job wait whose submission failed."""
        self._waits_until[number] = now + RETRY_S

    async def add(self, job: ScheduledJob) -> None:
        """Keep one more job; it is on the disk afterwards, unless the disk refuses it."""
        async with self._writing:
            await self._write(_bounded((*self.jobs, job)))

    async def try_again(self) -> None:
        """Write the file that the disk refused before."""
        async with self._writing:
            if not self._is_written:
                await self._write(self.jobs)

    async def note_submitted(self, number: int, now: float) -> bool:
        """Note that a job was submitted again; return False where it was dropped meanwhile."""
        async with self._writing:
            is_kept = any(job.number == number for job in self.jobs)
            if is_kept:
                await self._write(tuple(replace(job, at=now) if job.number == number else job for job in self.jobs))
        return is_kept

    async def drop(self, number: int) -> None:
        """Forget a job, and submit it never again."""
        async with self._writing:
            if len(left := tuple(job for job in self.jobs if job.number != number)) < len(self.jobs):
                await self._write(left)

    async def _write(self, jobs: tuple[ScheduledJob, ...]) -> None:
        self.jobs, data = jobs, msgspec.json.encode(jobs)
        self._is_written = await asyncio.to_thread(keep_file, self._path, data, FaultSite.JOBS, self._faults)


def _bounded(jobs: Sequence[ScheduledJob]) -> tuple[ScheduledJob, ...]:
    """Return the jobs that repeat, and as many of the newest others as a file may have."""
    kept, room_bytes, left = list[ScheduledJob](), MAX_ONCE_BYTES, MAX_ONCE
    for job in reversed(jobs):
        if not job.every:
            room_bytes -= sum(len(seed.url) + len(seed.scope) for seed in job.seeds)
            left -= 1
        if job.every or (room_bytes >= 0 and left >= 0):
            kept.append(job)
    return tuple(reversed(kept))
