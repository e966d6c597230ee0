"""The store's change log: what changed, by record, in the order in which it was committed.

The index, the frontier and the shard mover follow it to keep up with the store. A follower
remembers the `sequence` of the last change it saw, and the `incarnation` that the number belongs to.
"""

import asyncio

from dht import Key
from store.catalog.catalog import Catalog
from store.catalog.catalog_reader import RecordChange


class ChangeLog:
    """The change log of one store, coalesced by record, removals included."""

    def __init__(self, catalog: Catalog, incarnation: bytes) -> None:
        """`incarnation`: 16 bytes, new whenever the log starts anew because the index was rebuilt."""
        self._catalog, self.incarnation = catalog, incarnation
        self._changed = asyncio.Event()

    @property
    def sequence(self) -> int:
        """The number of the last change."""
        return self._catalog.sequence

    @property
    def horizon(self) -> int:
        """The change up to which removals are forgotten: a follower with a cursor below it (but 0) starts from zero."""
        return self._catalog.reader.horizon()

    def changes(self, after: int, limit: int) -> list[RecordChange]:
        """Return the records changed since `after`, each once, by their last change; at most `limit`."""
        return self._catalog.reader.changes(after, limit) if after < self.sequence else []

    def left(self, after: int) -> frozenset[Key] | None:
        """Return the keys at which records lay until a change after `after` that lie at others now; None where some
        are forgotten."""
        return self._catalog.left.since(after)

    async def wait(self, after: int) -> None:
        """Return once there is a change after `after`."""
        while self.sequence <= after:
            await self._changed.wait()

    def notify(self) -> None:
        """Wake everybody who waits, because something may have been committed."""
        self._changed.set()
        self._changed = asyncio.Event()
