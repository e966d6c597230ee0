"""A copy that is taken while the store is written, compacted and erased holds all that was durable when it began."""

import asyncio
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dht import slot_range
from dht.keys import Slot
from store import Kind, RecordStore
from store.catalog.store_copy import check_copied_index, store_copy
from store.errors import StoreCorrupt
from store.segments.file_system import CATALOG, FolderDisk
from tests.store.support import CONFIG, StillClock, draft, records

SMALL = CONFIG.__class__(reserve_bytes=0, segment_bytes=20_000, compact_below=0.9)
FIRST, LAST = bytes(20), b"\xff" * 20


def opened(folder: Path) -> RecordStore:
    return RecordStore(FolderDisk(folder), SMALL, StillClock())


def texts(store: RecordStore) -> dict[bytes, bytes | None]:
    return {record.id: record.content for record in store.scan(Kind.DOCUMENT, FIRST, LAST, content=True)}


def copy_to(folder: Path, target: Path) -> None:
    target.mkdir()
    with store_copy(folder, target / "draft") as files:
        for name, size, source in files:
            (target / name).write_bytes(source.read(size))


def test_a_copy_holds_what_was_durable_whatever_is_written_and_compacted_meanwhile(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = opened(tmp_path / "store")
        await store.put(records(*(draft(n, size=900) for n in range(300))))
        copies = asyncio.get_running_loop().run_in_executor
        for turn in range(4):
            before = texts(store)
            copying = copies(None, copy_to, tmp_path / "store", tmp_path / f"copy{turn}")
            while not copying.done():
                await store.put(records(*(draft(n, at=turn + 1, size=900) for n in range(turn * 60, turn * 60 + 60))))
                await store.upkeep.compact()
            await copying
            copy = opened(tmp_path / f"copy{turn}")
            held = texts(copy)
            assert held.keys() == before.keys() and not copy.is_unreadable(b"")
            after = texts(store)
            assert all(held[id] in (before[id], after[id]) for id in held)
            assert copy.log.incarnation != store.log.incarnation, "who follows its log begins anew"
            copy.close()
        store.close()

    asyncio.run(scenario())


def test_a_copy_leaves_out_what_is_not_durable_and_its_index_is_not_built_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = opened(tmp_path / "store")
    asyncio.run(store.put(records(*(draft(n) for n in range(20)))))
    asyncio.run(store.drop_range(*slot_range(Slot(0), 1)))
    newest = max((tmp_path / "store").glob("segment-*"))
    with newest.open("ab") as torn:
        torn.write(b"half a frame")
    copy_to(tmp_path / "store", tmp_path / "copy")
    assert not (tmp_path / "copy" / newest.name).read_bytes().endswith(b"half a frame")
    copy = opened(tmp_path / "copy")
    assert texts(copy) == texts(store) and "rebuilt" not in caplog.text
    copy.close()
    store.close()


def test_no_store_gives_no_files_and_one_without_its_segments_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with store_copy(tmp_path / "store", tmp_path / "draft") as files:
        assert files == []
    store = opened(tmp_path / "store")
    asyncio.run(store.put(records(draft(1))))
    store.close()
    shutil.move(next((tmp_path / "store").glob("segment-*")), tmp_path / "segment-00000001")
    with (
        pytest.raises(StoreCorrupt, match="segments that are not there"),
        store_copy(tmp_path / "store", tmp_path / "d"),
    ):
        pass


def test_an_index_that_holds_a_trigger_is_no_copy(tmp_path: Path) -> None:
    check_copied_index(tmp_path)  # a node without records
    opened(tmp_path).close()
    check_copied_index(tmp_path)
    with closing(sqlite3.connect(tmp_path / CATALOG)) as index, index:
        index.execute("CREATE TRIGGER runs AFTER INSERT ON notes BEGIN DELETE FROM notes; END")
    with pytest.raises(StoreCorrupt, match="trigger"):
        check_copied_index(tmp_path)
