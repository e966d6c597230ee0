"""Where the store's bytes lie: a folder, or memory that can crash, behind one protocol.

`FolderDisk` is the real one. `MemoryDisk` serves tests and the simulator: `crash` loses every byte that was not
synced, and an open database transaction, as a power cut would. The database itself is SQLite's affair: committed is
durable. A refusal of the operating system or of SQLite becomes MachineRefuses here, and damage StoreCorrupt.
"""

import errno
import os
import shutil
import sqlite3
import threading
from io import FileIO
from pathlib import Path
from typing import Protocol

from dht import MachineRefuses, refusal_of
from store.errors import StoreCorrupt

CATALOG = "catalog.sqlite"
_DATABASE_FILES = "", "-wal", "-shm"  # SQLite's, by what they are called behind CATALOG
KEPT_OPEN = 512  # segments; a process may open many more, but for those of very old limits
WAL_BYTES = 4 << 20  # the log keeps no more once its pages are in the file: what SQLite itself aims at


class Disk(Protocol):
    """Append-only files by name, and one database. Appends and syncs come from one thread, reads from any."""

    @property
    def path(self) -> str:
        """The name of this disk in an error."""

    def names(self) -> list[str]:
        """List the files in order, the database left out."""

    def size(self, name: str) -> int:
        """Return the bytes of a file, 0 where there is none."""

    def append(self, name: str, data: bytes) -> None:
        """Add to the end of a file, new or not; raises MachineRefuses. Durable only after `sync`."""

    def sync(self, name: str) -> None:
        """Make what was appended to a file durable."""

    def read(self, name: str, offset: int, size: int) -> bytes:
        """Read up to `size` bytes; fewer at the end of the file, none where there is no file or the disk lost them."""

    def truncate(self, name: str, size: int) -> None:
        """Cut a file to its first `size` bytes, durably."""

    def delete(self, name: str) -> None:
        """Delete a file, durably."""

    def free_bytes(self) -> int:
        """Return how many more bytes fit on this disk."""

    def database_bytes(self) -> int:
        """Return the bytes of the database with its log."""

    def database(self) -> sqlite3.Connection:
        """Open a connection in autocommit mode; several may be open, one at a time writes."""

    def release(self, connection: sqlite3.Connection) -> None:
        """Give a connection back when it is not needed any more."""

    def drop_database(self) -> None:
        """Delete the database; no connection may be open."""


class FolderDisk:
    """Files and database in one folder of the file system.

    Files are opened once and kept open, so that they are read and written also where the process has no handles left.
    A handle that leaves the memory of the last KEPT_OPEN closes when its last reader lets it go.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reading: dict[str, FileIO] = {}
        self._writing: tuple[str, FileIO] | None = None
        self._opening = threading.Lock()
        self._is_new = False  # the folder names a file that a power cut could still take
        with Refusals(folder):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def path(self) -> str:
        return str(self._folder)

    def names(self) -> list[str]:
        with Refusals(self._folder):
            return sorted(p.name for p in self._folder.iterdir() if p.is_file() and not p.name.startswith(CATALOG))

    def size(self, name: str) -> int:
        try:
            with Refusals(self._folder, name):
                file = self._reader(name)
                return os.fstat(file.fileno()).st_size
        except FileNotFoundError:
            return 0

    def append(self, name: str, data: bytes) -> None:
        with Refusals(self._folder, name, missing=True):
            descriptor, view = self._writer(name).fileno(), memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]

    def sync(self, name: str) -> None:
        with Refusals(self._folder, name, missing=True):
            getattr(os, "fdatasync", os.fsync)(self._writer(name).fileno())
        if self._is_new:
            self._sync_folder()

    def read(self, name: str, offset: int, size: int) -> bytes:
        try:
            with Refusals(self._folder, name):
                file = self._reader(name)
                return self._pread(file, size, offset)
        except FileNotFoundError:
            return b""

    def truncate(self, name: str, size: int) -> None:
        with Refusals(self._folder, name, missing=True):
            descriptor = self._writer(name).fileno()
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)

    def delete(self, name: str) -> None:
        self._reading.pop(name, None)
        with Refusals(self._folder, name):
            (self._folder / name).unlink(missing_ok=True)
        self._sync_folder()

    def free_bytes(self) -> int:
        with Refusals(self._folder):
            return shutil.disk_usage(self._folder).free

    def database_bytes(self) -> int:
        return sum(self._size_beside(CATALOG + suffix) for suffix in _DATABASE_FILES)

    def _size_beside(self, name: str) -> int:
        try:
            return (self._folder / name).stat().st_size
        except FileNotFoundError:
            return 0

    def database(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._folder / CATALOG, isolation_level=None, check_same_thread=False, timeout=30)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # segments are the truth; what a power cut takes is replayed
        connection.execute(f"PRAGMA journal_size_limit={WAL_BYTES}")
        return connection

    def release(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def drop_database(self) -> None:
        with Refusals(self._folder, CATALOG):
            for suffix in _DATABASE_FILES:
                (self._folder / (CATALOG + suffix)).unlink(missing_ok=True)

    def _pread(self, file: FileIO, size: int, offset: int) -> bytes:
        try:
            return os.pread(file.fileno(), size, offset)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return b""  # the disk has lost it: to whoever reads that is damage, as flipped bytes are

    def _reader(self, name: str) -> FileIO:
        file = self._reading.get(name)
        if file is None:
            with self._opening:
                file = self._reading[name] = FileIO(os.open(self._folder / name, os.O_RDONLY | os.O_CLOEXEC), "r")
                while len(self._reading) > KEPT_OPEN:
                    del self._reading[next(iter(self._reading))]
        return file

    def _writer(self, name: str) -> FileIO:
        """The file that is written to; one that was deleted behind our back is made anew."""
        if self._writing is None or self._writing[0] != name or not os.fstat(self._writing[1].fileno()).st_nlink:
            path = self._folder / name
            self._is_new |= not path.exists()
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
            self._writing = name, FileIO(descriptor, "w")
            self._reading.pop(name, None)
        return self._writing[1]

    def _sync_folder(self) -> None:
        sync_folder(self._folder)
        self._is_new = False


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
            raise MachineRefuses(f"{self.path}/{name}", "no space left", "free some space on this disk")
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

    def database_bytes(self) -> int:
        return 0  # as `capacity_bytes` bounds files alone

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
    """Turns SQLite's errors inside a `with` block into MachineRefuses or StoreCorrupt.

    It is a class, since look-ups are so short that a generator would be a tenth of them.
    """

    def __init__(self, path: str) -> None:
        self._path, self.met_damage = path, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, sqlite3.Error):
            return
        if refusal := refusal_of(self._path, error):
            raise refusal from error
        self.met_damage = True
        raise StoreCorrupt(self._path, str(error), "start again: it is rebuilt from the segments") from error


class Refusals:
    """Turns the operating system's errors inside a `with` block into ours; a missing file stays FileNotFoundError
    unless it ought to be there.

    It is a class, and puts the path together only where it is told, since reads are short: both would be a third.
    """

    def __init__(self, folder: Path, name: str = "", *, missing: bool = False) -> None:
        self._folder, self._name, self._missing = folder, name, missing

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if not isinstance(error, OSError) or (isinstance(error, FileNotFoundError) and not self._missing):
            return
        if refusal := refusal_of(self._folder / self._name, error):
            raise refusal from error


def sync_folder(folder: Path) -> None:
    """Make durable which files a folder has. Raises MachineRefuses."""
    with Refusals(folder, missing=True):
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
