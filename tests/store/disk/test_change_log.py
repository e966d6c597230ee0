"""The change log tells everything, once."""

import asyncio

from store import Kind
from store.disk.file_system import Disk
from tests.store.support import draft, open_store, records


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
