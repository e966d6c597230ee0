"""SQLite's errors, turned into the store's own."""

import sqlite3

from store.errors import DiskFull, StoreCorrupt


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
