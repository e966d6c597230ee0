"""Reads what each author has on this node, and lets go of found URLs of one.

Reads are plain calls on the event loop, some microseconds each.
"""

from collections.abc import Container

from dht import NodeId
from store.catalog import author_table
from store.catalog.author_table import Held
from store.catalog.ledger import Ledger
from store.catalog.record_reader import RecentRecords
from store.catalog.write_queue import WriteQueue


class AuthorSums:
    """The sums of one store, by author and by site."""

    def __init__(self, ledger: Ledger, queue: WriteQueue, recent: RecentRecords) -> None:
        self._ledger, self._queue, self._recent = ledger, queue, recent
        self._query = ledger.catalog.reader.query

    def follow_members(self, members: Container[NodeId]) -> None:
        """Go by these members from now on: found URLs of all other authors are counted together."""
        self._ledger.catalog.authors.follow_members(members)

    def held(self, author: bytes = b"") -> Held:
        """Return what lies here of an author (a public key, or OF_STRANGERS), of all authors where none is named."""
        rows = self._query(author_table.OF_ONE, (author,)) if author else self._query(author_table.OF_ALL)
        if not rows:
            return Held()
        live_bytes, found, number = rows[0]
        return Held(live_bytes + self._ledger.catalog.authors.replaced[number], found)

    def most_found(self) -> bytes:
        """Return the author of which most found URLs lie here."""
        return bytes(self._query(author_table.MOST)[0][0])

    def of_site(self, site: bytes) -> tuple[int, int]:
        """Count the found URLs and the pages of a site, which the first bytes of its keys name."""
        rows = self._query(author_table.OF_SITE, (site,))
        return (rows[0][0], rows[0][1]) if rows else (0, 0)

    async def drop_found(self, author: bytes, limit: int, site: bytes = b"") -> int:
        """Forget the oldest found URLs of an author, those of one site where that is named; return how many went. The
        change log does not tell of it: nothing follows from a URL that nobody fetched. Raises MachineRefuses."""
        catalog = self._ledger.catalog

        def drop() -> int:
            names = author_table.oldest(catalog.database, author, site, limit)
            rows = [row for row in catalog.named(names) if row is not None]
            self._ledger.remove(rows, 0, is_told=False)
            self._recent.clear()
            return len(rows)

        return await self._queue.run(drop)
