"""Keeps the crawl jobs that are submitted again every day or week, in a small file of the data directory.

The time is an argument. The owner's desk submits the jobs that are due.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from crawl import ScopeKind
from dht import write_atomically
from node.api.crawl import Pace, Seed
from node.errors import BadDataDir, NothingToDo

MAX_JOBS = 100
MAX_SEEDS = 10  # of one job: first pages, from which links lead on
MAX_BYTES = 16 << 20  # of the file: all jobs with the longest addresses and scopes fit
_DAY_S = 86_400.0
_PACES_S: dict[Pace, float] = {"daily": _DAY_S, "weekly": 7 * _DAY_S}


class ScheduledJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One crawl job: its number, when it was submitted last (Unix seconds), its pace, and what it asks for."""

    number: int
    at: float
    every: Pace
    depth: int
    scope: ScopeKind
    seeds: tuple[Seed, ...]


_decoder = msgspec.json.Decoder(tuple[ScheduledJob, ...])


class JobSchedule:
    """Holds the jobs. Blocks while it is made, on one small file. `path` None: jobs last until the node stops."""

    def __init__(self, path: Path | None) -> None:
        """Raise BadDataDir where the file cannot be read."""
        self._path, self._writing = path, asyncio.Lock()
        self.jobs = _load(path)

    def check(self, seeds: int) -> None:
        """Raise NothingToDo where one more job with so many seeds is not taken."""
        if seeds > MAX_SEEDS:
            remedy = "give the first pages of sites, and a depth"
            raise NothingToDo("every", f"takes at most {MAX_SEEDS} addresses, not {seeds:,}", remedy)
        if len(self.jobs) >= MAX_JOBS:
            remedy = "end one: dse-node jobs cancel ID"
            raise NothingToDo("every", f"has {MAX_JOBS} jobs already, as many as a node keeps", remedy)

    def due(self, now: float) -> Sequence[ScheduledJob]:
        """Return the jobs that were submitted last a day, or a week, before `now` or earlier."""
        return [job for job in self.jobs if job.at + _PACES_S[job.every] <= now]

    async def add(self, job: ScheduledJob) -> None:
        """Keep one more job; it is on the disk afterwards."""
        async with self._writing:
            await self._write((*self.jobs, job))

    async def note_submitted(self, number: int, now: float) -> bool:
        """Note that a job was submitted again; return False where it was dropped meanwhile."""
        async with self._writing:
            is_kept = any(job.number == number for job in self.jobs)
            if is_kept:
                await self._write(tuple(replace(job, at=now) if job.number == number else job for job in self.jobs))
        return is_kept

    async def drop(self, number: int) -> None:
        """Submit a job never again."""
        async with self._writing:
            if len(left := tuple(job for job in self.jobs if job.number != number)) < len(self.jobs):
                await self._write(left)

    async def _write(self, jobs: tuple[ScheduledJob, ...]) -> None:
        if self._path is not None:
            await asyncio.to_thread(write_atomically, self._path, msgspec.json.encode(jobs))
        self.jobs = jobs


def _load(path: Path | None) -> tuple[ScheduledJob, ...]:
    try:
        if path is None:
            return ()
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"is longer than {MAX_BYTES} bytes")
        return _decoder.decode(data)
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        remedy = "mend it, or delete it and add its crawl jobs again"
        raise BadDataDir(str(path), f"cannot be read: {error}", remedy) from None
