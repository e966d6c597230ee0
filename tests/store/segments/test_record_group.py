"""Small records in one frame: whatever shares it, each comes out as it went in, with a proof that holds."""

import random
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dht import Identity, Key, placement_key
from store import Draft, Kind, MemoryDisk, Record, RecordStore, StoreConfig
from store.catalog.store_check import check_store
from store.record.merkle import root_of
from store.record.package import leaf_of
from store.record.package_part import PackagePart, make_parts
from store.record.record import digest_of
from store.segments.file_system import Disk, FolderDisk
from store.segments.frame import FrameType
from store.segments.record_group import MOST, NOTHING, decode_group, encode_group, fits, parts_of, roots_of
from store.segments.segments import Segments
from tests.store.support import CONFIG, SIGNER, StillClock, draft, flaws, records, url

OTHER = Identity(b"\1" * 32)
ALL = (bytes(20), b"\xff" * 20)


def visits(numbers: range, *, at: float = 0.0, signer: Identity = SIGNER, spread: int = 0) -> list[Record]:
    made = (replace(draft(n, at=at, kind=Kind.VISIT), key=placement_key(url(n), spread)) for n in numbers)
    return records(*made, signer=signer)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 2), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_any_part_of_any_packages_comes_out_as_it_went_in(sizes: list[int], spread: int, rng: Random) -> None:
    made = [
        r for n, size in enumerate(sizes)
        for r in visits(range(100 * n, 100 * n + size), signer=(SIGNER, OTHER)[n % 2], spread=spread)
    ]  # fmt: skip
    held = rng.sample(made, rng.randint(1, min(len(made), MOST)))
    data = encode_group(held)
    assert decode_group(data).records(proven=True) == held
    alone = rng.randrange(len(held))
    assert decode_group(data).record(alone) == held[alone]
    assert flaws(decode_group(data).records(proven=True)) == [""] * len(held)
    bare = decode_group(data).record(alone, proven=False)
    assert replace(bare, proof=held[alone].proof) == held[alone]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_roots_are_those_of_each_path_alone(sizes: list[int], rng: Random) -> None:
    made = [r for n, size in enumerate(sizes) for r in visits(range(100 * n, 100 * n + size))]
    wrong = [
        replace(r, proof=replace(r.proof, path=tuple(h if rng.random() < 0.8 else bytes(32) for h in r.proof.path)))
        for r in made
    ]
    held = rng.sample([*made, *wrong], len(made))
    leaves = [leaf_of(r.kind, r.id, r.key, r.version, r.expires_day) for r in held]
    alone = [root_of(leaf, r.proof.index, r.proof.path) for leaf, r in zip(leaves, held, strict=True)]
    assert roots_of(held) == alone


def test_only_what_follows_from_its_body_shares_a_frame() -> None:
    (visit,) = visits(range(1))
    page, empty = records(draft(1), replace(draft(2), content=b""))
    assert fits(visit) and fits(empty) and not fits(page)
    strange = [
        replace(visit, id=empty.id),
        replace(visit, key=Key(bytes(20))),
        replace(visit, body=b"no body"),
        replace(visit, content_digest=bytes(32)),
        replace(visit, proof=replace(visit.proof, index=7)),
    ]
    assert not any(map(fits, strange))
    assert parts_of([page, visit, empty, strange[0]]) == [[1, 2], [0], [3]]
    assert digest_of(visit.body, NOTHING) == visit.version.digest


@pytest.mark.parametrize("damage", [b"", b"\x90", b"\xff" * 40])
def test_what_is_no_group_is_refused(damage: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decode_group(damage).records(proven=True)


def test_a_column_too_short_is_refused() -> None:
    whole = encode_group(visits(range(3)))
    with pytest.raises(ValueError, match="equally long"):
        decode_group(whole.replace(bytes([2, 2, 2]), bytes([2, 2]), 1).replace(b"\xc4\x03", b"\xc4\x02", 1))


async def test_a_waiting_url_takes_less_than_its_text_in_the_segments_and_a_little_in_the_index(tmp_path: Path) -> None:
    store = RecordStore.open(tmp_path, CONFIG, StillClock())
    texts = 0
    for first in range(0, 2048, 256):
        made = visits(range(first, first + 256))
        texts += sum(len(url(n)) for n in range(first, first + 256))
        await store.put(made)
    assert store.room.record_bytes < texts
    store.close()
    assert (tmp_path / "catalog.sqlite").stat().st_size < 2048 * 230


async def test_compaction_and_a_lost_index_keep_grouped_records_and_their_proofs() -> None:
    disk = MemoryDisk()
    store = RecordStore(disk, StoreConfig(reserve_bytes=0, segment_bytes=2_000), StillClock())
    newest: dict[int, Record] = {}
    for at in range(6):
        made = visits(range(at * 5, at * 5 + 60), at=at)
        await store.put(made)
        await store.put(records(draft(1000 + at, size=900)))
        newest |= dict(zip(range(at * 5, at * 5 + 60), made, strict=True))
    used = store.room.record_bytes
    await store.upkeep.compact()
    assert store.room.record_bytes < used
    for _ in range(2):
        found = {n: store.find(Kind.VISIT, r.id) for n, r in newest.items()}
        assert found == newest
        assert {r.id for r in store.scan(Kind.VISIT, *ALL)} == {r.id for r in newest.values()}
        assert store.summary(*ALL)[:2] == (6, len(newest))
        store.close()
        disk.crash(lose_database=True)
        store = RecordStore(disk, CONFIG, StillClock())
    store.close()


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
