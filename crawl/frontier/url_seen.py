"""Which found URLs were handed to their owners already, exactly, however many there are: most links repeat.

A URL is a keyed hash of 64 bits and the rank (`url_state.py`: depth and scope) that it was sent with: 9 bytes on disk.
New ones gather in memory; when there are enough they become a *run*, a sorted file with an index of every 512th hash.
A run is merged with the one before it once it is an eighth as long, so there are few. With 10⁸ URLs the expected
number of two with one hash is 3·10⁻⁴, and the key, drawn at every start, keeps a site from choosing such URLs. Files
last as long as the process: after a start everything is sent once more, which heals what owners have lost. In a
simulated crawl of 1,000 sites at once, a memory of the last 200,000 URLs sent twice as many. If the disk accepts no
file, runs stay in memory up to a bound. A run that cannot be read is forgotten. Both cost only a second sending.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from crawl.frontier.sorted_run import MemoryRun, RunFile, SortedRun, UnreadableRun, merged
from dht import FaultSite, LocalFaults, refused, system_clock

GATHERED = 32_768  # new URLs in memory: about 4 MB
IN_MEMORY = 1_048_576  # a run up to here stays there: 9.4 MB
MERGE_RATIO = 8
MOST_RUNS = 64  # while the disk refuses: some 60 MB; the oldest is forgotten then
REMEMBERED = 8_192  # hashes: the links of a site's pages are mostly the same; about 2 MB
MAX_DEPTH = 255  # what one byte holds
T = TypeVar("T")


class UrlSeenTest:
    """Remembers hashes of URLs with the rank each was sent with, here called depth. `folder`: for the runs, emptied
    first; None keeps all in memory, for simulators and tests. `faults`: who is told what the disk refuses."""

    def __init__(
        self,
        folder: Path | None,
        key: bytes,
        gathered: int = GATHERED,
        in_memory: int = IN_MEMORY,
        faults: LocalFaults | None = None,
    ) -> None:
        self._folder, self._key, self._gathered, self._in_memory = folder, key, gathered, in_memory
        self._faults = faults or LocalFaults(system_clock)
        self._hash = lru_cache(REMEMBERED)(self._hashed)
        self._new: dict[int, int] = {}
        self._runs: list[SortedRun] = []
        self._number = 0
        if folder is not None:
            self._empty(folder)

    def close(self) -> None:
        """Close and delete the files."""
        while self._runs:
            self._runs.pop().close()

    @property
    def is_in_memory(self) -> bool:
        """Tell whether every question is answered without a file."""
        return all(isinstance(run, MemoryRun) for run in self._runs)

    def has_room(self, count: int) -> bool:
        """Tell whether so many more can be added without a merge."""
        return len(self._new) + count < self._gathered

    def __len__(self) -> int:
        """Count the URLs kept; one that is both new and in a run, with a smaller depth, counts twice."""
        return len(self._new) + sum(len(run) for run in self._runs)

    def are_new(self, found: Sequence[tuple[str, int]]) -> list[bool]:
        """Tell for each (URL, depth) whether the owners have not yet been told that it may be followed so deep."""
        hashes = [self._hash(url) for url, _ in found]
        if not self._runs:
            return [
                self._new.get(each, -1) < min(depth, MAX_DEPTH) for each, (_, depth) in zip(hashes, found, strict=True)
            ]
        asked = np.array(hashes, dtype=np.uint64)
        wanted = np.array([min(depth, MAX_DEPTH) for _, depth in found], dtype=np.int16)
        known = np.array([self._new.get(each, -1) for each in hashes], dtype=np.int16)
        for run in list(self._runs):
            open_ones = np.flatnonzero(known < wanted)
            try:
                known[open_ones] = np.maximum(known[open_ones], run.depths(asked[open_ones]))
            except OSError as error:
                self._forget([run], error)
        return [bool(each) for each in known < wanted]

    def add(self, sent: Sequence[tuple[str, int]]) -> None:
        """Remember URLs that the owners have acknowledged, each with its depth."""
        for url, depth in sent:
            each = self._hash(url)
            self._new[each] = max(min(depth, MAX_DEPTH), self._new.get(each, -1))
        if len(self._new) >= self._gathered:
            self._write()

    def _hashed(self, url: str) -> int:
        return int.from_bytes(blake2b(url.encode(), digest_size=8, key=self._key).digest(), "little")

    def _write(self) -> None:
        hashes = np.fromiter(self._new.keys(), dtype=np.uint64, count=len(self._new))
        depths = np.fromiter(self._new.values(), dtype=np.uint8, count=len(self._new))
        order = np.argsort(hashes)
        self._runs.append(MemoryRun(hashes[order], depths[order]))
        self._new = {}
        while len(self._runs) > 1 and len(self._runs[-1]) * MERGE_RATIO >= len(self._runs[-2]):
            if (run := self._try_merge(*self._runs[-2:])) is None:
                break
            self._runs[-2:] = [run]
        if len(self._runs) > MOST_RUNS:
            self._runs.pop(0).close()

    def _try_merge(self, earlier: SortedRun, later: SortedRun) -> SortedRun | None:
        """One run of two; None where the disk refuses, and they stay, or are forgotten if they cannot be read."""
        try:
            run = self._merge(earlier, later)
        except UnreadableRun as error:
            self._forget([earlier, later], error)
            return None
        except OSError as error:
            self._faults.begin(FaultSite.SEEN, refused(self._folder, error))
            return None
        self._faults.end(FaultSite.SEEN)
        earlier.close()
        later.close()
        return run

    def _forget(self, runs: Sequence[SortedRun], error: OSError) -> None:
        """Go on without runs that cannot be read: their URLs are sent once more."""
        self._faults.begin(FaultSite.SEEN, refused(self._folder, error))
        for run in runs:
            self._runs.remove(run)
            run.close()

    def _empty(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.glob("*.run"):
                old.unlink()
        except OSError as error:
            self._faults.begin(FaultSite.SEEN, refused(folder, error))

    def _merge(self, earlier: SortedRun, later: SortedRun) -> SortedRun:
        parts = merged(earlier, later)
        if self._folder is None or len(earlier) + len(later) <= self._in_memory:
            pieces = list(parts)
            run: SortedRun = MemoryRun(np.concatenate([p[0] for p in pieces]), np.concatenate([p[1] for p in pieces]))
        else:
            self._number += 1
            run = RunFile.write(self._folder / f"{self._number}.run", parts)
        return run


class AsyncUrlSeenTest:
    """Asks a URL-seen test without blocking the event loop: at once where memory answers, else in a thread of its own.
    While the thread has work, all goes there, one after the other."""

    def __init__(self, seen: UrlSeenTest) -> None:
        self._seen, self._thread, self._sent = seen, ThreadPoolExecutor(1, "crawl-seen"), 0
        self._done = 0  # counted by the thread, as the other by the loop

    async def are_new(self, found: Sequence[tuple[str, int]]) -> list[bool]:
        """Tell for each (URL, depth) whether it is new, as `UrlSeenTest.are_new` does, but off the event loop."""
        if self._sent == self._done and self._seen.is_in_memory:
            return self._seen.are_new(found)
        return await self._in_thread(lambda: self._seen.are_new(found))

    async def add(self, sent: Sequence[tuple[str, int]]) -> None:
        """Remember acknowledged URLs, as `UrlSeenTest.add` does, but off the event loop."""
        if self._sent == self._done and self._seen.has_room(len(sent)):
            self._seen.add(sent)
        else:
            await self._in_thread(lambda: self._seen.add(sent))

    def close(self) -> None:
        """Close the test when the thread has finished what it is at."""
        self._thread.submit(self._seen.close)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, job: Callable[[], T]) -> T:
        def run() -> T:
            try:
                return job()
            finally:
                self._done += 1

        self._sent += 1
        return await asyncio.get_running_loop().run_in_executor(self._thread, run)
