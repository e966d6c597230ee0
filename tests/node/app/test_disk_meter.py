"""Files beside the store count against the quota."""

from pathlib import Path

from node.app.disk_meter import DiskMeter, bytes_below
from store import MemoryDisk
from tests.store.support import open_store


def test_files_of_all_folders_are_summed_and_what_is_no_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "index" / "deep").mkdir(parents=True)
    (tmp_path / "index" / "deep" / "a").write_bytes(bytes(1000))
    (tmp_path / "seen").write_bytes(b"")
    (tmp_path / "index" / "link").symlink_to(tmp_path / "index" / "deep" / "a")
    (tmp_path / "dht").mkdir()
    (tmp_path / "dht" / "b").write_bytes(bytes(10))
    assert bytes_below(tmp_path / "index", tmp_path / "dht", tmp_path / "missing") == 1010


async def test_the_store_hears_it_at_the_start_and_while_the_node_runs() -> None:
    store, told = open_store(MemoryDisk()), [5_000]
    meter = DiskMeter(store, lambda: told[-1])
    assert store.room.used_bytes - store.room.record_bytes == 5_000
    told.append(7_000)
    await meter.step()
    assert store.room.used_bytes - store.room.record_bytes == 7_000
    meter.close()
    store.close()
