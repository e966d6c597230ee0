"""An author's records on a disk are counted as they come and go; a file of an earlier program is counted once."""

import sqlite3
from pathlib import Path

from msgspec.structs import replace

from dht import Identity
from store import Draft, Kind, MemoryDisk, RecordStore
from tests.store.network import simulate
from tests.store.support import CONFIG, StillClock, draft, open_store, records

AUTHORS = [Identity(bytes([n]) * 32) for n in (1, 2)]
OLD = """DROP TABLE authors; ALTER TABLE records DROP COLUMN author; ALTER TABLE sites DROP COLUMN found;
  ALTER TABLE sites DROP COLUMN pages;"""  # what an earlier program lacked


def found(number: int) -> Draft:
    return replace(draft(number, kind=Kind.VISIT), epoch=0, at_ms=12)


def recounted(store: RecordStore) -> dict[bytes, tuple[int, int]]:
    """Bytes and found URLs of each author, by a look at all records."""
    sums: dict[bytes, tuple[int, int]] = {}
    for row in store._catalog.rows(bytes(20), b"\xff" * 20):
        author = store._records._find(row.kind, row.id, content=False, proven=True).proof.author
        size, count = sums.get(author, (0, 0))
        is_find = row.kind == Kind.VISIT and not row.version.epoch
        sums[author] = size + row.place.share_bytes, count + is_find
    return sums


def counted(store: RecordStore) -> dict[bytes, tuple[int, int]]:
    store._catalog.authors.replaced.clear()
    held = {author.public_key: store.authors.held(author.public_key) for author in AUTHORS}
    return {author: (each.bytes, each.found) for author, each in held.items() if each.bytes}


def test_sums_are_those_of_a_recount_whatever_comes_goes_and_moves() -> None:
    async def story() -> None:
        disk = MemoryDisk()
        store = open_store(disk)
        for n, author in enumerate(AUTHORS):
            await store.put(records(*map(draft, range(n * 40, 60)), *map(found, range(100, 130 + n)), signer=author))
        await store.put(records(*(draft(n, at=9.0, epoch=2) for n in range(30)), signer=AUTHORS[1]))
        assert counted(store) == recounted(store) and store.authors.held().found == 31
        outcomes = (draft(n, at=9.0, epoch=2, kind=Kind.VISIT) for n in range(100, 110))
        await store.put(records(*outcomes, signer=AUTHORS[0]))
        pages = [store.find(Kind.DOCUMENT, draft(n).id) for n in range(20, 35)]
        await store.forget([page for page in pages if page is not None], erased=True)
        await store.upkeep.compact()
        assert counted(store) == recounted(store)
        assert await store.authors.drop_found(AUTHORS[0].public_key, 5) == 5
        assert counted(store) == recounted(store) and store.authors.held().found == 16
        store.close()
        disk.drop_database()
        assert counted(open_store(disk)).keys() == {author.public_key for author in AUTHORS}, "they are rebuilt"

    simulate(story())


def test_the_file_of_an_earlier_program_is_counted_once(tmp_path: Path) -> None:
    async def story() -> None:
        store = RecordStore.open(tmp_path, CONFIG, StillClock())
        await store.put(records(*map(draft, range(50)), *map(found, range(100, 160))))
        store.close()
        with sqlite3.connect(tmp_path / "catalog.sqlite") as database:
            database.executescript(OLD)
        database.close()
        store = RecordStore.open(tmp_path, CONFIG, StillClock())
        assert store.authors.held().found == 60
        assert sum(store.authors.of_site(found(n).key[:10])[0] for n in range(100, 107)) == 60
        await store.put(records(*(draft(n, at=5.0, epoch=2) for n in range(50))))
        assert sum(store.authors.of_site(draft(n).key[:10])[1] for n in range(7)) == 50
        store.close()

    simulate(story())
