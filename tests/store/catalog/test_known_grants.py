"""Grants that prove records outlive crashes, lost indexes and compaction, and go when no record names them any more."""

from dataclasses import replace

from dht import Identity
from store import Draft, Kind, MemoryDisk, RecordStore
from store.segments.file_system import Disk
from tests.store.support import CONFIG, SIGNER, WALL, draft, grant, open_store, proofs, random_draft, records

BITS = 4
VOTERS = [Identity(bytes([n]) * 32) for n in range(1, 8)]


async def put(store: RecordStore, *drafts: Draft) -> None:
    await store.grants.keep([grant(d, SIGNER) for d in drafts])
    await store.put(records(*drafts))


async def test_grants_travel_with_the_records_that_name_them(disk: Disk) -> None:
    store = open_store(disk)
    first, other = draft(1, epoch=7), draft(2, epoch=7, at=-7200.0)
    await put(store, first, other)
    (found,) = proofs(store, records(first))
    assert found == grant(first, SIGNER)
    assert set(proofs(store, records(first, other, draft(3, epoch=8)))) == {found, grant(other, SIGNER)}
    store.close()
    again = open_store(disk)
    assert set(proofs(again, records(first, other))) == {found, grant(other, SIGNER)}
    again.close()


async def test_a_grant_is_written_once() -> None:
    disk = MemoryDisk()
    store = open_store(disk)
    await put(store, draft(1))
    size = store.room.record_bytes
    await store.grants.keep([grant(draft(1), SIGNER)] * 3)
    assert store.room.record_bytes == size
    again = open_store(disk)
    await again.grants.keep([grant(draft(1), SIGNER)])
    assert again.room.record_bytes == size


async def test_grants_outlive_the_index() -> None:
    disk = MemoryDisk()
    await put(open_store(disk), draft(1))
    disk.crash(lose_database=True)
    store = open_store(disk)
    assert proofs(store, records(draft(1))) == (grant(draft(1), SIGNER),)


async def test_compaction_keeps_grants_of_segments_that_it_deletes() -> None:
    disk = MemoryDisk()
    store = open_store(disk, replace(CONFIG, segment_bytes=4096))
    kept = random_draft(1, 100)
    await put(store, kept)
    others = records(*(random_draft(number, 3000) for number in range(2, 12)))
    for other in others:
        await store.put([other])
    await store.forget(others)
    await store.upkeep.compact()
    assert "segment-00000001" not in disk.names()
    disk.crash(lose_database=True)
    assert proofs(open_store(disk), records(kept)) == (grant(kept, SIGNER),)


async def test_a_store_of_many_grants_and_few_records_is_compacted_once() -> None:
    disk = MemoryDisk()
    store = open_store(disk, replace(CONFIG, segment_bytes=4096))
    made = [draft(number, epoch=7 + number, kind=Kind.VISIT) for number in range(60)]
    for each in made:
        await store.grants.keep([grant(each, SIGNER, *VOTERS)])
        await store.put(records(each))
    before = disk.names()
    await store.upkeep.compact()
    assert disk.names() == before, "grants are no waste"
    assert len(proofs(store, records(*made))) == len(made)


async def test_a_grant_that_no_record_names_is_forgotten() -> None:
    store = open_store(MemoryDisk())
    first, other = draft(1, epoch=7), draft(2, epoch=7, at=-7200.0)
    await put(store, first, other)
    await store.grants.sweep(int(WALL) + 86_400)
    assert len(proofs(store, records(first, other))) == 2
    await store.put(records(draft(1, epoch=9)))
    await store.grants.sweep(int(WALL) - 7200)
    assert proofs(store, records(first)), "it did not end before that"
    await store.grants.sweep(int(WALL) + 86_400)
    assert proofs(store, records(first, other)) == (grant(other, SIGNER),)
