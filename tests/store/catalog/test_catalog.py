"""The index against a dictionary: whatever is put, removed and moved, each way to look says the same."""

import asyncio
import sqlite3
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht import DocumentId, Key, placement_key
from store import Kind, MemoryDisk, RecordStore
from store.catalog.catalog import MOST_LEFT, Catalog, LeftKeys
from store.catalog.catalog_reader import RecordChange
from store.catalog.cell_sums import keys_of
from store.catalog.row_table import CatalogRow
from store.errors import StoreCorrupt
from store.record.record import ShortVersion
from store.segments.file_system import Disk, FolderDisk
from store.segments.frame import SegmentPlace
from tests.store.support import CONFIG, StillClock, draft, open_store, records, url

FIRST, LAST = bytes(20), b"\xff" * 20
SITES = [bytes([1, 1, n]).ljust(10, b"s") for n in range(2)] + [bytes([200 + n]).ljust(10, b"t") for n in range(3)]
NAMES = 40
Name = tuple[Kind, DocumentId]


def name(n: int) -> Name:
    """Some ids begin alike; a document, a visit or a host record share theirs."""
    return Kind(1 + n % 3), DocumentId(bytes([n // 8]) * 10 + bytes([n // 2]) * 10)


class Model:
    """A model of the index, and the index."""

    def __init__(self, disk: Disk) -> None:
        self.catalog = Catalog(disk)
        self.live: dict[Name, CatalogRow] = {}
        self.log: dict[Name, RecordChange] = {}
        self.sequence = self.written = 0

    def put(self, numbers: set[int], site: int) -> None:
        """New versions, in one frame."""
        come = []
        for place, n in zip(self.places(len(numbers)), sorted(numbers), strict=True):
            version = ShortVersion(self.sequence, n, bytes([n]) * 8)
            come.append(CatalogRow(*name(n), self.key(n, site), version, 30 + n % 3, place))
        with self.catalog.transaction():
            self.catalog.put(come, self.catalog.named((r.kind, r.id) for r in come))
        for row in come:
            self.changed(row, removed=False)
            self.live[row.kind, row.id] = row

    def remove(self, numbers: set[int]) -> None:
        went = [row for row in self.catalog.named(map(name, sorted(numbers))) if row is not None]
        with self.catalog.transaction():
            self.catalog.remove(went, 20)
        for row in went:
            self.changed(row, removed=True)
            del self.live[row.kind, row.id]

    def move(self, numbers: set[int], meanwhile: set[int]) -> None:
        """Compaction read the rows, then some of them changed, then it copies all."""
        moved = [row for row in self.catalog.named(map(name, sorted(numbers))) if row is not None]
        self.put(meanwhile, 0)
        places = self.places(len(moved))
        with self.catalog.transaction():
            self.catalog.move(moved, places)
        for row, place in zip(moved, places, strict=True):
            if self.live[row.kind, row.id].version == row.version:
                self.live[row.kind, row.id] = self.live[row.kind, row.id]._replace(place=place)

    def places(self, count: int) -> list[SegmentPlace]:
        self.written += 1
        frame = SegmentPlace(self.written % 3, self.written, 1000, 10)
        return [frame.of(n, count) for n in range(count)] if count > 1 else [frame] * count

    def key(self, n: int, site: int) -> Key:
        return Key(SITES[site] + bytes([7 * n % 256]) * 10)

    def changed(self, row: CatalogRow, *, removed: bool) -> None:
        self.sequence += 1
        self.log[row.kind, row.id] = RecordChange(self.sequence, row.kind, row.id, row.key, removed)

    def check(self) -> None:
        catalog, live = self.catalog, list(self.live.values())
        assert [bare(catalog.reader.find(*name(n))) for n in range(NAMES)] == [
            self.live.get(name(n)) for n in range(NAMES)
        ]
        assert list(map(bare, catalog.named(map(name, range(NAMES))))) == [self.live.get(name(n)) for n in range(NAMES)]
        ordered = sorted(live, key=lambda r: (r.key, r.id))
        for first, last in ((FIRST, LAST), keys_of(257), (SITES[1].ljust(20, b"\0"), SITES[3] + b"\x40" * 10)):
            inside = [r for r in ordered if first <= r.key <= last]
            assert Counter(map(bare, catalog.reader.rows(first, last))) == Counter(inside)
            for kind in (Kind.VISIT, Kind.HOST):
                found = [bare(r) for r in catalog.reader.walk(first, last, kind)]
                assert found == [r for r in inside if r.kind == kind]
        for bits in (0, 1, 8, 16):
            slots = {int.from_bytes(r.key[:2], "big") >> (16 - bits) for r in live}
            assert catalog.reader.occupied(bits) == sorted(slots)
        assert [catalog.reader.changes(change.sequence - 1, 3)[0] for change in self.changes()] == self.changes()
        assert catalog.reader.changes(0, 1000) == self.changes()
        for n in range(3):
            assert Counter(map(bare, catalog.rows_in(n))) == Counter(r for r in live if r.place.segment == n)
        frames = Counter(r.place[:4] for r in live)
        sizes = Counter[int]()
        for place, count in frames.items():
            members = next(r.place.part % 256 for r in live if r.place[:4] == place)
            sizes[place[0]] += (place[2] + place[3]) * count // max(1, members)
        assert catalog.live_bytes() == sizes
        per_site = Counter(r.key[:10] for r in live if r.kind == Kind.DOCUMENT)
        assert sorted(catalog.reader.big_sites(Kind.DOCUMENT, FIRST, LAST, 2)) == sorted(
            (s, n) for s, n in per_site.items() if n > 1
        )
        kept = {
            table: catalog.reader.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("frames", "sites")
        }
        assert kept == {"frames": len(frames), "sites": len({r.key[:10] for r in live})}, "nothing is listed for nobody"

    def changes(self) -> list[RecordChange]:
        return sorted(self.log.values())


def bare(row: CatalogRow | None) -> CatalogRow | None:
    """As it was put."""
    return row and row._replace(sequence=0, frame=0)


some = st.sets(st.integers(0, NAMES - 1), max_size=12)
steps = st.one_of(
    st.tuples(st.just("put"), some, st.integers(0, len(SITES) - 1)),
    st.tuples(st.just("remove"), some),
    st.tuples(st.just("move"), some, some),
)


@given(st.lists(steps, max_size=12))
@settings(max_examples=40, deadline=None)
def test_every_way_to_look_agrees_with_a_dictionary(script: list[tuple]) -> None:  # type: ignore[type-arg]
    model = Model(MemoryDisk())
    for verb, *values in script:
        getattr(model, verb)(*values)
    model.check()


def test_looks_that_a_start_needs_do_not_go_through_all_records() -> None:
    """Counted in steps of SQLite's machine, of which each record that is looked at takes several."""
    catalog, place = Catalog(MemoryDisk()), SegmentPlace(1, 16, 1000, 10)
    version = ShortVersion(1, 1, bytes(8))
    for site in range(100):
        ids = [DocumentId(bytes([site, n]) * 8) for n in range(50)]
        key = Key(bytes([128 + site % 4, site]).ljust(20, b"s"))
        rows = [CatalogRow(Kind.DOCUMENT, id, key, version, n, place) for n, id in enumerate(ids)]
        with catalog.transaction():
            catalog.put(rows, [None] * len(rows))
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    catalog.reader.database.set_progress_handler(count, 1)
    assert list(catalog.reader.walk(FIRST, LAST, Kind.HOST)) == []
    assert catalog.reader.occupied(8) == [128, 129, 130, 131]
    assert 0 < steps < 500
    catalog.close()


async def test_an_index_of_a_newer_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    made = records(*(draft(n, kind=Kind.VISIT) for n in range(30)), *(draft(n) for n in range(5)))
    store = RecordStore(FolderDisk(tmp_path), CONFIG, StillClock())
    await store.put(made)
    store.close()
    with sqlite3.connect(tmp_path / "catalog.sqlite") as database:
        database.executescript("PRAGMA user_version = 99;")
    database.close()
    with pytest.raises(StoreCorrupt, match=r"format 99, this program reads 1.*use the newer program"):
        RecordStore(FolderDisk(tmp_path), CONFIG, StillClock())
    with sqlite3.connect(tmp_path / "catalog.sqlite") as database:
        database.executescript("PRAGMA user_version = 1;")
    database.close()
    store = RecordStore(FolderDisk(tmp_path), CONFIG, StillClock())
    assert [store.find(r.kind, r.id) for r in made] == made
    store.close()


async def test_an_index_damaged_under_a_running_store_is_rebuilt_by_the_next_start(tmp_path: Path) -> None:
    store = RecordStore.open(tmp_path, CONFIG, StillClock())
    made = records(*(draft(n) for n in range(200)))
    await store.put(made)
    store.close()
    store = RecordStore.open(tmp_path, CONFIG, StillClock())
    index = tmp_path / "catalog.sqlite"
    data = bytearray(index.read_bytes())
    data[4096:] = b"\x5a" * (len(data) - 4096)
    index.write_bytes(data)
    with pytest.raises(StoreCorrupt, match="rebuilt from the segments"):
        for record in made:
            store.find(record.kind, record.id)
    with pytest.raises(StoreCorrupt):
        await store.try_again()  # whoever met it first, the node hears of it
    store.close()
    again = RecordStore.open(tmp_path, CONFIG, StillClock())
    assert [again.find(r.kind, r.id) for r in made] == made
    again.close()


def test_what_was_left_since_a_change_is_known_until_too_much_was_left_since() -> None:
    left = LeftKeys()
    keys = [Key(n.to_bytes(20, "big")) for n in range(1, MOST_LEFT + 2)]
    for sequence, key in enumerate(keys[:-1], start=1):
        left.note(sequence, key)
    assert left.since(0) == set(keys[:-1])
    assert left.since(MOST_LEFT - 1) == {keys[-2]}
    left.note(MOST_LEFT + 1, keys[-1])
    assert left.since(0) is None, "the first of them is forgotten"
    assert left.since(1) == set(keys[1:])


async def test_a_follower_of_the_log_knows_what_the_store_knows(disk: Disk) -> None:
    store = open_store(disk)
    await store.put(records(*(draft(n) for n in range(10))))
    seen = store.log.changes(0, 100)
    assert [c.sequence for c in seen] == sorted(c.sequence for c in seen) and len(seen) == 10
    cursor = seen[-1].sequence
    waiting = asyncio.create_task(store.log.wait(cursor))  # noqa: TID251
    await asyncio.sleep(0)
    assert not waiting.done()
    await store.put(records(draft(3, at=5)))
    await asyncio.wait_for(waiting, 5)
    dropped = draft(4).key
    await store.drop_range(dropped, dropped)
    assert [(c.id, c.removed) for c in store.log.changes(cursor, 100)] == [(draft(3).id, False), (draft(4).id, True)]
    assert store.find(Kind.DOCUMENT, draft(4).id) is None
    assert await store.put(records(draft(4))) == 1  # what left may come back, the same version too
    store.close()


async def test_who_follows_the_log_learns_where_records_lay_that_moved(disk: Disk) -> None:
    """The log names each record once, where it lies now; what is known of the place before is out of date as well."""
    store = open_store(disk)
    number = next(n for n in range(1, 100) if placement_key(url(n), 2) != placement_key(url(n)))
    unspread, spread = draft(number), msgspec.structs.replace(draft(number), key=placement_key(url(number), 2))
    await store.put(records(unspread, draft(0)))
    cursor = store.log.sequence
    await store.put(records(spread))
    assert [c.key for c in store.log.changes(cursor, 100)] == [spread.key]
    assert store.log.left(cursor) == {unspread.key}
    assert store.log.left(store.log.sequence) == frozenset()
    store.close()
