"""Keeps holders of the same slots informed of what each other's copies hold, by small digests that they push.

From these follow whether an answer is exact (`slot_levels.py`) and whether all is settled. Nobody is asked anything,
so neither costs a query a message; the cost of a push follows what changed, and does not grow with the network.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from dht import MAX_SLOT_BITS, Clock, Done, NodeId, Now, Overlay, RemoteError, Slot, slot_of, slot_range
from index import YOUNG_S, LocalIndex, SlotTotals
from node.crawling.change_follower import ChangedRecord, ChangeFollower
from node.crawling.slot_levels import DIGEST_BYTES, MAX_DIGESTS, SlotDigest, SlotDigests, SlotLevels
from store import RecordStore, Replicator

PUSH_EVERY_S = 2.0  # what changed
GATHER_S = 6.0  # to one peer, while slots change all the time
ENOUGH = 64  # digests that end that: where very much changes
REFRESH_S = 20.0  # everything, though nothing changed: a comparison counts for 30 s
RETRY_S = 10.0  # after a peer did not take a push
PUSH_WITHIN_S = 5.0
DOUBT_S = 30.0  # as long as a heartbeat counts (dht/membership/liveness.py)
APART_S = 60.0  # so far back it is known what was written when: further than any `until` that counts
NEVER = float("-inf")
NOTHING = SlotTotals()


class _Here(NamedTuple):
    """All that this node's digests follow from, but for the instant up to which `older` counts. `apart`: when the
    newest of what the index keeps apart of a slot was written."""

    totals: Mapping[Slot, SlotTotals]
    apart: Mapping[Slot, float]
    held: frozenset[Slot]
    stored: Mapping[Slot, bytes]
    ready: frozenset[Slot]
    is_current: bool


class LevelKeeper:
    """Pushes this node's digests, takes those of others, and tells whether all of them are equal."""

    def __init__(
        self,
        overlay: Overlay,
        store: RecordStore,
        replicator: Replicator,
        index: LocalIndex,
        changes: ChangeFollower,
        follows: Callable[[], bool],
        levels: SlotLevels,
        clock: Clock,
    ) -> None:
        """`follows` tells whether all else that follows the store has caught up with it."""
        self._overlay, self._store, self._replicator = overlay, store, replicator
        self._index, self._changes, self._follows = index, changes, follows
        self._levels, self._clock = levels, clock
        self._slot_bits = overlay.view.strategy.slot_bits
        self._sequence = -1  # of the change log, as of the last look
        self._touched = set[int]()  # cells that changed since
        self._mark = (0, clock().wall)  # an earlier end of the log and when it was that, for the index to reach
        self._until = float("-inf")  # the index has what the store had then
        self._stored: dict[Slot, bytes] = {}  # fingerprints of slots that did not change between two looks
        self._olders: dict[Slot, tuple[SlotTotals, bytes]] = {}  # digests of what the index holds
        self._digests: dict[Slot, SlotDigest] = {}
        self._digests_until = 0.0
        self._here: _Here | None = None  # as of the digests
        self._teams: dict[Slot, list[NodeId]] = {}  # live owners of the slots that this node owns
        self._teams_basis: tuple[object, ...] = ()
        self._told_of: dict[NodeId, list[Slot]] = {}  # who is told of which slots
        self._told_of_basis: tuple[object, ...] = ()
        self._told_of_until = 0.0  # steady
        self._told: dict[NodeId, dict[Slot, SlotDigest]] = {}
        self._refresh_at: dict[NodeId, float] = {}
        self._gather_until: dict[NodeId, float] = {}
        self._rest_until: dict[NodeId, float] = {}
        self._pushing: set[NodeId] = set()
        index.keep_apart(clock().wall - APART_S)
        changes.listen(self._hear_change)
        overlay.serve(SlotDigests, self._hear)

    async def run(self) -> None:
        """Look and push until cancelled."""
        self._pushing.clear()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self.refresh()
                for peer, digests in self._due():
                    self._pushing.add(peer)
                    tasks.create_task(self._push(peer, digests), name=f"push-digests-{peer.hex()[:8]}")
                await asyncio.sleep(PUSH_EVERY_S)

    def are_alike(self) -> bool:
        """Tell whether all live owners of this node's slots hold and have indexed the same, and nobody owes a live peer
        anything, as they said last. Beside an owner that was heard of just now and did not answer, nobody can tell."""
        view = self._overlay.view
        if self._store.log.sequence != self._sequence or not self._is_current() or self._replicator.owed_now:
            return False
        owned, owners = view.owned(), view.owners_by_slot()
        if any(map(self._is_in_doubt, {peer for slot in owned for peer in owners[slot]})):
            return False
        if (basis := (owned, owners, view.live())) != self._teams_basis:
            shared = {slot: [peer for peer in owners[slot] if view.is_live(peer)] for slot in owned}
            self._teams = {slot: team for slot, team in shared.items() if view.node_id in team}  # it may stand in
            self._teams_basis = basis
        here = self._find_out(self._held())
        digests = self._digests if here == self._here else {}
        wholes = {slot: digests[slot].whole if slot in digests else self._whole(slot, here) for slot in self._teams}
        return all(wholes.values()) and self._levels.are_alike(wholes, self._teams, view.node_id)

    def _is_in_doubt(self, peer: NodeId) -> bool:
        view = self._overlay.view
        return not view.is_live(peer) and (silent_s := view.peers.silent_s(peer)) is not None and silent_s < DOUBT_S

    async def refresh(self) -> None:
        """Find out what changed in the store and the index since the last refresh."""
        now, view = self._clock(), self._overlay.view
        if view.strategy.slot_bits != self._slot_bits:
            self._slot_bits, self._sequence = view.strategy.slot_bits, -1
            self._levels.forget()
        held = self._held()
        self._levels.keep(held, view.live())
        self._index.keep_apart(now.wall - APART_S)
        self._follow_index(now)
        await self._follow_store(held)
        before, self._digests_until = self._digests_until, max(0.0, min(now.wall - YOUNG_S, self._until))
        here = self._find_out(held)
        if here != self._here or min(before, self._digests_until) <= max(here.apart.values(), default=NEVER):
            self._olders = {slot: older for slot, older in self._olders.items() if slot in held}
            self._here, self._digests = here, {slot: self._digest(slot, here) for slot in sorted(held)}

    def _held(self) -> frozenset[Slot]:
        return self._overlay.view.owned() | self._replicator.ready_slots()

    def _find_out(self, held: frozenset[Slot]) -> _Here:
        view = self._overlay.view
        ready = frozenset(slot for slot in held if view.is_ready(view.node_id, slot))
        totals, apart = self._index.totals_by_slot(), self._index.newest_apart()
        return _Here(totals, apart, held, self._stored, ready, self._is_current())

    def _follow_index(self, now: Now) -> None:
        newest = self._store.log.sequence
        if self._index.reached(self._mark[0]):
            self._until, self._mark = self._mark[1], (newest, now.wall)
        if self._index.reached(newest):
            self._until = now.wall
        self._levels.kept_up(self._until)

    async def _follow_store(self, held: frozenset[Slot]) -> None:
        """Sum up the slots that rest; those that change are summed up when they do not."""
        before, self._sequence = self._sequence, self._changes.sequence
        left = self._store.log.left(before) if before >= 0 else None
        changed, self._touched = self._touched, set()
        touched = {Slot(cell >> (MAX_SLOT_BITS - self._slot_bits)) for cell in changed}
        touched |= {slot_of(key, self._slot_bits) for key in left or ()}
        rest = held - touched if left is not None else frozenset()
        self._stored = {slot: found for slot, found in self._stored.items() if slot in rest}
        for slot in sorted(rest - self._stored.keys()):
            self._stored[slot] = self._store.summary(*slot_range(slot, self._slot_bits)).fingerprint
            await asyncio.sleep(0)  # a large slot takes milliseconds

    def _is_current(self) -> bool:
        return self._index.is_current and self._follows()

    def _hear_change(self, changed: ChangedRecord) -> None:
        self._touched.add(slot_of(changed.key, MAX_SLOT_BITS))

    def _digest(self, slot: Slot, here: _Here) -> SlotDigest:
        totals = here.totals.get(slot, NOTHING)
        older = self._older(slot, self._digests_until, totals, here.apart.get(slot, NEVER))
        whole = self._whole(slot, here) if here.is_current else b""
        return SlotDigest(slot, older, whole)

    def _older(self, slot: Slot, until: float, totals: SlotTotals, newest: float) -> bytes:
        """Digest what the index held of a slot before an instant. Of most slots nothing was written since: then it is
        remembered."""
        if newest >= until:
            return _digest_of(self._index.fingerprint_until(slot, until))
        known = self._olders.get(slot)
        if known is None or known[0] is not totals:
            known = self._olders[slot] = totals, _digest_of(totals.fingerprint_bytes)
        return known[1]

    def _whole(self, slot: Slot, here: _Here) -> bytes:
        """Digest all of a slot that rests and is announced; others ask no replica that they do not know of."""
        stored = here.stored.get(slot)
        if stored is None or slot not in here.ready:
            return b""
        return _digest_of(stored + here.totals.get(slot, NOTHING).fingerprint_bytes)

    def _due(self) -> Iterator[tuple[NodeId, list[SlotDigest]]]:
        """Yield the peers that are told something now, each with its digests: at times all of them, in between those
        that changed. A slot that has come to rest is told at once; changes of others are gathered."""
        steady = self._clock().steady
        self._refresh_audience(steady)
        for peer, slots in sorted(self._told_of.items()):
            if peer in self._pushing or self._rest_until.get(peer, 0.0) > steady:
                continue
            told = self._told.setdefault(peer, {})
            if steady >= self._refresh_at.get(peer, 0.0):
                told.clear()
                self._refresh_at[peer] = steady + REFRESH_S
            digests = [self._digests[slot] for slot in slots if told.get(slot) != self._digests[slot]]
            is_news = len(digests) >= ENOUGH or any(digest.whole for digest in digests)
            if digests and (is_news or self._gather_until.get(peer, 0.0) <= steady):
                self._gather_until[peer] = steady + GATHER_S
                yield peer, digests

    def _refresh_audience(self, steady: float) -> None:
        """Work out which peers are told of which slots: the owners of a slot, and other nodes that answer for it."""
        view, found = self._overlay.view, dict[NodeId, list[Slot]]()
        basis = self._digests.keys(), view.owners_by_slot(), view.ready_by_slot(), view.live()
        if basis == self._told_of_basis and steady < self._told_of_until:
            return
        self._told_of_basis, self._told_of_until = basis, steady + REFRESH_S
        for slot in self._digests:
            for peer in {*view.owners(slot), *view.live_owners(slot), *view.ready(slot)} - {view.node_id}:
                if view.is_live(peer):
                    found.setdefault(peer, []).append(slot)
        for known in (self._told, self._refresh_at, self._rest_until, self._gather_until):
            for peer in [peer for peer in known if peer not in found]:
                del known[peer]
        self._told_of = found

    async def _push(self, peer: NodeId, digests: Sequence[SlotDigest]) -> None:
        bits, until, owed = self._slot_bits, self._digests_until, self._replicator.owed_now
        try:
            for start in range(0, len(digests), MAX_DIGESTS):
                message = SlotDigests(bits, until, owed, tuple(digests[start : start + MAX_DIGESTS]))
                await self._overlay.ask(peer, message, Done, timeout_s=PUSH_WITHIN_S)
            self._told.get(peer, {}).update((Slot(digest.slot), digest) for digest in digests)
        except RemoteError:  # it hears everything when it answers again
            self._told.pop(peer, None)
            self._rest_until[peer] = self._clock().steady + RETRY_S
        finally:
            self._pushing.discard(peer)

    async def _hear(self, peer: NodeId, message: SlotDigests) -> Done:
        view, totals, apart = self._overlay.view, self._index.totals_by_slot(), self._index.newest_apart()

        def mine(slot: Slot, until: float) -> bytes | None:
            is_shared = slot in self._digests and peer in view.candidates(slot)
            return self._older(slot, until, totals.get(slot, NOTHING), apart.get(slot, NEVER)) if is_shared else None

        if message.slot_bits == view.strategy.slot_bits == self._slot_bits:
            self._levels.hear(self._clock(), peer, message, mine)
        return Done()


def _digest_of(what: bytes) -> bytes:
    return blake2b(what, digest_size=DIGEST_BYTES).digest()
