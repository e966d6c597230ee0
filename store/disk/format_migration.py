"""Brings the index of an older format up to date, on a copy, so that a crash at any moment leaves one of both whole.

Segments need none of it: what was written stays readable, and compaction packs it anew in time. An index that no steps
lead from is rebuilt from the segments instead.
"""

import os
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from dht import MachineRefuses
from store.disk.catalog import PLAIN_FORMAT
from store.disk.file_system import CATALOG, Refusals, SqliteErrors, sync_folder
from store.errors import StoreCorrupt

Steps = Mapping[int, Sequence[str]]  # by the format that they lead from, to the next one
STEPS: Steps = {}  # format 3 is the oldest that is read; docs/developer.md says what a change must do


def migrate_index(folder: Path, steps: Steps = STEPS, wanted: int = PLAIN_FORMAT) -> bool:
    """Bring the index in a folder up to a format; return False where it has it, or has to be rebuilt. Nobody may have
    it open. Raises MachineRefuses, having changed nothing, or StoreCorrupt."""
    path = folder / CATALOG
    if not path.exists():
        return False
    with SqliteErrors(str(path)), closing(sqlite3.connect(path)) as index:
        found = _format_of(index)
        if not 0 < found < wanted or any(n not in steps for n in range(found, wanted)):
            return False
        draft = folder / f"{CATALOG}.new"
        with Refusals(folder):
            draft.unlink(missing_ok=True)
            _check_room(path, found, wanted)
        _make_copy(index, draft, [each for n in range(found, wanted) for each in steps[n]], wanted)
        index.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        index.execute("PRAGMA journal_mode=DELETE")  # so that no log of the old one is taken for the new one's
    with Refusals(folder):
        os.replace(draft, path)
    sync_folder(folder)
    return True


def _format_of(index: sqlite3.Connection) -> int:
    """The number of an index's format, 0 where it is none that can be read."""
    try:
        return int(index.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):  # the disk, or another program, keeps it from us
            raise
        return 0


def _check_room(path: Path, found: int, wanted: int) -> None:
    needed, free = 2 * path.stat().st_size, shutil.disk_usage(path.parent).free
    if free < needed:
        reason = f"format {found} becomes {wanted} on a copy, for which {needed / 1e6:.1f} MB are needed"
        raise MachineRefuses(str(path), f"{reason} and {free / 1e6:.1f} MB free", "free some space; nothing is changed")


def _make_copy(index: sqlite3.Connection, draft: Path, statements: Sequence[str], wanted: int) -> None:
    """Copy the index, change the copy, check it and make it durable."""
    with closing(sqlite3.connect(draft, isolation_level=None)) as copy:
        index.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        copy.execute("BEGIN")
        for statement in (*statements, f"PRAGMA user_version = {wanted}"):
            copy.execute(statement)
        copy.execute("COMMIT")
        (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StoreCorrupt(str(draft), str(verdict), "check the disk; the index before is unchanged")
    with Refusals(draft), draft.open("rb+") as file:
        os.fsync(file.fileno())
