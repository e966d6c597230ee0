"""Listing what the network has in a range of keys, part by part: all that any ready owner of it names.

One of them, this node itself where it is ready, lists the first part, as the answer to a message of range
reconciliation. That part is then compared with the others, so that each record that one lacks is named by another.
Names are claims: whoever reads the records checks their proofs.
"""

import logging
import random
from collections.abc import Callable
from dataclasses import dataclass

from dht import Key, NodeId, Overlay, PeerTimeout, RemoteError, Slot, slot_of
from store.catalog.record_store import RecordStore
from store.errors import NoReadyOwner
from store.record.range_reconciliation import END, RangeEntry, Ranges, item
from store.record.range_session import RangeSession, answer, listed, listing
from store.repair.peer_sync import PeerSync, fresh_salt, items_between

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RangePart:
    """The first part of a range: the newest version of each record that a ready owner names, by place.

    `next`: the first key after it, None at the end of the range. `silent`: how many ready owners did not say."""

    entries: tuple[RangeEntry, ...]
    next: Key | None
    silent: int


class RangeLister:
    """Names records of any slot, whoever owns it."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        rng: random.Random,
        is_ready: Callable[[bytes], bool],
        sync: PeerSync,
    ) -> None:
        """`is_ready(key)`: whether this node answers for the slot of a key by itself."""
        self._store, self._overlay, self._rng, self._is_ready, self._sync = store, overlay, rng, is_ready, sync

    async def part(self, first: Key, last: Key) -> RangePart:
        """Return the first part of a range that lies in one slot. Raises NoReadyOwner where nobody says anything."""
        slot = slot_of(first, self._overlay.view.strategy.slot_bits)
        after = int.from_bytes(last, "big") + 1
        end = END if after >> 160 else after.to_bytes(20, "big")
        sources = self._sources(slot, first)
        silent = 0
        while sources:
            source = sources.pop(0)
            try:
                entries, upto = await self._begin(source, first, end)
            except RemoteError as error:
                self._note(source, error)
                silent += 1
                continue
            found = {e.place: e for e in entries}
            silent += sum([not await self._add(peer, found, first, upto) for peer in sources])
            named = tuple(found[place] for place in sorted(found))
            return RangePart(named, Key(upto) if upto != end else None, silent)
        raise NoReadyOwner(slot)

    def _sources(self, slot: Slot, key: Key) -> list[NodeId]:
        """Return the nodes to ask, in order: this node where it is ready, then other ready ones, late ones last. Their
        order is random, so that none can hold up a reader for long."""
        view, late = self._overlay.view, self._overlay.late
        peers = [p for p in view.ready(slot) if p != view.node_id]
        self._rng.shuffle(peers)
        return [view.node_id] * self._is_ready(key) + sorted(peers, key=late.is_late)

    async def _begin(self, source: NodeId, first: Key, end: bytes) -> tuple[list[RangeEntry], bytes]:
        salt = fresh_salt()
        return listed(await self._answer(source, listing(first, end, salt), salt), first, end)

    async def _answer(self, source: NodeId, asked: Ranges, salt: bytes) -> Ranges:
        today = self._store.today
        if source != self._overlay.view.node_id:
            return await self._sync.ask_ranges(source, asked, salt, today)
        return await self._store.read_ranges(lambda catalog: answer(items_between(catalog, today), asked, salt))

    async def _add(self, peer: NodeId, found: dict[bytes, RangeEntry], first: Key, upto: bytes) -> bool:
        """Add what a peer has besides, or newer, and return whether it said all."""
        items = [item(e.kind, e.id, e.key, e.version) for e in found.values()]
        session = RangeSession(items, [(first, upto)], fresh_salt())
        try:
            is_done = await self._sync.compare(peer, session, self._store.today)
        except RemoteError as error:
            self._note(peer, error)
            return False
        for entry in session.wanted:
            known = found.get(entry.place)
            if first <= entry.place < upto and (known is None or entry.version > known.version):
                found[entry.place] = entry
        return is_done

    def _note(self, peer: NodeId, error: RemoteError) -> None:
        if isinstance(error, PeerTimeout):
            self._overlay.late.note_late([peer])
        log.info("range not listed peer=%s reason=%s", peer.hex(), error)
