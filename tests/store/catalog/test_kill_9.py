"""A process that is killed at any moment has lost nothing that it acknowledged, whatever it was at.

It writes, compacts, reads its disk through and trains dictionaries all the time.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store import Kind, RecordStore, check_store
from store.segments.file_system import FolderDisk
from store.segments.segments import Segments
from tests.store.support import CONFIG, StillClock, draft

CHILD = """
import asyncio, sys
from pathlib import Path
from store import RecordStore, StoreConfig
from tests.store.support import StillClock, draft, records
CONFIG = StoreConfig(reserve_bytes=0, segment_bytes=1 << 17, dictionary_bytes=2048, compact_below=0.8)
async def main():
    store = RecordStore.open(Path(sys.argv[1]), CONFIG, StillClock())
    start, at = int(sys.argv[2]), float(sys.argv[3])
    async def write(first):
        for n in range(first, first + 100_000, 24):
            later = at + (n - start) * 1e-4
            again = {m % 200: draft(m % 200, at=later, size=2000) for m in range(n, n + 12)}
            await store.put(records(*(draft(m, at=at, size=900) for m in range(n, n + 11)), *again.values()))
            print(*(m for m in range(n, n + 11)), flush=True)
    async def tidy():
        while True:
            await store.upkeep.compact()
            await store.upkeep.judge_unreadable(store.today)
            await asyncio.sleep(0.01)
    async def scrub():
        now = 1e9
        while True:
            await store.scrub.step(1.0, now)
            now += 0.3
            await asyncio.sleep(0.002)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(write(start)); tasks.create_task(write(start + 12))
        tasks.create_task(tidy()); tasks.create_task(scrub())
asyncio.run(main())
"""


def kill_rounds(folder: Path, rounds: int, seed: int, lines: int = 80) -> None:
    """Kill a writing process again and again; whatever it acknowledged must be there each time, and nothing wrong."""
    acknowledged: set[int] = set()
    rng = random.Random(seed)
    for number in range(rounds):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(folder), str(1000 + number * 200_000), f"{number / 4:.2f}"],
            stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3],
        )  # fmt: skip
        assert child.stdout is not None
        for _ in range(rng.randrange(5, lines)):
            acknowledged.update(map(int, child.stdout.readline().split()))
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read()
        child.wait()
        acknowledged.update(map(int, rest[: rest.rfind("\n") + 1].split()))
        report = check_store(folder)
        assert report.flaws == [], f"round {number}: {report.flaws}"
        store = RecordStore.open(folder, CONFIG, StillClock())
        lost = [n for n in sorted(acknowledged) if store.find_version(Kind.DOCUMENT, draft(n).id) is None]
        assert acknowledged and not lost, f"round {number} lost {lost[:5]}"
        assert all(store.find(Kind.DOCUMENT, draft(n).id) for n in rng.sample(sorted(acknowledged), 50))
        store.close()
        report = check_store(folder)
        assert report.flaws == [] and report.torn_bytes == 0, f"round {number}: {report}"
    segments = Segments(FolderDisk(folder), 0, 0)
    assert any(map(segments.is_packed, segments.numbers)), "dictionaries were in use"
    assert segments.numbers[0] > 1, "compaction was at work"


def test_kill_9_loses_nothing_acknowledged(tmp_path: Path) -> None:
    kill_rounds(tmp_path, 3, 1)


@pytest.mark.prove
@pytest.mark.parametrize("seed", range(2, 10))
def test_kill_9_two_hundred_times(tmp_path: Path, seed: int) -> None:
    kill_rounds(tmp_path, 25, seed)
