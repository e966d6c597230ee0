"""Segments that are packed by dictionaries: smaller, and as safe as before."""

import asyncio
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from dht import Rule, Strategy
from store import MemoryDisk, Record, RecordStore
from store.catalog.store_check import check_store
from store.catalog.store_copy import store_copy
from store.segments.file_system import Disk, FolderDisk
from store.segments.frame import FrameType
from store.segments.segments import Segments
from tests.store.support import CONFIG, StillClock, draft, records

PACKED = replace(CONFIG, segment_bytes=1 << 18, dictionary_bytes=4096)
PLAIN = replace(PACKED, dictionary_bytes=0)
WORDS = [f"word{n * 7919 % 1000}" for n in range(400)]
MENU = "".join(f'<li class="menu-item"><a href="/section/{n}">{WORDS[n]}</a></li>' for n in range(30))


def page(number: int, at: float = 0.0) -> Record:
    """A page of a site whose pages share a menu, and whose text is its own."""
    rng = random.Random(number * 1000 + int(at))
    text = " ".join(rng.choices(WORDS, k=200))
    base = draft(number, at=at)
    body = msgspec.msgpack.encode(
        [*msgspec.msgpack.decode(base.body)[:9], text, *msgspec.msgpack.decode(base.body)[10:]]
    )
    content = f"<html><head><title>{number}</title></head><ul>{MENU}</ul><p>{text}</p></html>".encode()
    return records(msgspec.structs.replace(base, body=body, content=content))[0]


def opened(disk: Disk, config: object = PACKED) -> RecordStore:
    return RecordStore(disk, config, StillClock())  # type: ignore[arg-type]


async def trained(store: RecordStore) -> None:
    """Wait for a training under way."""
    await asyncio.get_running_loop().run_in_executor(store._training_thread, lambda: None)


async def fill(store: RecordStore, pages: list[Record]) -> None:
    for first in range(0, len(pages), 20):
        await store.put(pages[first : first + 20])
        await trained(store)


def missing(store: RecordStore, pages: list[Record]) -> list[Record]:
    store._recent.clear()
    return [each for each in pages if store.find(each.kind, each.id) != each]


PAGES = [page(n) for n in range(240)]


def packed(disk: Disk) -> list[int]:
    segments = Segments(disk, 0, 0)
    return [n for n in segments.numbers if segments.is_packed(n)]


async def test_pages_take_less_room_and_read_alike_after_a_restart_and_without_the_index(disk: Disk) -> None:
    plain = opened(MemoryDisk(), PLAIN)
    await fill(plain, PAGES)
    store = opened(disk)
    await fill(store, PAGES)
    await store.upkeep.compact()
    assert store.room.record_bytes < 0.75 * plain.room.record_bytes
    assert packed(disk) == store._ledger.segments.numbers
    for _ in range(2):
        assert missing(store, PAGES) == []
        heads = [store.find(each.kind, each.id, content=False) for each in PAGES]
        assert heads == [each.without_content() for each in PAGES]
        store.close()
        disk.drop_database()
        store = opened(disk)
    store.close()


async def test_verify_copy_and_compaction_across_dictionaries_find_all_sound(tmp_path: Path) -> None:
    store = opened(FolderDisk(tmp_path / "store"))
    await fill(store, PAGES)
    news = [page(n, at=5.0) for n in range(0, 240, 2)]
    await fill(store, news)
    wanted = news + PAGES[1::2]
    before = store.room.record_bytes
    store.upkeep._compaction._below = 0.9
    await store.upkeep.compact()
    assert store.room.record_bytes < before and missing(store, wanted) == []
    (tmp_path / "copy").mkdir()
    with store_copy(tmp_path / "store", tmp_path / "draft") as files:
        for name, size, source in files:
            (tmp_path / "copy" / name).write_bytes(source.read(size))
    store.close()
    for folder in (tmp_path / "store", tmp_path / "copy"):
        report = check_store(folder)
        assert report.flaws == [] and report.rows == 240
    copy = opened(FolderDisk(tmp_path / "copy"))
    assert missing(copy, wanted) == []
    copy.close()


@pytest.mark.parametrize("copies", [1, 2])
async def test_one_damaged_copy_of_a_dictionary_costs_nothing_and_two_their_segment(
    tmp_path: Path, copies: int
) -> None:
    store = opened(FolderDisk(tmp_path))
    await fill(store, PAGES)
    await store.upkeep.compact()
    store.close()
    number = packed(FolderDisk(tmp_path))[0]
    path = tmp_path / f"segment-{number:08d}"
    frames = [f for f in Segments(FolderDisk(tmp_path), 0, 0).frames(number) if f.type == FrameType.DICTIONARY]
    assert len(frames) == 2 and frames[0].content == frames[1].content
    data = bytearray(path.read_bytes())
    for frame in frames[:copies]:
        data[frame.place.offset + 1000] ^= 16
    path.write_bytes(data)
    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as index:
        query = "SELECT count(*) FROM records JOIN frames USING (frame) WHERE segment = ?"
        (there,) = index.execute(query, (number,)).fetchone()
    store = opened(FolderDisk(tmp_path))
    assert len(missing(store, PAGES)) == (0 if copies == 1 else there)
    if copies == 1:
        for second in range(40):
            await store.scrub.step(1.0, 2e9 + second)
        assert store.scrub.status().lost == store.scrub.status().found == 0
        await store.upkeep.compact()
        assert not path.exists() and missing(store, PAGES) == [], "it is rewritten, so that there are two again"
    else:
        assert len(await store.upkeep.judge_unreadable(store.today)) == there
    store.close()


async def test_what_is_erased_stays_in_no_dictionary_either(disk: Disk) -> None:
    def lying() -> bytes:
        segments = Segments(disk, 0, 0)
        return b"".join(f.head + f.content for n in segments.numbers for f in segments.frames(n))

    store = opened(disk)
    await fill(store, PAGES)
    before = [f.content for f in Segments(disk, 0, 0).frames(packed(disk)[0]) if f.type == FrameType.DICTIONARY]
    assert before and before[0] in lying()
    rule = Rule(action="deny", host="host3.example")
    store.denial.follow(Strategy(network="", version=2, effective_at=0, expires_at=2, next_at=1, rules=(rule,)), 0.0)
    for part in store.denied(bytes(20), b"\xff" * 20):
        await store.forget(part, erased=True)
    first = store._ledger.segments.newest
    await store.upkeep.compact()
    await trained(store)
    assert min(store._ledger.segments.numbers) > first, "whatever the old dictionaries packed is written anew"
    assert b"host3.example" not in lying() and before[0] not in lying()
    kept = [each for n, each in enumerate(PAGES) if n % 7 != 3]
    assert missing(store, kept) == []
    store.close()


async def test_what_does_not_compress_gets_no_dictionary() -> None:
    disk = MemoryDisk()
    store = opened(disk)
    rng = random.Random(1)
    drafts = [msgspec.structs.replace(draft(n), content=rng.randbytes(4000)) for n in range(200)]
    await fill(store, records(*drafts))
    assert packed(disk) == []
    store.close()
