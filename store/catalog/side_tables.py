"""Small tables and notes that ride in the file of the index, beside the records."""

from collections.abc import Callable, Sequence
from sqlite3 import Connection
from typing import Any, TypeVar

from store.catalog.catalog import Catalog
from store.catalog.write_queue import WriteQueue

T = TypeVar("T")


class SideTables:
    """Reads them on the event loop, and changes them in the writer thread. All is lost where the index is built anew.

    Every method raises StoreCorrupt or MachineRefuses."""

    def __init__(self, catalog: Catalog, queue: WriteQueue) -> None:
        self._catalog, self._queue = catalog, queue

    def read_note(self, name: str) -> bytes:
        """Return a small value by its name, b"" where there is none."""
        found = self.query("SELECT value FROM notes WHERE name = ?", (name,))
        return bytes(found[0][0]) if found else b""

    async def write_note(self, name: str, value: bytes) -> None:
        """Keep a small value by its name."""
        await self.change(lambda _: self._catalog.write_note(name, value))

    def query(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Return the rows that a statement of SQL finds."""
        return self._catalog.reader.query(statement, values)

    async def change(self, job: Callable[[Connection], T]) -> T:
        """Run a job on the tables in one transaction, and return what it returns."""

        def run() -> T:
            with self._catalog.transaction():
                return job(self._catalog.database)

        return await self._queue.run(run)
