"""Parts of packages lie on disk as they came, and each of their records is found, replaced and dropped by itself."""

import random
from pathlib import Path

from store import Draft, Kind, Record, RecordStore, StoreConfig
from store.catalog.store_check import check_store
from store.record.package_part import PackagePart, make_parts
from store.segments.file_system import Disk, FolderDisk
from store.segments.frame import FrameType
from store.segments.segments import Segments
from tests.store.support import StillClock, draft, records

CONFIG = StoreConfig(reserve_bytes=0)
CHANCE = random.Random(5)


def page(number: int, at: float = 0.0) -> Draft:
    return draft(number, at=at, size=CHANCE.randrange(1000, 20_000))


PAGES = records(*map(page, range(40)))
PARTS = make_parts(PAGES)
INSIDE = [record for part in PARTS for record in part.records]


def opened(disk: Disk, config: StoreConfig = CONFIG) -> RecordStore:
    return RecordStore(disk, config, StillClock())


def types_on(disk: Disk) -> list[FrameType]:
    segments = Segments(disk, 0, 0)
    return [frame.type for n in segments.numbers for frame in segments.frames(n)]


def holds(store: RecordStore, wanted: list[Record]) -> bool:
    bare = [store.find(r.kind, r.id, content=False) for r in wanted] == [r.without_content() for r in wanted]
    return bare and [store.find(r.kind, r.id) for r in wanted] == wanted


async def test_parts_lie_as_they_came_and_are_read_after_any_restart(disk: Disk) -> None:
    store = opened(disk)
    assert await store.put(PAGES, PARTS) == len(PAGES) and len(PARTS) > 1
    assert types_on(disk).count(FrameType.PACKAGE) == len(PARTS)
    segments = Segments(disk, 0, 0)
    lying = disk.read(f"segment-{segments.newest:08d}", 0, 1 << 24)
    assert all(part.data in lying for part in PARTS)
    store._records._recent.clear()
    assert holds(store, PAGES)
    assert {r.id for r in store.scan(Kind.DOCUMENT, bytes(20), b"\xff" * 20)} == {r.id for r in PAGES}
    store.close()
    disk.drop_database()
    store = opened(disk)
    assert holds(store, PAGES), "the index is built from the segments alone"
    store.close()


async def test_a_part_of_which_something_is_known_already_is_packed_anew(disk: Disk) -> None:
    store = opened(disk)
    await store.put([PARTS[0].records[0]])
    await store.put(PAGES, PARTS)
    assert types_on(disk).count(FrameType.PACKAGE) == len(PARTS) - 1
    assert holds(store, PAGES)
    store.close()


async def test_what_is_left_of_a_part_is_packed_together_again_by_compaction(tmp_path: Path) -> None:
    config = StoreConfig(reserve_bytes=0, compact_below=0.9)
    store = RecordStore.open(tmp_path, config, StillClock())
    await store.put(PAGES, PARTS)
    news = records(*(page(n, at=5.0) for n in range(0, 40, 3)))
    await store.put(news)
    await store.forget([PAGES[1]])
    before = store.room.record_bytes
    await store._queue.run(store._ledger.seal)
    await store.upkeep.compact()
    assert store.room.record_bytes < before
    assert FrameType.PACKAGE in types_on(FolderDisk(tmp_path))
    changed = {r.id: r for r in news}
    assert holds(store, [changed.get(r.id, r) for r in PAGES if r is not PAGES[1]])
    assert store.find(Kind.DOCUMENT, PAGES[1].id) is None
    store.close()
    report = check_store(tmp_path)
    assert report.flaws == [] and report.rows == len(PAGES) - 1


async def test_a_stranger_s_padding_is_not_filed(disk: Disk) -> None:
    store = opened(disk)
    padded = PackagePart(PARTS[0].data + bytes(1 << 20), PARTS[0].records)
    await store.put(list(padded.records), [padded])
    assert FrameType.PACKAGE not in types_on(disk) and store.room.record_bytes < 1 << 20
    assert holds(store, list(padded.records))
    store.close()
