"""Records that were committed just now, without their contents: whoever follows the change log reads them within
seconds, and need not go to the disk for them.

The writer thread keeps and clears, any thread finds; each is one step of a dict.
"""

from dht import DocumentId
from store.record.record import Kind, Record

_OVERHEAD_BYTES = 1024  # of a record beside its body


class RecentRecords:
    """The records committed last, up to so many bytes of bodies."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes, self._bytes = limit_bytes, 0
        self._kept: dict[tuple[Kind, DocumentId], Record] = {}

    def keep(self, record: Record) -> None:
        """Remember a version that has just become the newest."""
        name = record.kind, record.id
        self._forget(name)
        self._kept[name] = record if record.content is None else record.without_content()
        self._bytes += len(record.body) + _OVERHEAD_BYTES
        while self._bytes > self._limit_bytes:
            self._forget(next(iter(self._kept)))

    def find(self, kind: Kind, id: DocumentId) -> Record | None:
        """Return the newest version without its content, None where it is not remembered."""
        return self._kept.get((kind, id))

    def clear(self) -> None:
        """Forget all records, because some of them may be gone from the store."""
        self._kept, self._bytes = {}, 0

    def _forget(self, name: tuple[Kind, DocumentId]) -> None:
        old = self._kept.pop(name, None)
        if old is not None:
            self._bytes -= len(old.body) + _OVERHEAD_BYTES
