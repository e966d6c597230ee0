"""The change log tells everything, once."""

import asyncio

import msgspec

from dht import placement_key
from store import Kind
from store.segments.file_system import Disk
from tests.store.support import draft, open_store, records, url


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
