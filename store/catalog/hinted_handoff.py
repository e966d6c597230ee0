"""Copies that this node owes to owners who could not take them: kept on disk until they return.

Where the record lies here anyway a reference to it is kept, otherwise the record. A debt that is too old, or does not
fit, is given up here, and the caller has the slot reconciled instead. It lives in the index's file and may be lost with
it. A node reconciles all its slots after a start, so lost copies are delivered all the same, only later.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sqlite3 import Connection

from dht import DocumentId, Key, MachineRefuses, NodeId
from store.catalog.record_store import RecordStore
from store.record.package import open_package, pack
from store.record.record import Kind, Record

REFERENCE_BYTES = 100  # about what a row without a body takes


@dataclass(frozen=True, slots=True)
class OwedCopy:
    """A record that a peer is owed, at least in the version of `at_ms`."""

    peer: NodeId
    kind: Kind
    id: DocumentId
    key: Key
    at_ms: int


class HintedHandoff:
    """Keeps what is owed, by peer. `now` is Unix time."""

    def __init__(self, store: RecordStore) -> None:
        self._store, self._config = store, store.config
        query = "SELECT peer, count(*), sum(size) FROM owed GROUP BY peer"
        rows = store.tables.query(query)
        self._counts = {NodeId(peer): int(count) for peer, count, _ in rows}
        self._bytes = sum(int(size) for *_, size in rows)

    def counts(self) -> dict[NodeId, int]:
        """Return how many records are owed to each peer."""
        return {peer: count for peer, count in sorted(self._counts.items()) if count}

    async def keep_for(self, peer: NodeId, records: Sequence[Record], *, is_here: bool, now: float) -> list[OwedCopy]:
        """Remember what a peer is owed, and return what did not fit; `is_here`: the records lie in our store."""
        rows, refused = [], []
        size = self._bytes
        bodies = [None if is_here else pack([r]) for r in records]
        has_room = not self._store.no_room(sum(REFERENCE_BYTES + len(body or b"") for body in bodies))  # asks the disk
        for r, body in zip(records, bodies, strict=True):
            row_bytes = REFERENCE_BYTES + len(body or b"")
            no_room = not has_room and self._store.no_room(size + row_bytes - self._bytes)
            if size + row_bytes > self._config.outbox_bytes or no_room:
                refused.append(OwedCopy(peer, r.kind, r.id, r.key, r.version.at_ms))
                continue
            size += row_bytes
            rows.append((peer, r.kind, r.id, r.key, r.version.at_ms, now, row_bytes, body))

        def write(database: Connection) -> list[tuple[NodeId, int]]:
            changed: list[tuple[NodeId, int]] = []
            for row in rows:  # one by one: a package may hold several versions of one record
                changed += _strike(database, row[0], row[1], row[2], row[4])
                query = "INSERT INTO owed VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING"
                if database.execute(query, row).rowcount:
                    changed.append((peer, row[6]))
            return changed

        try:
            self._count(await self._store.tables.change(write) if rows else [])
        except MachineRefuses:  # nothing was noted, so all of it is given up
            return [OwedCopy(peer, r.kind, r.id, r.key, r.version.at_ms) for r in records]
        return refused

    def owed_to(self, peer: NodeId, limit: int) -> list[tuple[OwedCopy, Record | None]]:
        """Return up to `limit` copies owed to a peer with their records as they are now, None where one is gone."""
        query = "SELECT kind, id, key, at_ms, body FROM owed WHERE peer = ? ORDER BY kind, id LIMIT ?"
        found = []
        for kind, id, key, at_ms, body in self._store.tables.query(query, (peer, limit)):
            copy = OwedCopy(peer, Kind(kind), DocumentId(id), Key(key), at_ms)
            record = open_package(body)[0] if body else self._store.find(copy.kind, copy.id)
            is_denied = record is not None and self._store.denial.reason(record)
            found.append((copy, None if is_denied else record))
        return found

    async def delivered(self, owed_copies: Sequence[OwedCopy]) -> None:
        """Strike out copies that were delivered, unless a newer version is owed by now. Raises MachineRefuses."""

        def write(database: Connection) -> list[tuple[NodeId, int]]:
            return [gone for c in owed_copies for gone in _strike(database, c.peer, c.kind, c.id, c.at_ms)]

        if owed_copies:
            self._count(await self._store.tables.change(write))

    async def strike_denied(self) -> None:
        """Strike out the records kept for peers that the strategy takes back. Raises MachineRefuses."""
        if not self._store.denial.is_any:
            return
        for peer in self.counts():
            owed_copies = self._bodies_of(peer)
            await self.delivered([copy for copy, record in owed_copies if self._store.denial.reason(record)])

    def _bodies_of(self, peer: NodeId) -> Iterator[tuple[OwedCopy, Record]]:
        query = "SELECT kind, id, key, at_ms FROM owed WHERE peer = ? AND body IS NOT NULL"
        for kind, id, key, at_ms in self._store.tables.query(query, (peer,)):
            one = "SELECT body FROM owed WHERE peer = ? AND kind = ? AND id = ? AND body IS NOT NULL"
            for (body,) in self._store.tables.query(one, (peer, kind, id)):
                yield OwedCopy(peer, Kind(kind), DocumentId(id), Key(key), at_ms), open_package(body)[0]

    async def give_up_old(self, now: float) -> list[OwedCopy]:
        """Strike out some of what is owed for too long, and return it."""
        if not any(self._counts.values()):
            return []
        query = "SELECT peer, kind, id, key, at_ms FROM owed WHERE since < ? LIMIT 1000"
        rows = self._store.tables.query(query, (now - self._config.outbox_hours * 3600,))
        old = [OwedCopy(NodeId(p), Kind(kind), DocumentId(id), Key(key), at_ms) for p, kind, id, key, at_ms in rows]
        await self.delivered(old)
        return old

    def _count(self, changed: Sequence[tuple[NodeId, int]]) -> None:
        """Take in what was committed: for each row its peer and its bytes, which are negative where it went."""
        for peer, size in changed:
            self._counts[peer] = self._counts.get(peer, 0) + (1 if size > 0 else -1)
            self._bytes += size


def _strike(database: Connection, peer: NodeId, kind: Kind, id: DocumentId, at_ms: int) -> list[tuple[NodeId, int]]:
    """Strike out what is owed of a record unless it is a newer version; returns peer and bytes, negative, of each."""
    query = "DELETE FROM owed WHERE peer = ? AND kind = ? AND id = ? AND at_ms <= ? RETURNING size"
    return [(peer, -size) for (size,) in database.execute(query, (peer, kind, id, at_ms)).fetchall()]
