"""An index of an older format is brought up to date on a copy; whatever fails, one of both is whole."""

import asyncio
import shutil
import sqlite3
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from dht import MachineRefuses
from store import Kind, RecordStore
from store.disk import format_migration
from store.disk.format_migration import migrate_index
from tests.faults.injection import NO_SPACE, FaultyOs
from tests.store.support import CONFIG, StillClock, draft, records

STEPS = {3: ("CREATE TABLE added (name TEXT)", "INSERT INTO added VALUES ('three')"), 4: ("DROP TABLE added",)}


def filled(folder: Path) -> Path:
    store = RecordStore.open(folder, CONFIG, StillClock())
    asyncio.run(store.put(records(*(draft(n) for n in range(30)))))
    shutil.copytree(folder, folder.with_name("crashed"))  # with its log, as a crash leaves it
    store.close()
    return folder.with_name("crashed")


def told(folder: Path) -> tuple[int, int, bool]:
    """The format, how many records are listed, and whether the step was taken."""
    with closing(sqlite3.connect(folder / "catalog.sqlite")) as index:
        (found,) = index.execute("PRAGMA user_version").fetchone()
        (count,) = index.execute("SELECT count(*) FROM records").fetchone()
        is_added = bool(index.execute("SELECT 1 FROM sqlite_master WHERE name = 'added'").fetchall())
    return found, count, is_added


def test_what_lies_in_the_log_comes_along_and_the_store_opens(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    assert told(folder) == (3, 30, False)
    shutil.copytree(folder, tmp_path / "twice")
    assert migrate_index(folder, STEPS, 4) and told(folder) == (4, 30, True)
    assert not migrate_index(folder, STEPS, 4), "once"
    assert migrate_index(tmp_path / "twice", STEPS, 5) and told(tmp_path / "twice") == (5, 30, False)
    assert {p.name for p in folder.iterdir()} == {"catalog.sqlite", "segment-00000001"}
    store = RecordStore.open(folder, CONFIG, StillClock())
    assert all(store.find(Kind.DOCUMENT, draft(n).id) for n in range(30))
    store.close()


def test_an_index_that_no_steps_lead_from_is_left_to_be_rebuilt(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    assert not migrate_index(folder, {4: ()}, 5) and told(folder) == (3, 30, False)
    assert not migrate_index(tmp_path / "nothing", STEPS, 4)


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink"])
def test_what_fails_on_the_way_leaves_the_old_one_whole_and_the_next_try_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    folder = filled(tmp_path / "store")
    (folder / "catalog.sqlite.new").write_bytes(b"half a copy")
    machine = FaultyOs(monkeypatch, folder)
    with machine.fails(NO_SPACE, call), pytest.raises(MachineRefuses):
        migrate_index(folder, STEPS, 4)
    assert machine.failed and told(folder) in ((3, 30, False), (4, 30, True))
    migrate_index(folder, STEPS, 4)
    assert told(folder) == (4, 30, True)


def test_a_step_that_fails_changes_nothing(tmp_path: Path) -> None:
    folder = filled(tmp_path / "store")
    with pytest.raises(Exception, match="no such table"):
        migrate_index(folder, {3: ("INSERT INTO nowhere VALUES (1)",)}, 4)
    assert told(folder) == (3, 30, False)


def test_too_little_room_is_said_with_how_much_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = filled(tmp_path / "store")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(format_migration.shutil, "disk_usage", lambda _: usage(10**9, 10**9, 1000))
    with pytest.raises(MachineRefuses, match=r"format 3 becomes 4 on a copy, for which 0\.\d MB are needed"):
        migrate_index(folder, STEPS, 4)
    assert told(folder) == (3, 30, False)
