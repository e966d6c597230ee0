"""Records are found by name and by key range, with their contents or without."""

from store import Kind
from store.segments.file_system import Disk
from tests.store.support import draft, open_store, records

FIRST, LAST = bytes(20), b"\xff" * 20


async def test_what_is_put_is_found_with_and_without_content(disk: Disk) -> None:
    store = open_store(disk)
    made = records(*(draft(n, size=2000) for n in range(20)), draft(30, kind=Kind.VISIT))
    assert await store.put(made) == 21
    assert [store.find(r.kind, r.id) for r in made] == made
    bare = store.find(made[3].kind, made[3].id, content=False)
    assert bare is not None and bare.content is None and bare.content_digest == made[3].content_digest
    assert store.find(Kind.VISIT, made[0].id) is None
    assert await store.put(made) == 0
    store.close()


async def test_scans_follow_key_ranges(disk: Disk) -> None:
    store = open_store(disk)
    made = records(*(draft(n) for n in range(40)))
    await store.put(made)
    middle = b"\x80" + bytes(19)
    low = [r.id for r in store.scan(Kind.DOCUMENT, FIRST, b"\x7f" + b"\xff" * 19)]
    high = [r.id for r in store.scan(Kind.DOCUMENT, middle, LAST)]
    in_order = [r.id for r in sorted(made, key=lambda r: (r.key, r.id))]
    assert low + high == in_order
    store.close()
