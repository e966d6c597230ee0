"""Takes a consistent copy of a store's folder, whether its node runs or not.

Segments only grow, and the index never points past what is durable in them. So the segments are opened first, then the
index is copied in one read transaction. Of each segment the part that this index covers is copied. A segment that
compaction deletes meanwhile stays readable through its open handle. Writers wait for nothing.
"""

import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from store.catalog.catalog_reader import CatalogReader
from store.errors import StoreCorrupt
from store.segments.file_system import CATALOG, SqliteErrors
from store.segments.segments import SEGMENT_NAME

COPIED_NAME = rf"segment-(?:[0-9]{{8}}|[1-9][0-9]{{8,11}})|{re.escape(CATALOG)}"  # of the files of a copy
TRIES = 8  # a segment is begun every 64 MB, so the second one does


class CopiedFile(NamedTuple):
    """Names a file of the copy and says where its bytes are read, and how many."""

    name: str
    size: int
    source: BinaryIO


@contextmanager
def store_copy(folder: Path, draft: Path) -> Iterator[list[CopiedFile]]:
    """Yield the files that make up a copy of the store as it is at one moment, none where there is no store.

    `draft`: where the copied index lies meanwhile. Raises StoreCorrupt where the index is damaged, or OSError.
    """
    if not (folder / CATALOG).exists():
        yield []
        return
    with ExitStack() as stack:
        stack.callback(draft.unlink, missing_ok=True)
        opened: dict[int, BinaryIO] = {}
        for _ in range(TRIES):
            _open_new(folder, opened, stack)
            with SqliteErrors(str(folder / CATALOG)):
                needed, covered, covered_bytes = _copy_index(folder / CATALOG, draft)
            if needed <= opened.keys():
                break
        else:
            raise StoreCorrupt(
                str(folder), "its index names segments that are not there", "start the node: it mends it"
            )
        sizes = {n: covered_bytes if n == covered else os.fstat(f.fileno()).st_size for n, f in opened.items()}
        index = stack.enter_context(draft.open("rb"))
        yield [
            *(CopiedFile(f"segment-{n:08d}", sizes[n], opened[n]) for n in sorted(opened) if n <= covered),
            CopiedFile(CATALOG, draft.stat().st_size, index),
        ]


def check_copied_index(folder: Path) -> None:
    """Raise StoreCorrupt where the index of a copy holds more than tables: a trigger would run at each write."""
    path = folder / CATALOG
    if not path.exists():
        return
    with SqliteErrors(str(path)), closing(sqlite3.connect(path)) as index:
        found = index.execute("SELECT type FROM sqlite_schema WHERE type NOT IN ('table', 'index')").fetchone()
    if found is not None:
        raise StoreCorrupt(str(path), f"holds a {found[0]}, which no index has", "use another copy")


def _open_new(folder: Path, opened: dict[int, BinaryIO], stack: ExitStack) -> None:
    for path in sorted(folder.iterdir()):
        number = int(path.name.removeprefix("segment-")) if SEGMENT_NAME.fullmatch(path.name) else 0
        if number and number not in opened:
            try:
                opened[number] = stack.enter_context(path.open("rb"))
            except FileNotFoundError:
                continue  # compacted just now


def _copy_index(catalog: Path, draft: Path) -> tuple[set[int], int, int]:
    """Copy the index; return the segments that it names, and up to where it covers the newest of them. A store that
    opens the copy checks all of it first, and gets an incarnation of its own."""
    draft.unlink(missing_ok=True)
    draft.touch(0o600)
    with closing(sqlite3.connect(catalog, timeout=30)) as source, closing(sqlite3.connect(draft)) as copy:
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        notes = dict(copy.execute("SELECT name, value FROM notes"))
        with copy:
            copy.execute("UPDATE notes SET value = 0 WHERE name = 'clean'")
            copy.execute("DELETE FROM notes WHERE name = 'incarnation'")
        covered = int(notes.get("covered_segment") or 0)
        reader = CatalogReader(copy, SqliteErrors(str(draft)))
        named = {*reader.live_bytes(), *reader.grant_bytes(), covered} - {0}
        return named, covered, int(notes.get("covered_bytes") or 0)
