"""Moves records to where the strategy places them now: a site that is spread keeps its documents and changes its slots.

Every owner of an old place looks through what lies there, a portion at a time. What the new place has in the same
version is forgotten here; what it lacks is written there, by the first of the old place's ready owners. So one of the
two places has each record at any moment. Who moves a record signs it anew, because its key is part of what is signed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice

from dht import Clock, DocumentId, Key, Overlay, Places, RemoteError, slot_of
from store.config import StoreConfig
from store.errors import BadDraft, DiskFull
from store.pace import Pace
from store.package import size_of, url_of
from store.record import Draft, Kind, Record
from store.records import RecordStore

log = logging.getLogger(__name__)

PORTION = 128  # records looked at together
REST_S = 0.2  # between two portions
FIRST, LAST = bytes(20), b"\xff" * 20

Name = tuple[Kind, DocumentId]
ReadMany = Callable[[Sequence[tuple[Kind, DocumentId, Key]]], Awaitable[Mapping[Name, Record]]]
Write = Callable[[Sequence[Draft]], Awaitable[None]]


class Mover:
    """One node's part; idle where no site is spread."""

    def __init__(
        self,
        config: StoreConfig,
        store: RecordStore,
        overlay: Overlay,
        places: Places,
        clock: Clock,
        write: Write,
        read_many: ReadMany,
    ) -> None:
        self._config, self._store, self._overlay, self._places = config, store, overlay, places
        self._clock, self._write, self._read_many = clock, write, read_many
        self._pace = Pace(config.handover_bytes_s)

    async def run(self) -> None:
        """Look through the store again and again, for as long as any site is spread."""
        while True:
            if self._places.spreads:
                await self._sweep()
            await asyncio.sleep(self._config.move_every_s)

    async def _sweep(self) -> None:
        """Each kind once; a visit goes after its document, so that a URL with an outcome has one."""
        moved = 0
        for kind in (Kind.DOCUMENT, Kind.VISIT):
            records = self._store.scan(kind, FIRST, LAST, content=False)
            while portion := list(islice(records, PORTION)):
                strays = {r: key for r in portion if (key := self._places.place(url_of(r))) != r.key}
                if strays:
                    moved += await self._move(strays)
                await asyncio.sleep(REST_S)
        if moved:
            log.info("records moved to the places of spread sites count=%d", moved)

    async def _move(self, strays: Mapping[Record, Key]) -> int:
        """Forget what the new place has, write what it lacks; returns how many were written."""
        there = await self._read_many([(r.kind, r.id, key) for r, key in strays.items()])
        lacking, done = list[Record](), list[Record]()
        for record, key in strays.items():
            found = there.get((record.kind, record.id))
            has = found is not None and found.key == key and found.version >= record.version
            (done if has else lacking).append(record)
        await self._store.forget(done)
        mine = [r for r in lacking if self._is_first(r)]
        try:
            await self._write_all(mine, strays)
        except (RemoteError, BadDraft, DiskFull) as error:
            log.debug("records not moved count=%d reason=%s", len(mine), error)
            return 0
        return len(mine)

    async def _write_all(self, records: Iterable[Record], keys: Mapping[Record, Key]) -> None:
        for bare in records:
            record = self._store.find(bare.kind, bare.id)
            if record is None or record.version != bare.version or record.key != bare.key:
                continue  # it changed meanwhile: the next look sees it
            await self._write([_draft(record, keys[bare])])
            await asyncio.sleep(self._pace.rest_s(self._clock().steady, size_of(record)))

    def _is_first(self, record: Record) -> bool:
        """Whether this node moves what lies in a slot: the first of its ready owners, or nobody else could."""
        view = self._overlay.view
        slot = slot_of(record.key, view.strategy.slot_bits)
        ready = view.ready(slot)
        order = [p for p in view.owners(slot) if p in ready] or list(ready) or [view.node_id]
        return order[0] == view.node_id


def _draft(record: Record, key: Key) -> Draft:
    """The same version at another place."""
    epoch, at_ms, _ = record.version
    return Draft(record.kind, record.id, key, epoch, at_ms, record.expires_day, record.body, record.content or b"")
