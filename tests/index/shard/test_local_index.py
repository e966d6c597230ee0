"""The local index follows its store through restarts, crashes, damage and changes of the rules."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import index_corpus as corpus
import msgspec
import pytest
from index_network import BITS, FakeOverlay, ListFeed, Network

from dht import NodeId, Slot, slot_of
from index.change_feed import DocumentChange, Text
from index.config import IndexConfig
from index.engine.index_files import IndexFiles
from index.query.collection_statistics import SlotTotals
from index.query.search_rules import NEWEST_RULES
from index.shard import index_duty, index_follower
from index.shard.local_index import LocalIndex
from index.shard.messages import AskStatistics

ME = NodeId(b"\1" * 20)


class Bench:
    """One node whose index can be closed and opened again over the same feed."""

    def __init__(self, path: Path | None, engine: Any = "tantivy") -> None:
        self.config = IndexConfig(engine=engine, commit_s=0.0, batch_count=16, writer_heap_bytes=15_000_000)
        self.path = path
        self.network = Network()
        self.network.ready = {Slot(slot): [ME] for slot in range(1 << BITS)}
        self.overlay = FakeOverlay(self.network, ME)
        self.feed = ListFeed()
        self.local = self.open()

    @property
    def folder(self) -> Path:
        """Where the files of the newest analyzer's index lie."""
        assert self.path is not None
        return self.path / f"analyzer-{NEWEST_RULES.analyzer.number}"

    def open(self) -> LocalIndex:
        self.local = LocalIndex(self.config, self.path, self.overlay, self.feed, self.overlay.agree)
        return self.local

    async def follow(self) -> None:
        while await self.local.advance():
            pass

    async def count(self, query: str) -> tuple[int, int]:
        """Documents answered for, and how many of them hold the query's first leaf."""
        answer = await self.overlay.handlers[AskStatistics](
            ME, AskStatistics(NEWEST_RULES.analyzer.number, self.network.strategy.slot_bits, tuple(range(16)), query)
        )
        return sum(answer.documents), sum(map(sum, answer.df[:1]))


def totals(bench: Bench, slot: Slot) -> SlotTotals:
    return bench.local.totals_by_slot().get(slot, SlotTotals())


Make = Callable[..., Bench]


@pytest.fixture
async def make_bench(tmp_path: Path) -> AsyncIterator[Make]:
    made: list[Bench] = []

    def make(engine: str = "tantivy", on_disk: bool = True) -> Bench:
        made.append(Bench(tmp_path / f"index-{len(made)}" if on_disk else None, engine))
        return made[-1]

    yield make
    for bench in made:
        await bench.local.close()


def texts(count: int, seed: int = 1) -> list[Text]:
    return corpus.web(random.Random(seed), count)


def put(bench: Bench, found: list[Text]) -> None:
    bench.feed.put(*(DocumentChange(text.id, text) for text in found))


async def filled(bench: Bench, count: int) -> Bench:
    """Have an index follow so many documents."""
    put(bench, texts(count))
    await bench.follow()
    return bench


@pytest.mark.parametrize("engine", ["tantivy", "whoosh", "memory"])
async def test_follows_additions_updates_and_deletions(make_bench: Make, engine: str) -> None:
    bench = make_bench(engine, on_disk=False)
    found = texts(40)
    put(bench, found)
    put(bench, [corpus.text(random.Random(2), found[0].url, version=1)])
    bench.feed.put(DocumentChange(found[1].id, None), DocumentChange(b"x" * 20, None))  # type: ignore[arg-type]
    assert not bench.local.is_current
    await bench.follow()
    assert bench.local.is_current
    assert bench.local.documents == 39
    assert (await bench.count("run"))[0] == 39


@pytest.mark.parametrize("on_disk", [True, False])
async def test_an_index_that_gave_up_what_it_remembered_answers_and_follows_as_before(
    make_bench: Make, on_disk: bool
) -> None:
    bench, found = make_bench(on_disk=on_disk), texts(40)
    put(bench, found[:20])
    await bench.follow()
    before = await bench.count("run")
    await bench.local.spare()
    assert await bench.count("run") == before
    put(bench, found[20:])
    await bench.follow()
    assert bench.local.documents == 40


async def test_the_fingerprint_of_a_slot_tells_versions_not_history(make_bench: Make) -> None:
    a, b = make_bench("memory"), make_bench("memory")
    found = texts(30)
    put(a, found)
    put(b, [*texts(30, seed=9), *found[::-1]])
    b.feed.put(*(DocumentChange(text.id, None) for text in texts(30, seed=9) if text.id not in {t.id for t in found}))
    await a.follow()
    await b.follow()
    slots = [Slot(slot) for slot in range(16)]
    assert [totals(a, slot).fingerprint_bytes for slot in slots] == [
        totals(b, slot).fingerprint_bytes for slot in slots
    ]
    changed = corpus.text(random.Random(3), found[0].url, version=2)
    put(b, [changed])
    await b.follow()
    slot = slot_of(changed.key, BITS)
    assert totals(a, slot).documents == totals(b, slot).documents
    assert totals(a, slot).fingerprint_bytes != totals(b, slot).fingerprint_bytes
    assert sum(totals(a, slot).documents for slot in slots) == 30


@pytest.mark.parametrize("engine", ["tantivy", "whoosh"])
async def test_goes_on_after_a_restart_without_reading_again(make_bench: Make, engine: str) -> None:
    bench = await filled(make_bench(engine), 40)
    before = await bench.count("run")
    await bench.local.close()
    bench.feed.log[:40] = [
        DocumentChange(text.id, None) for text in texts(40)
    ]  # whoever reads these again loses everything
    bench.open()
    assert await bench.count("run") == (0, 0), "no answer before it has caught up"
    await bench.follow()
    assert await bench.count("run") == before


async def test_a_crash_between_the_two_commits_leaves_no_ghosts(make_bench: Make) -> None:
    bench = make_bench()
    found = texts(40)
    put(bench, found[:20])
    await bench.follow()
    await bench.local.close()
    files = IndexFiles(bench.config, bench.folder)
    real, files.table.commit = files.table.commit, lambda *given: None  # type: ignore[method-assign]
    changed = corpus.text(random.Random(4), found[0].url, version=1)
    files.apply([DocumentChange(text.id, text) for text in [changed, *found[20:30]]], b"130")
    files.table.commit = real  # type: ignore[method-assign]
    files.close()
    bench.open()
    put(bench, [changed, *found[25:40]])
    await bench.follow()
    expected = make_bench("memory")
    put(expected, [*found[:20], changed, *found[25:40]])
    await expected.follow()
    for query in corpus.QUERIES:
        assert await bench.count(query) == await expected.count(query)


@pytest.mark.parametrize("what", ["engine gone", "other analyzer"])
async def test_whatever_is_lost_is_built_again_from_the_store(make_bench: Make, what: str) -> None:
    bench = await filled(make_bench(), 30)
    before = await bench.count("run")
    await bench.local.close()
    engine = next(bench.folder.glob("engine-*"))
    if what == "engine gone":
        for file in engine.iterdir():
            file.unlink()
        engine.rmdir()
    else:
        files = IndexFiles(bench.config, bench.folder)
        files.table.clear(made=b"analyzer 0", engine=files.table.about("engine"))
        files.close()
    bench.open()
    await bench.follow()
    assert await bench.count("run") == before
    assert len(list(bench.folder.glob("engine-*"))) == 1


async def test_another_incarnation_of_the_store_leaves_no_ghosts(make_bench: Make) -> None:
    bench = await filled(make_bench(), 30)
    bench.feed.log = bench.feed.log[:10]
    bench.feed.incarnation = b"2"
    await bench.follow()
    assert bench.local.documents == 10
    assert (await bench.count("run"))[0] == 10


async def test_another_number_of_slots_is_followed(make_bench: Make) -> None:
    bench = await filled(make_bench(), 30)
    bench.network.strategy = msgspec.structs.replace(bench.network.strategy, slot_bits=3)
    await bench.follow()
    assert (await bench.count("run"))[0] == 30
    assert sum(totals(bench, Slot(slot)).documents for slot in range(8)) == 30


async def test_a_batch_is_full_by_count_or_by_text_however_it_is_read(
    make_bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = make_bench("memory")
    found = texts(40)
    put(bench, found)
    monkeypatch.setattr(index_follower, "READ_COUNT", 3)
    await bench.local.advance()
    assert bench.local.documents == bench.config.batch_count == 16
    monkeypatch.setattr(index_follower, "MAX_BATCH_CHARS", sum(len(t.body) + len(t.boilerplate) for t in found[16:20]))
    await bench.local.advance()
    assert bench.local.documents == 22, "two reads hold that much text"
    monkeypatch.setattr(index_follower, "MAX_READS", 1)
    await bench.local.advance()
    assert bench.local.documents == 25
    await bench.follow()
    assert bench.local.is_current
    assert bench.local.documents == 40


async def test_run_indexes_what_comes_later_and_stops_when_cancelled(make_bench: Make) -> None:
    bench = make_bench("memory")
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(bench.local.run())
        for count in (5, 10):
            put(bench, texts(count)[count - 5 :])
            while bench.local.documents < count or not bench.local.is_current:  # noqa: ASYNC110
                await asyncio.sleep(0)
        running.cancel()


async def test_a_rest_ends_early_where_much_came(make_bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_follower, "LOOK_S", 0.01)
    bench = make_bench("memory")
    await bench.local.close()
    bench.config = replace(bench.config, commit_s=60.0)
    bench.open()
    found = texts(5 + index_follower.ENOUGH * bench.config.batch_count)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        running = tasks.create_task(bench.local.run())
        put(bench, found[:5])
        while bench.local.documents < 5:  # noqa: ASYNC110
            await asyncio.sleep(0)
        put(bench, found[5:])
        while bench.local.documents < 5 + bench.config.batch_count:  # noqa: ASYNC110
            await asyncio.sleep(0)
        running.cancel()


async def test_what_is_reached_is_told_by_the_number_of_the_change(make_bench: Make) -> None:
    """A slot is announced when what made it ready is indexed, however much has come since."""
    bench = make_bench("memory")
    put(bench, texts(40))
    assert not bench.local.reached(0)
    await bench.local.advance()
    assert not bench.local.reached(1), "it has not caught up with what was there at the start"
    await bench.follow()
    assert bench.local.reached(40) and not bench.local.reached(41)
    put(bench, texts(40, seed=2))
    await bench.local.advance()
    assert bench.local.reached(56) and not bench.local.reached(57) and not bench.local.is_current, "one batch"
    bench.feed.incarnation = b"2"
    await bench.local.advance()
    assert not bench.local.reached(16), "the index began again"


async def test_a_question_does_not_wait_for_another_that_is_in_the_engine(make_bench: Make) -> None:
    bench = await filled(make_bench(), 20)
    meet = threading.Barrier(2)

    def met(engine: object, documents: int) -> list[int]:
        return [meet.wait(10.0), documents]

    async with asyncio.TaskGroup() as tasks:
        both = [tasks.create_task(bench.local.look_up(met), name=name) for name in ("one", "other")]
    assert sorted(each.result() for each in both) == [[0, 20], [1, 20]]


async def test_files_stay_until_all_who_read_have_finished(make_bench: Make) -> None:
    bench = await filled(make_bench(), 20)
    await bench.local.check_files()
    begun, go_on = list[int](), threading.Event()

    def slow(engine: Any, documents: int) -> list[str]:
        begun.append(documents)
        assert go_on.wait(10.0)
        return [word for word, _ in engine.words_from("", 1)]

    async with asyncio.TaskGroup() as tasks:
        both = [tasks.create_task(bench.local.look_up(slow), name=name) for name in ("one", "other")]
        while len(begun) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        bench.feed.incarnation = b"2"  # so all is forgotten first
        following = tasks.create_task(bench.follow(), name="follow")
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert not following.done()
        go_on.set()
    assert all(each.result() for each in both)
    assert bench.local.documents == 20


async def test_slots_that_others_index_are_dropped_and_come_back_when_nobody_else_answers(
    make_bench: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_duty, "SPARE_S", 0.0)
    monkeypatch.setattr(index_follower, "HEARD_S", 0.0)
    bench, other = await filled(make_bench(), 40), NodeId(b"\2" * 20)
    slots = frozenset(bench.network.ready)
    bench.network.strategy = msgspec.structs.replace(bench.network.strategy, index_copies=1)
    await bench.follow()
    whole = {slot: totals(bench, slot) for slot in slots}
    assert not bench.local.stored_only(slots), "it is the first owner of all"
    theirs = frozenset(sorted(slots)[::2])
    bench.network.ready |= {slot: [other, ME] for slot in theirs}
    await bench.follow()
    assert bench.local.stored_only(slots) == theirs
    for slot in slots:
        kept = (0, 0, 0, 0) if slot in theirs else whole[slot].lengths
        assert totals(bench, slot) == replace(whole[slot], lengths=kept), "it still knows what the slot holds"
    bench.network.ready |= {slot: [ME] for slot in theirs}
    await bench.follow()
    assert not bench.local.stored_only(slots) and whole == {slot: totals(bench, slot) for slot in slots}
