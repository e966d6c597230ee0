"""What a peer may make us do for long happens beside the event loop."""

import threading

from store import MemoryDisk, RecordStore
from store.disk.record_store import ASIDE_BYTES
from tests.store.support import CONFIG, StillClock, draft, records


async def test_proving_much_and_looking_through_ranges_leave_the_loop_free() -> None:
    store = RecordStore(MemoryDisk(), CONFIG, StillClock())
    await store.put(records(draft(1)))
    here = threading.get_ident()
    assert await store.aside(threading.get_ident, ASIDE_BYTES - 1) == here
    assert await store.aside(threading.get_ident, ASIDE_BYTES) != here
    thread, rows = await store.look(lambda: (threading.get_ident(), store.rows(bytes(20), b"\xff" * 20)))
    assert thread != here and len(rows) == 1
    store.close()
