"""Where the store's bytes lie: a folder, or memory that can crash, behind one protocol.

`FolderDisk` is the real one. `MemoryDisk` serves tests and the simulator: `crash` loses every byte that was not
synced, and an open database transaction, as a power cut would. The database itself is SQLite's affair: committed is
durable. Errors of the operating system and of SQLite
become DiskFull or StoreCorrupt here.
"""

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from store.errors import DiskFull, StoreCorrupt

CATALOG = "catalog.sqlite"
WAL_BYTES = 4 << 20  # the log keeps no more once its pages are in the file: what SQLite itself aims at
_fdatasync = getattr(os, "fdatasync", os.fsync)


class Disk(Protocol):
    """Append-only files by name, and one database. Appends and syncs come from one thread, reads from any."""

    @property
    def path(self) -> str:
        """What to call this disk in an error."""

    def names(self) -> list[str]:
        """List the files in order, the database left out."""

    def size(self, name: str) -> int:
        """Return the bytes of a file, 0 where there is none."""

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a file, new or not; raises DiskFull. Durable only after `sync`."""

    def sync(self, name: str) -> None:
        """Make what was appended to a file durable."""

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; fewer at the end of the file, none where there is no file."""

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to its first `size` bytes, durably."""

    def delete(self, name: str) -> None:
        """Delete a file, durably."""

    def free_bytes(self) -> int:
        """Return how many more bytes fit on this disk."""

    def database(self) -> sqlite3.Connection:
        """Open a connection in autocommit mode; several may be open, one at a time writes."""

    def release(self, connection: sqlite3.Connection) -> None:
        """Give a connection back when it is not needed any more."""

    def drop_database(self) -> None:
        """Delete the database; no connection may be open."""


class FolderDisk:
    """Files and database in one folder of the file system."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def path(self) -> str:
        return str(self._folder)

    def names(self) -> list[str]:
        return sorted(p.name for p in self._folder.iterdir() if p.is_file() and not p.name.startswith(CATALOG))

    def size(self, name: str) -> int:
        path = self._folder / name
        return path.stat().st_size if path.exists() else 0

    def append(self, name: str, data: bytes) -> None:
        path = self._folder / name
        new = not path.exists()
        with _os_errors(path), open(path, "ab", buffering=0) as file:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]
        if new:
            self._sync_folder()

    def sync(self, name: str) -> None:
        with _os_errors(self._folder / name), open(self._folder / name, "rb+", buffering=0) as file:
            _fdatasync(file.fileno())

    def read(self, name: str, offset: int, size: int) -> bytes:
        try:
            with _os_errors(self._folder / name), open(self._folder / name, "rb", buffering=0) as file:
                return os.pread(file.fileno(), size, offset)
        except FileNotFoundError:
            return b""

    def truncate(self, name: str, size: int) -> None:
        with _os_errors(self._folder / name), open(self._folder / name, "rb+", buffering=0) as file:
            file.truncate(size)
            os.fsync(file.fileno())

    def delete(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
        self._sync_folder()

    def free_bytes(self) -> int:
        return shutil.disk_usage(self._folder).free

    def database(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._folder / CATALOG, isolation_level=None, check_same_thread=False, timeout=30)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # segments are the truth; what a power cut takes is replayed
        connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES}")
        return connection

    def release(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def drop_database(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            (self._folder / (CATALOG + suffix)).unlink(missing_ok=True)

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class MemoryDisk:
    """Files and database in memory. `capacity_bytes` bounds the files, so that a full disk can be tried."""

    path = "memory"

    def __init__(self, capacity_bytes: int = 1 << 40) -> None:
        self.capacity_bytes = capacity_bytes
        self._files: dict[str, bytearray] = {}
        self._durable: dict[str, int] = {}
        self._database: sqlite3.Connection | None = None

    def crash(self, *, lose_database: bool = False) -> None:
        """Forget what was not synced, and with `lose_database` the whole database; then open the store anew."""
        for name in list(self._files):
            del self._files[name][self._durable.get(name, 0) :]
        if self._database is not None:
            self._database.rollback()
        if lose_database:
            self.drop_database()

    def names(self) -> list[str]:
        return sorted(self._files)

    def size(self, name: str) -> int:
        return len(self._files.get(name, b""))

    def append(self, name: str, data: bytes) -> None:
        if len(data) > self.free_bytes():
            raise DiskFull(f"{self.path}/{name}", "no space left")
        self._files.setdefault(name, bytearray()).extend(data)

    def sync(self, name: str) -> None:
        self._durable[name] = len(self._files[name])

    def read(self, name: str, offset: int, size: int) -> bytes:
        return bytes(self._files.get(name, b"")[offset : offset + size])

    def truncate(self, name: str, size: int) -> None:
        del self._files[name][size:]
        self._durable[name] = size

    def delete(self, name: str) -> None:
        self._files.pop(name, None)
        self._durable.pop(name, None)

    def free_bytes(self) -> int:
        return self.capacity_bytes - sum(map(len, self._files.values()))

    def database(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        return self._database

    def release(self, connection: sqlite3.Connection) -> None:
        """Do nothing: the database outlives its users, as a file would."""

    def drop_database(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None


class SqliteErrors:
    """Turns SQLite's errors inside a `with` block into DiskFull or StoreCorrupt.

    It is a class, since look-ups are so short that a generator would be a tenth of them.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, sqlite3.Error):
            return
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL:
            raise DiskFull(self._path, "no space left") from error
        raise StoreCorrupt(self._path, str(error), "stop, delete it, start: it is rebuilt from the segments") from error


@contextmanager
def _os_errors(path: Path) -> Iterator[None]:
    """The operating system's errors as ours; a missing file stays FileNotFoundError."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(str(path), "no space left") from error
        raise StoreCorrupt(str(path), str(error), "check the disk and the permissions of the data directory") from error
