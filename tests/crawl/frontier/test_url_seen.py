"""URLs that were handed over are known exactly, in memory and in files."""

import asyncio
import os
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawl.frontier import url_seen
from crawl.frontier.sorted_run import BLOCK, MemoryRun, RunFile, merged
from crawl.frontier.url_seen import AsyncUrlSeenTest, UrlSeenTest
from dht import FaultSite, LocalFaults, Now
from tests.faults.injection import filled, small_disk

KEY = bytes(16)
A, B = "http://a.test/a", "http://a.test/b"


def url(number: int) -> str:
    return f"http://h{number % 7}.test/{number}"


def test_a_link_is_news_once_unless_deeper() -> None:
    seen = UrlSeenTest(None, KEY)
    assert seen.are_new([(A, 0), (B, 0)]) == [True, True]
    seen.add([(A, 1), (A, 0)])
    assert seen.are_new([(A, 1), (A, 0), (A, 2), (B, 1)]) == [False, False, True, True]
    seen.add([(A, 100_000)])
    assert seen.are_new([(A, 200_000)]) == [False]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_files_and_memory_agree_with_a_dictionary(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    rng, oracle = Random(seed), dict[str, int]()
    folder = tmp_path_factory.mktemp("seen")
    with closing(
        UrlSeenTest(folder, KEY, gathered=rng.choice((50, 300)), in_memory=rng.choice((0, 400, 5_000)))
    ) as seen:
        for _ in range(rng.randrange(5, 30)):
            found = [(url(rng.randrange(3_000)), rng.randrange(4)) for _ in range(rng.randrange(1, 200))]
            assert seen.are_new(found) == [oracle.get(each, -1) < depth for each, depth in found]
            seen.add(found)
            for each, depth in found:
                oracle[each] = max(depth, oracle.get(each, -1))
        asked = [(url(n), depth) for n in range(3_000) for depth in (0, 3)]
        assert seen.are_new(asked) == [oracle.get(each, -1) < depth for each, depth in asked]
    assert not list(folder.iterdir())


def test_runs_are_few_small_on_disk_and_gone_after_a_start(tmp_path: Path) -> None:
    seen = UrlSeenTest(tmp_path, KEY, gathered=1_000, in_memory=0)
    for start in range(0, 50_000, 500):
        seen.add([(url(n), 1) for n in range(start, start + 500)])
    files = list(tmp_path.iterdir())
    assert len(files) <= 3
    assert sum(file.stat().st_size for file in files) <= 10 * 50_000
    again = UrlSeenTest(tmp_path, KEY)
    assert not list(tmp_path.iterdir()) and again.are_new([(url(1), 1)]) == [True]


def test_a_run_holds_any_hash_at_any_place_of_its_blocks(tmp_path: Path) -> None:
    for length in (1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK):
        hashes = np.linspace(0, 2**64 - 1, length, dtype=np.float64).clip(0, 2**64 - 2**12).astype(np.uint64)
        hashes[-1] = np.uint64(2**64 - 1)
        depths = (np.arange(length) % 256).astype(np.uint8)
        run = RunFile.write(tmp_path / "1.run", iter([(hashes, depths)]))
        assert (run.depths(hashes) == depths).all()
        assert (run.depths(hashes[:-1] + np.uint64(1)) == -1).all()
        assert [run.place(each) for each in hashes[:3]] == list(range(min(3, length)))
        (all_hashes, all_depths), *rest = merged(run, MemoryRun(hashes[:1], depths[:1] + np.uint8(9)))
        assert (all_hashes == hashes).all() and all_depths[0] == 9 and not rest
        run.close()


def test_a_disk_that_takes_no_file_costs_memory_and_nothing_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(url_seen, "MOST_RUNS", 4)
    clock = _Steady()
    faults = LocalFaults(clock)
    with small_disk(tmp_path / "disk", 1_000_000) as folder:
        seen = UrlSeenTest(folder / "seen", KEY, gathered=100, in_memory=0, faults=faults)
        urls = [f"http://a.test/{n}" for n in range(1200)]
        seen.add([(url, 1) for url in urls[:100]])
        seen.add([(url, 1) for url in urls[100:200]])
        with filled(folder):
            for start in (200, 300, 400):
                seen.add([(url, 1) for url in urls[start : start + 100]])
            (fault,) = faults.present()
            assert fault.site == FaultSite.SEEN and "free some space" in fault.remedy
            assert not any(seen.are_new([(url, 1) for url in urls[:500]])), "what was sent is known"
            for start in (500, 600, 700, 800):
                seen.add([(url, 1) for url in urls[start : start + 100]])
            assert len(seen) < 900, "memory is bounded: the oldest are sent once more"
        seen.add([(url, 1) for url in urls[900:1000]])
        assert not any(seen.are_new([(url, 1) for url in urls[700:1000]]))
        clock.steady = 60.0
        assert faults.present() == ()
        seen.close()


@pytest.mark.parametrize("how", ["torn", "gone"])
def test_a_run_that_cannot_be_read_is_sent_once_more(tmp_path: Path, how: str) -> None:
    faults = LocalFaults(_Steady())
    seen = UrlSeenTest(tmp_path / "seen", KEY, gathered=100, in_memory=0, faults=faults)
    urls = [f"http://a.test/{n}" for n in range(2000)]
    for start in range(0, 1000, 100):
        seen.add([(url, 1) for url in urls[start : start + 100]])
    for run in (tmp_path / "seen").glob("*.run"):
        os.truncate(run, 100 if how == "torn" else 0)
    are_new = seen.are_new([(url, 1) for url in urls[:1000]])
    assert any(are_new) and faults.present()[0].site == FaultSite.SEEN
    seen.add([(url, 1) for url in urls[:1000]])
    assert not any(seen.are_new([(url, 1) for url in urls[:1000]]))
    seen.close()


class _Steady:
    """Both clocks, moved by the test."""

    steady = 0.0

    def __call__(self) -> Now:
        return Now(1000.0 + self.steady, self.steady)


def runs_in(folder: Path) -> list[Path]:
    return list(folder.glob("*.run"))


async def test_answers_are_those_of_the_test_itself_whoever_gives_them(tmp_path: Path):
    desk = AsyncUrlSeenTest(UrlSeenTest(tmp_path, b"k" * 16, gathered=8, in_memory=16))  # soon there are files
    told: dict[str, int] = {}
    for start in range(0, 200, 5):
        urls = [(f"http://a.test/{n}", n % 3) for n in range(start, start + 5)]
        assert await desk.are_new(urls) == [True] * 5
        await desk.add(urls)
        told |= dict(urls)
        everything = list(told.items())
        assert not any(await desk.are_new(everything))
        assert all(await desk.are_new([(url, rank + 1) for url, rank in everything]))
    assert runs_in(tmp_path), "files were asked"
    desk.close()


async def test_what_is_asked_while_the_thread_is_at_work_waits_for_it():
    desk = AsyncUrlSeenTest(UrlSeenTest(None, b"k" * 16, gathered=4))
    urls = [(f"http://a.test/{n}", 1) for n in range(6)]
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(desk.add(urls))  # a merge: in the thread
        after = tasks.create_task(desk.are_new(urls))
    assert after.result() == [False] * 6
    desk.close()
