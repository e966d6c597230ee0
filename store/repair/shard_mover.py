"""Moves records to where they lie now: a site that is spread keeps its documents and changes its slots.

Every owner of an old place looks through what lies astray there. The first of the old place's ready owners writes the
records that the new place lacks. An owner of the new place keeps its copy and files it there. Any other node deletes
its copy when all owners of the new place have it. So at no moment a record has fewer copies than before the move. Its
key is part of what its author signed: it moves along, or, where no lease need be proved, whoever moves the record signs
it anew.

The work follows what must move. Host records name the sites whose records may be astray, and the change log shows each
record that comes in late. Only new rules of the strategy, which may concern any site, make a node look through all its
records, once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from dht import (
    SITE_BYTES,
    Key,
    MachineRefuses,
    NodeId,
    Overlay,
    RemoteError,
    SiteShards,
    placement_key,
    shards,
    site_of,
    slot_of,
    stray_range,
)
from store.catalog.record_store import RecordStore
from store.errors import BadDraft
from store.record.messages import AskVersions, HeldVersion, VersionsReply, Wanted
from store.record.package import MAX_RECORDS, depth_of, size_of, url_of
from store.record.record import Kind, Record
from store.repair.peer_sync import Throttle, batches

log = logging.getLogger(__name__)

PORTION = 128  # records looked at together
REST_S = 0.2  # between two portions
CHANGES = 1024  # lines of the change log read together
MAX_CALM = 65_536  # sites remembered not to be spread, so that their records need not be read
FIRST, LAST = bytes(20), b"\xff" * 20
# What is shown goes first; a visit goes after its document, so that a URL with an outcome has one.
MOVED = (Kind.DOCUMENT, Kind.VISIT, Kind.FORMER)

Write = Callable[[Iterable[tuple[Record, Key]]], Awaitable[None]]  # to other places of their sites
Rekeyed = Callable[[Record, Key], Record]  # at another place of its site


class ShardMover:
    """Moves what lies astray on one node; idle where nothing does."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        places: SiteShards,
        write: Write,
        rekeyed: Rekeyed,
    ) -> None:
        self._store, self._config, self._clock, self._log = store, store.config, store.clock, store.log
        self._overlay, self._places, self._write, self._rekeyed = overlay, places, write, rekeyed
        self._throttle = Throttle(store.config.handover_bytes_s)
        self._mark: object = ()  # the rules under which everything was looked through
        self._astray: dict[bytes, None] = {}  # where something may lie astray, by the first 10 bytes of its keys
        self._calm: dict[bytes, None] = {}  # the same of sites that are not spread
        self._sequence = store.log.sequence
        self.looked_at = 0  # records read, so far

    def expect_strays(self, site: str) -> None:
        """Look into a site soon, since its places may be others now; where nothing spreads it, none is astray."""
        if not self._places.by_rules and self._places.hosts.depths(site) == (0,):
            return
        bits = self._overlay.view.strategy.slot_bits
        here = self._store.occupied(bits)
        self._astray |= dict.fromkeys(prefix for prefix in shards(site) if slot_of(prefix, bits) in here)
        self._calm.clear()

    async def step(self) -> None:
        """Find out what has changed, and try once to move each record that lies astray."""
        moved = 0
        if self._mark != self._places.mark:
            mark, self._sequence = self._places.mark, self._log.sequence
            self._calm.clear()
            if self._places.by_rules:
                moved = await self._look_through([(FIRST, LAST)])
            self._mark = mark
        await self._follow()
        for prefix in list(self._astray):
            del self._astray[prefix]  # it returns where something is left, or comes meanwhile
            try:
                moved += await self._look_into(prefix)
            except MachineRefuses:
                self._astray[prefix] = None
                raise
        if moved:
            log.info("records moved to the places of spread sites count=%d", moved)

    async def _follow(self) -> None:
        """Notice what was written since the last look to where it does not belong, by whoever did not know it."""
        if not self._places.spreads:
            self._sequence = self._log.sequence
            return
        while changes := self._log.changes(self._sequence, CHANGES):
            for number, change in enumerate(changes, start=1):
                self._sequence = change.sequence
                prefix = change.key[:SITE_BYTES]
                is_known = prefix in self._calm or prefix in self._astray
                if change.kind in MOVED and not change.removed and not is_known:
                    self._notice(prefix, self._store.find(change.kind, change.id, content=False))
                if number % PORTION == 0:
                    await asyncio.sleep(0)

    def _notice(self, prefix: bytes, record: Record | None) -> None:
        if record is None:
            return
        self.looked_at += 1
        if self._goes_to(record) is not None:
            self._astray[prefix] = None
        elif not self._places.by_rules and self._places.hosts.depths(site_of(url_of(record))) == (0,):
            self._calm[prefix] = None
            if len(self._calm) > MAX_CALM:
                del self._calm[next(iter(self._calm))]

    def _goes_to(self, record: Record) -> Key | None:
        """Where a record belongs; None where it is there, or at a deeper place: whoever put it there knows more."""
        url = url_of(record)
        depth = self._places.depth(url)
        if not depth or (key := placement_key(url, depth)) == record.key:
            return None
        return key if depth_of(url, record.key) < depth else None

    async def _look_into(self, prefix: bytes) -> int:
        """Move the records of one shard of a site that lie astray; return how many were written elsewhere."""
        whole = (Key(prefix.ljust(20, b"\0")), Key(prefix.ljust(20, b"\xff")))
        first = next((r for kind in MOVED for r in self._store.scan(kind, *whole)), None)
        if first is None:
            return 0
        if self._places.by_pattern:
            return await self._look_through([whole])
        url = url_of(first)
        part = stray_range(prefix, shards(site_of(url)).index(prefix), self._places.depth(url))
        return await self._look_through([part]) if part is not None else 0

    async def _look_through(self, ranges: Sequence[tuple[bytes, bytes]]) -> int:
        moved = 0
        for kind in MOVED:
            records = self._in(kind, ranges)
            while portion := list(islice(records, PORTION)):
                self.looked_at += len(portion)
                strays = {r: key for r in portion if (key := self._goes_to(r)) is not None}
                if strays:
                    moved += await self._move(strays)
                    await asyncio.sleep(REST_S)
                elif len(portion) == PORTION:
                    await asyncio.sleep(REST_S)
        return moved

    def _in(self, kind: Kind, ranges: Iterable[tuple[bytes, bytes]]) -> Iterator[Record]:
        for first, last in ranges:
            yield from self._store.scan(kind, first, last, content=False)

    async def _move(self, strays: Mapping[Record, Key]) -> int:
        """Give up or lay elsewhere what the new places have, write what they lack; returns how many were written."""
        view, lacking = self._overlay.view, await self._survey(strays)
        bits, places = view.strategy.slot_bits, {(r.kind, r.id): key for r, key in strays.items()}
        given_up, ours, left, due = list[Record](), list[Record](), list[Record](), list[Record]()
        for record, key in strays.items():
            peers = lacking[record]
            if any(map(view.is_live, peers)):
                (due if self._is_first(record) else left).append(record)
            elif slot_of(key, bits) in view.owned():
                ours.append(record)
            else:
                (left if peers else given_up).append(record)
        self._astray |= dict.fromkeys(r.key[:SITE_BYTES] for r in left + due)
        await self._store.forget(given_up)
        for batch in self._whole(ours):
            await self._store.put([self._rekeyed(record, places[record.kind, record.id]) for record in batch])
        try:
            for batch in self._whole(due):
                await self._write((record, places[record.kind, record.id]) for record in batch)
                await asyncio.sleep(self._throttle.delay_s(self._clock().steady, sum(map(size_of, batch))))
        except (RemoteError, BadDraft, MachineRefuses) as error:
            log.debug("records not moved count=%d reason=%s", len(due), error)
            return 0
        return len(due)

    async def _survey(self, moves: Mapping[Record, Key]) -> Mapping[Record, set[NodeId]]:
        """Return for each record the owners of its new place, but for this node, who did not say that they have it."""
        view, parts = self._overlay.view, dict[NodeId, list[Record]]()
        bits = view.strategy.slot_bits
        lacking = {record: {*view.owners(slot_of(key, bits))} - {view.node_id} for record, key in moves.items()}
        for record, peers in lacking.items():
            for peer in filter(view.is_live, sorted(peers)):
                parts.setdefault(peer, []).append(record)
        async with asyncio.TaskGroup() as tasks:
            for peer, records in parts.items():
                for start in range(0, len(records), MAX_RECORDS):
                    part = records[start : start + MAX_RECORDS]
                    tasks.create_task(self._ask(peer, part, moves, lacking), name="store-survey")
        return lacking

    async def _ask(
        self,
        peer: NodeId,
        records: Sequence[Record],
        moves: Mapping[Record, Key],
        lacking: Mapping[Record, set[NodeId]],
    ) -> None:
        message = AskVersions(tuple(Wanted(r.kind, r.id, moves[r]) for r in records))
        try:
            reply = await self._overlay.ask(peer, message, VersionsReply, timeout_s=self._config.read_timeout_s)
        except RemoteError as error:
            log.debug("no word of moved records peer=%s count=%d reason=%s", peer.hex(), len(records), error)
            return
        for record, held in zip(records, reply.versions, strict=False):
            is_new = held is not None and held.version >= record.version.short
            if held is not None and is_new and self._is_there(record, moves[record], held):
                lacking[record].discard(peer)

    def _is_there(self, record: Record, key: Key, held: HeldVersion) -> bool:
        """Whether a copy lies at a place or at a deeper one of its site, of which this node does not know perhaps. A
        deeper copy is never given up for a lesser one."""
        if held.key == key:
            return True
        url = url_of(record)
        is_deeper = depth_of(url, held.key) > depth_of(url, key)
        if is_deeper:
            self._places.doubt(url, held.key)
        return is_deeper

    def _whole(self, bare: Iterable[Record]) -> Iterator[list[Record]]:
        """Read records with their contents, a package at a time; one that changed meanwhile is left to the next
        look."""
        found = ((r, self._store.find(r.kind, r.id)) for r in bare)
        same = (r for before, r in found if r and (r.version, r.key) == (before.version, before.key))
        return batches(same, self._config)

    def _is_first(self, record: Record) -> bool:
        """Whether this node moves what lies in a slot: the first of its ready owners, or nobody else could."""
        view = self._overlay.view
        slot = slot_of(record.key, view.strategy.slot_bits)
        ready = view.ready(slot)
        order = [p for p in view.owners(slot) if p in ready] or list(ready) or [view.node_id]
        return order[0] == view.node_id
