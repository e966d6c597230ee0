"""An index on a machine that fails: what it has is answered, what it lacks is taken in later, damage is built anew."""

import random
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import index_corpus as corpus
import pytest

from dht import FaultSite, LocalFaults, MachineRefuses, Now
from index.errors import IndexCorrupt, failure_of
from index.shard import index_follower
from index.shard.local_index import LocalIndex
from tests.faults.injection import filled, read_only, small_disk
from tests.index.shard.test_local_index import Bench, put, texts
from tests.parameters import proved


class FaultyBench(Bench):
    """A bench whose faults can be seen."""

    def open(self) -> LocalIndex:
        self.steady = 0.0
        self.faults = LocalFaults(lambda: Now(1000.0 + self.steady, self.steady))
        self.local = LocalIndex(self.config, self.path, self.overlay, self.feed, self.overlay.agree, self.faults)
        return self.local

    async def until(self, claim: Callable[[], bool]) -> None:
        for _ in range(50):
            if claim():
                return
            await self.local.advance()
        raise AssertionError("it does not come true")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_follower, "TRY_AGAIN_S", 0.0)


@pytest.mark.parametrize("engine", ["tantivy", "whoosh"])
@pytest.mark.parametrize(
    ("trouble", "cause", "remedy"),
    [(filled, "no space left", "free some space"), (read_only, "read-only file system", "mount it for writing")],
)
async def test_a_disk_that_fails_is_named_in_words_and_costs_only_what_comes_meanwhile(
    tmp_path: Path, trouble: Callable[[Path], AbstractContextManager[None]], cause: str, remedy: str, engine: str
) -> None:
    with small_disk(tmp_path / "disk", 40_000_000) as folder:
        bench, found = FaultyBench(folder / "index", engine), texts(40)
        put(bench, found[:10])
        await bench.follow()
        before = await bench.count("run")
        with trouble(folder):
            put(bench, found[10:])
            await bench.until(lambda: bool(bench.faults.present()))
            for _ in range(3):  # each try to write begins with a new writer
                await bench.local.advance()
                (fault,) = bench.faults.present()
                assert fault.site == FaultSite.INDEX and cause in fault.cause and remedy in fault.remedy
            assert bench.local.is_stuck and bench.local.is_answering and not bench.local.is_current
            assert await bench.count("run") == before, "what it has is answered"
            await bench.local.close()  # a node that stops then stops well
        bench.open()
        await bench.until(lambda: bench.local.is_current)
        bench.steady = 60.0
        assert bench.faults.present() == () and not bench.local.is_stuck
        assert bench.local.documents == 40
        await bench.local.close()


async def test_it_goes_on_in_the_same_process_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 40_000_000) as folder:
        bench, found = FaultyBench(folder / "index"), texts(40)
        put(bench, found[:10])
        await bench.follow()
        with filled(folder):
            changed = corpus.text(random.Random(4), found[0].url, version=1)
            put(bench, [changed, *found[10:]])
            await bench.until(lambda: bool(bench.faults.present()))
        await bench.until(lambda: bench.local.is_current)
        bench.steady = 60.0
        assert bench.faults.present() == ()
        assert bench.local.documents == (await bench.count("run"))[0] == 40, "and no ghosts of what was tried"
        await bench.local.close()


def _spoiled(path: Path, how: str) -> None:
    data = bytearray(path.read_bytes())
    if how == "torn":
        del data[len(data) // 2 :]
    else:
        data[0 if how == "first byte flipped" else len(data) // 3] ^= 0x40
    path.unlink()  # a thread of the closed engine may have the old file mapped still, which must not shrink
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["torn", "a byte flipped", *proved("first byte flipped")])
@pytest.mark.parametrize("kind", ["term", "idx", "pos", "fast", "fieldnorm", "store", "meta.json", "forward.sqlite"])
async def test_a_damaged_file_is_found_and_the_index_is_the_same_again(tmp_path: Path, kind: str, how: str) -> None:
    bench = FaultyBench(tmp_path / "index")
    put(bench, texts(30))
    await bench.follow()
    before = [await bench.count(query) for query in corpus.QUERIES]
    await bench.local.close()
    names = sorted((tmp_path / "index").rglob(f"*{kind}"), key=lambda path: path.stat().st_size)
    _spoiled(names[-1], how)
    bench.open()
    await bench.until(lambda: bench.local.is_current)
    await bench.local.check_files()
    await bench.until(lambda: bench.local.is_current)
    assert [await bench.count(query) for query in corpus.QUERIES] == before
    await bench.local.close()


async def test_damage_under_a_running_index_is_no_answer_and_no_end(tmp_path: Path) -> None:
    bench = FaultyBench(tmp_path / "index")
    put(bench, texts(30))
    await bench.follow()
    before = await bench.count("run")
    file = next((tmp_path / "index").rglob("*.idx"))
    with file.open("r+b") as damaged:
        damaged.seek(file.stat().st_size // 2)
        damaged.write(b"\xff\0\xff")
    await bench.local.check_files()
    assert await bench.count("run") == (0, 0), "its slots are answered for by others meanwhile"
    assert not bench.local.is_answering and bench.faults.present()[0].site == FaultSite.INDEX
    await bench.until(lambda: bench.local.is_current)
    assert await bench.count("run") == before
    await bench.local.close()


def test_what_an_engine_says_tells_a_machine_that_refuses_from_damage() -> None:
    full = failure_of("engine", ValueError("An IO error occurred: 'No space left on device (os error 28) at path'"))
    assert isinstance(full, MachineRefuses) and "free some space" in full.remedy
    assert full.reason == "no space left on device"
    torn = failure_of("engine", ValueError('Failed: Os { code: 24, kind: Uncategorized, message: "Too many open" }'))
    assert isinstance(torn, MachineRefuses) and "ulimit -n" in torn.remedy
    assert isinstance(failure_of("engine", ValueError("Data corrupted: 'meta.json'")), IndexCorrupt)
    assert isinstance(failure_of("table", sqlite3.DatabaseError("malformed")), IndexCorrupt)
