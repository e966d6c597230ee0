"""The store on one disk: newest wins, what was acknowledged stays, the log tells everything."""

import asyncio
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dht import MachineRefuses, Rule, Strategy, placement_key
from store import Draft, Kind, MemoryDisk, RecordStore, StoreConfig
from store.record.range_reconciliation import mark
from store.segments.file_system import Disk
from tests.store.support import CONFIG, DAY, StillClock, draft, open_store, random_draft, records, url

FIRST, LAST = bytes(20), b"\xff" * 20


async def test_the_highest_version_wins_in_any_order(disk: Disk) -> None:
    store = open_store(disk)
    old, new, later_epoch = records(draft(1, at=1), draft(1, at=2), draft(1, at=0, epoch=2))
    assert await store.put([new]) == 1
    assert await store.put([old]) == 0
    assert store.find_version(Kind.DOCUMENT, new.id) == new.version.short
    assert await store.put([old, later_epoch, new]) == 1
    assert store.find(Kind.DOCUMENT, new.id) == later_epoch
    store.close()


async def test_a_note_outlives_a_restart(disk: Disk) -> None:
    store = open_store(disk)
    assert store.tables.read_note("swept") == b""
    for value in (b"first", b"second"):
        await store.tables.write_note("swept", value)
    store.close()
    store = open_store(disk)
    assert store.tables.read_note("swept") == b"second" and store.tables.read_note("other") == b""
    store.close()


async def test_expired_records_leave_a_day_later_and_tombstones_after_their_time() -> None:
    store = open_store(MemoryDisk())
    await store.put(records(draft(1, days=0), draft(2, days=1), draft(3)))
    assert await store.upkeep.expire(DAY) == 0
    assert store.summary(FIRST, LAST).documents == 2  # day 0 counts no longer, yet lies there a day more
    assert await store.upkeep.expire(DAY + 1) == 1
    assert store.find(Kind.DOCUMENT, draft(1).id) is None
    last = store.log.sequence
    assert store.log.horizon == 0
    await store.upkeep.expire(DAY + 40)
    await store.upkeep.expire(DAY + 80)
    assert store.log.horizon >= last
    store.close()


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5), st.sampled_from(["put", "drop"])), max_size=30))
@settings(max_examples=40, deadline=None)
def test_summaries_equal_a_count_from_scratch(steps: list[tuple[int, int, str]]) -> None:
    async def run() -> None:
        store = open_store(MemoryDisk())
        for number, at, step in steps:
            if step == "put":
                await store.put(records(draft(number, at=at, days=number % 3 + 1)))
            else:
                await store.drop_range(draft(number).key, draft(number).key)
        left = list(store.scan(Kind.DOCUMENT, FIRST, LAST))
        total = sum(int.from_bytes(mark(r.kind, r.id, r.version.short), "big") for r in left) % (1 << 256)
        assert store.summary(FIRST, LAST) == (len(left), 0, total.to_bytes(32, "big"))
        store.close()

    asyncio.run(run())


async def test_a_power_cut_loses_nothing_acknowledged() -> None:
    disk = MemoryDisk()
    for lose_database in (False, True, False):
        store = open_store(disk)
        before = store.log.incarnation
        made = records(*(draft(n, at=store.log.sequence) for n in range(30)))
        await store.put(made)
        disk.append("segment-00000001", b"\0\0\x01torn")
        disk.crash(lose_database=lose_database)
        again = open_store(disk)
        assert [again.find(r.kind, r.id) for r in made] == made
        assert (again.log.incarnation == before) is not lose_database


@given(st.integers(0, 400), st.integers(0, 255))
@settings(max_examples=60, deadline=None)
def test_a_torn_or_garbled_tail_is_cut_off(kept: int, garble: int) -> None:
    async def run() -> None:
        disk = MemoryDisk()
        store = open_store(disk)
        whole = records(draft(1))
        await store.put(whole)
        covered = disk.size("segment-00000001")
        await store.put(records(draft(2)))
        disk.truncate("segment-00000001", min(disk.size("segment-00000001") - 1, covered + kept))
        disk.append("segment-00000001", bytes([garble]))
        disk.drop_database()
        again = open_store(disk)
        assert again.find(Kind.DOCUMENT, whole[0].id) == whole[0]
        assert again.find(Kind.DOCUMENT, draft(2).id) in (None, records(draft(2))[0])
        assert await again.put(records(draft(3))) == 1
        again.close()

    asyncio.run(run())


async def test_what_is_not_remembered_any_more_is_found_and_written_as_before(tmp_path: Path) -> None:
    made = records(*(draft(n) for n in range(50)))
    store = RecordStore.open(tmp_path, CONFIG, StillClock())
    await store.put(made[:30])
    await store.spare()
    assert [r for r in made if store.find(r.kind, r.id) == r] == made[:30]
    assert await store.put(made) == 20
    store.close()


async def test_a_lost_or_damaged_index_is_rebuilt(tmp_path: Path) -> None:
    made = records(*(draft(n) for n in range(50)))
    store = RecordStore.open(tmp_path, CONFIG, StillClock())
    await store.put(made)
    await store.drop_range(made[7].key, made[7].key)
    store.close()
    index = tmp_path / "catalog.sqlite"
    for damage in (lambda: index.unlink(), lambda: index.write_bytes(b"not a database" * 500)):
        damage()
        store = RecordStore.open(tmp_path, CONFIG, StillClock())
        assert [r for r in made if store.find(r.kind, r.id) == r] == made[:7] + made[8:]
        store.close()


async def test_damage_in_the_middle_costs_what_it_hit_when_the_index_is_rebuilt(tmp_path: Path) -> None:
    config = StoreConfig(reserve_bytes=0, segment_bytes=4000)
    store = RecordStore.open(tmp_path, config, StillClock())
    for n in range(10):
        await store.put(records(random_draft(n, 1500)))
    store.close()
    data = bytearray((tmp_path / "segment-00000001").read_bytes())
    data[1000] ^= 1
    (tmp_path / "segment-00000001").write_bytes(data)
    (tmp_path / "catalog.sqlite").unlink()
    store = RecordStore.open(tmp_path, config, StillClock())
    assert [n for n in range(10) if store.find(Kind.DOCUMENT, draft(n).id) is None] == [0]
    store.close()


async def test_compaction_keeps_what_lives_and_gives_back_the_rest(tmp_path: Path) -> None:
    config = StoreConfig(reserve_bytes=0, segment_bytes=50_000)
    store = RecordStore.open(tmp_path, config, StillClock())
    for at in range(8):
        await store.put([r for n in range(20) for r in records(_at(random_draft(n, 1500), at))])
    kept = records(random_draft(99, 1500))
    await store.put(kept)
    used = store.room.record_bytes
    await store.upkeep.compact()
    assert store.room.record_bytes < used / 2
    assert store.room.record_bytes == sum(sizes_of(tmp_path))
    newest = {n: store.find(Kind.DOCUMENT, draft(n).id) for n in range(20)}
    assert all(r is not None and r.version.at_ms % 10_000 == 7000 for r in newest.values())
    store.close()
    (tmp_path / "catalog.sqlite").unlink()
    store = RecordStore.open(tmp_path, config, StillClock())
    assert {n: store.find(Kind.DOCUMENT, draft(n).id) for n in range(20)} == newest
    store.close()


async def test_a_full_disk_refuses_and_loses_nothing() -> None:
    disk = MemoryDisk(capacity_bytes=20_000)
    store = open_store(disk)
    first = records(random_draft(1, 9000))
    await store.put(first)
    with pytest.raises(MachineRefuses, match="free some space"):
        await store.put(records(random_draft(2, 15_000)))
    assert store.find(Kind.DOCUMENT, first[0].id) == first[0]
    assert await store.put(records(draft(3))) == 1
    store.close()
    quota = open_store(MemoryDisk(), StoreConfig(reserve_bytes=0, quota_bytes=10_000))
    with pytest.raises(MachineRefuses, match="of a quota of"):
        await quota.put(records(random_draft(2, 15_000)))
    quota.close()


def sizes_of(folder: Path) -> list[int]:
    return [p.stat().st_size for p in folder.glob("segment-*")]


def _at(base: Draft, at: int) -> Draft:
    return replace(base, at_ms=base.at_ms + at * 1000)


async def test_the_same_version_at_a_deeper_place_takes_the_place_of_the_other_and_outlives_a_lost_index() -> None:
    disk = MemoryDisk()
    store = open_store(disk)
    shallow = draft(1)
    number = next(n for n in range(1, 100) if placement_key(url(n), 2) != placement_key(url(n)))
    shallow, deep = draft(number), replace(draft(number), key=placement_key(url(number), 2))
    old, new = records(shallow)[0], records(deep)[0]
    assert await store.put([new]) == 1 and await store.put([old]) == 0
    assert store.find(old.kind, old.id) == new
    await store.forget([old])
    assert store.find(old.kind, old.id) == new, "only what lies at the old place is forgotten"
    store.close()
    for first, second in ((old, new), (new, old)):
        disk = MemoryDisk()
        store = open_store(disk)
        await store.put([first])
        await store.put([second])
        assert store.find(old.kind, old.id) == new
        low, high = bytes(20), b"\xff" * 20
        assert store.summary(low, high).documents == 1
        store.close()
        disk.crash(lose_database=True)
        store = open_store(disk)
        assert store.find(old.kind, old.id) == new
        await store.forget([new])
        assert store.find(old.kind, old.id) is None
        store.close()


async def test_looking_through_ranges_leaves_the_loop_free() -> None:
    store = open_store(MemoryDisk())
    await store.put(records(draft(1)))
    thread, rows = await store.read_ranges(lambda catalog: (threading.get_ident(), catalog.rows(FIRST, LAST)))
    assert thread != threading.get_ident() and len(rows) == 1
    store.close()


def lying(disk: Disk) -> bytes:
    """All bytes of all segments."""
    return b"".join(disk.read(name, 0, disk.size(name)) for name in disk.names() if name.startswith("segment"))


async def test_what_is_taken_back_is_hidden_at_once_and_leaves_no_byte_behind(disk: Disk) -> None:
    def there() -> list[int]:
        return [n for n in range(40) if store.find(Kind.DOCUMENT, draft(n).id) is not None]

    store = open_store(disk)
    await store.put(records(*(draft(n) for n in range(40))))
    await store.put(records(draft(3, at=5.0)))  # its former version lies there, too
    rule = Rule(action="deny", host="host3.example")
    store.denial.follow(Strategy(network="", version=2, effective_at=0, expires_at=2, next_at=1, rules=(rule,)), 0.0)
    others = [n for n in range(40) if n % 7 != 3]
    assert there() == others
    assert await store.put(records(draft(10, at=9.0))) == 0
    assert b"host3.example" in lying(disk) and b"3:5000:x" in lying(disk)
    for part in store.denied(FIRST, LAST):
        await store.forget(part, erased=True)
    await store.upkeep.compact()
    assert b"host3.example" not in lying(disk) and b"3:5000:x" not in lying(disk)
    store.denial.follow(Strategy(network="", version=3, effective_at=0, expires_at=2, next_at=1), 9.0)
    assert there() == others
    assert store.summary(FIRST, LAST).documents == len(others)
    store.close()
    store = open_store(disk)
    assert there() == others
    assert await store.put(records(draft(3, at=9.0))) == 1
    store.close()


async def test_the_quota_counts_all_files_and_leaves_compaction_room_when_it_is_used_up(tmp_path: Path) -> None:
    config = StoreConfig(reserve_bytes=0, segment_bytes=100_000, quota_bytes=7_000_000, compact_below=0.9)
    store = RecordStore.open(tmp_path, config, StillClock())

    def everything() -> int:
        return sum(path.stat().st_size for path in tmp_path.iterdir())

    async def fill(at: int) -> int:
        """Write versions until one is refused; returns how many were taken."""
        for n in range(2000):
            try:
                await store.put(records(_at(random_draft(n % 60, 24_000), at + n // 60)))
            except MachineRefuses as error:
                assert "of a quota of 7.0 MB" in str(error)
                return n
            assert everything() <= config.quota_bytes
        raise AssertionError("never full")

    assert await fill(0) > 60 and store.room.used_bytes == everything() > 6_000_000
    peak = 0
    while await store._queue.run(store.upkeep._compaction.step):  # as `compact` does, looking in between
        peak = max(peak, everything())
    assert peak <= config.quota_bytes, "it runs while nothing else fits, within the quota"
    assert await fill(20) > 10, "what compaction gave back is room again"
    assert all(store.find(Kind.DOCUMENT, draft(n).id) is not None for n in range(60))
    await store.upkeep.compact()
    store.room.note_beside(6_000_000)
    with pytest.raises(MachineRefuses, match="kept for tidying"):
        await store.put(records(random_draft(99, 6000)))
    assert store.no_room(1)
    store.room.note_beside(0)
    await store.try_again()
    assert not store.no_room(1)
    store.close()
