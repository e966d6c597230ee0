"""Whoever writes at once shares a commit."""

import asyncio

from store import MemoryDisk
from tests.store.support import draft, open_store, records


async def test_concurrent_writers_share_commits() -> None:
    disk = MemoryDisk()
    store = open_store(disk)
    async with asyncio.TaskGroup() as tasks:
        puts = [tasks.create_task(store.put(records(draft(n)))) for n in range(50)]
    assert [p.result() for p in puts] == [1] * 50
    store.close()
