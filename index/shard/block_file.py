"""Keeps blocks of the directory of terms on disk, in one SQLite file, with what belongs to them; or in memory.

All that changed since the last `commit` is kept, or nothing of it: so blocks and notes always belong together. One
thread at a time uses it.
"""

import sqlite3
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dht import refused
from index.errors import failure_of

_PAGE_BYTES = 1 << 14  # a block takes one or two
_LOG_PAGES = 256  # of the write-ahead log, 4 MB, before it is written back
_CACHE_KB = 512
_AROUND = 1 << 63  # SQLite's numbers have a sign, hashes have none
_SCHEMA = """
CREATE TABLE IF NOT EXISTS block (part INTEGER NOT NULL, start INTEGER NOT NULL, data BLOB NOT NULL,
  PRIMARY KEY (part, start));
CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value BLOB NOT NULL);
"""


class BlockFile:
    """The file at `path`, or one in memory where that is None. Raises IndexCorrupt where it is damaged, and
    MachineRefuses."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        try:
            if path is not None:
                path.parent.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise refused(path, error) from error
        with self._failures():
            self._connection = connection = sqlite3.connect(path or ":memory:", check_same_thread=False)
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
            connection.executescript(_SCHEMA)

    @staticmethod
    def erase(path: Path) -> None:
        """Remove a file that is closed; what the machine refuses stays."""
        for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
            with suppress(OSError):
                path.with_name(name).unlink(missing_ok=True)

    def part(self, number: int) -> "BlockPart":
        """Return the blocks of one part."""
        return BlockPart(self, number)

    def parts(self) -> set[int]:
        """Return the numbers of all parts that have blocks."""
        return {int(number) for (number,) in self.select("SELECT DISTINCT part FROM block")}

    def note(self, name: str) -> bytes:
        """Return a note, b"" where there is none."""
        found = self.select("SELECT value FROM note WHERE name = ?", name)
        return bytes(found[0][0]) if found else b""

    def put_note(self, name: str, value: bytes) -> None:
        """Change a note."""
        self.change("INSERT OR REPLACE INTO note VALUES (?, ?)", name, value)

    def commit(self) -> None:
        """Keep all that changed."""
        with self._failures():
            self._connection.commit()

    def clear(self) -> None:
        """Forget everything."""
        self.change("DELETE FROM block")
        self.change("DELETE FROM note")
        self.commit()

    def close(self) -> None:
        """Close the file; what changed since the last commit is lost."""
        with self._failures():
            self._connection.close()

    def select(self, asked: str, *values: object) -> list[tuple[bytes | int, ...]]:
        """Return what a statement finds."""
        with self._failures():
            return self._connection.execute(asked, values).fetchall()

    def change(self, asked: str, *values: object) -> int:
        """Do what a statement says; return how many rows it changed."""
        with self._failures():
            return self._connection.execute(asked, values).rowcount

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise failure_of(self._path, error) from error


class BlockPart(MutableMapping[int, bytes]):
    """Blocks by their first hashes."""

    def __init__(self, file: BlockFile, number: int) -> None:
        self._file, self._number = file, number

    def __getitem__(self, start: int) -> bytes:
        asked = "SELECT data FROM block WHERE part = ? AND start = ?"
        found = self._file.select(asked, self._number, start - _AROUND)
        if not found:
            raise KeyError(start)
        data = found[0][0]
        assert isinstance(data, bytes)
        return data

    def __setitem__(self, start: int, data: bytes) -> None:
        self._file.change("INSERT OR REPLACE INTO block VALUES (?, ?, ?)", self._number, start - _AROUND, data)

    def __delitem__(self, start: int) -> None:
        if not self._file.change("DELETE FROM block WHERE part = ? AND start = ?", self._number, start - _AROUND):
            raise KeyError(start)

    def __iter__(self) -> Iterator[int]:
        found = self._file.select("SELECT start FROM block WHERE part = ? ORDER BY start", self._number)
        return (int(start) + _AROUND for (start,) in found)

    def __len__(self) -> int:
        ((count,),) = self._file.select("SELECT count(*) FROM block WHERE part = ?", self._number)
        return int(count)
