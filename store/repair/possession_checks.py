"""Challenges other owners to show the bytes of records, answers their challenges, and reports failures.

The decisions are `possession_audit.py`'s. An owner that has a newer version than is asked for
gives it, which proves it as well as anything.
"""

import logging
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from secrets import token_bytes

from dht import (
    CHALLENGED_RECORDS,
    Done,
    MachineRefuses,
    NodeId,
    Overlay,
    PeerAudit,
    RateLimiter,
    RemoteError,
    Slot,
    Topic,
    slot_of,
    slot_range,
)
from store.catalog.catalog_reader import CatalogReader
from store.catalog.record_store import RecordStore
from store.errors import BadReplica
from store.record.messages import (
    MAX_ACCUSED,
    MAX_CHALLENGES,
    NONCE_BYTES,
    AskPossession,
    HeldVersion,
    PossessionFailed,
    PossessionReply,
    Wanted,
)
from store.record.range_reconciliation import RangeEntry
from store.record.record import Kind, Record
from store.repair.peer_sync import PeerSync
from store.repair.possession_audit import (
    REMEDY,
    Consequence,
    Outcome,
    PossessionAudit,
    RecordName,
    answer,
    challenge,
    missing,
    sample,
    shown,
)

log = logging.getLogger(__name__)

LOOK_S = 5.0  # between two looks at what is due
DRAWN, DRAWS = 64, 4  # records at once, and how often, until enough of them lie with one other owner
SLOT_SAMPLE = 32  # records of a slot before a copy of it goes: who lacks a tenth of it shows them once in 29 times
ASKED_S, ASKED = 64.0, 4096.0  # records a second that one peer may ask for, and at once: a node that leaves asks most
WORDS_S, WORDS = 0.1, 32.0  # words about peers that one of them may say a second, and at once

Compare = Callable[[NodeId, AbstractSet[Slot]], None]


class PossessionChecks:
    """Holds one node's side of all challenges; it is told to the overlay when it is made."""

    def __init__(
        self, store: RecordStore, overlay: Overlay, sync: PeerSync, peers: PeerAudit, rng: random.Random
    ) -> None:
        """`peers`: what is known of others' answers."""
        self._store, self._config, self._clock = store, store.config, store.clock
        self._overlay, self._sync, self.peers, self._rng = overlay, sync, peers, rng
        self.audit = PossessionAudit(self._clock().steady, rng.random)
        self._asked, self._words = RateLimiter(ASKED_S, ASKED), RateLimiter(WORDS_S, WORDS)
        self._slot_bits = overlay.view.strategy.slot_bits
        overlay.serve(AskPossession, self.on_ask)
        overlay.serve(PossessionFailed, self.on_failed)

    async def step(self, ready: frozenset[Slot], compare: Compare) -> float:
        """Make the challenges that are due, and return the seconds until the next look. `ready`: the slots that this
        node answers for; `compare`: has some slots compared with a peer soon."""
        try:
            await self._refresh(ready, compare)
        except MachineRefuses as error:
            log.debug("nobody challenged reason=%s", error)
        return LOOK_S

    async def ask(self, peer: NodeId, names: Sequence[RecordName], *, is_former: bool = False) -> Outcome:
        """Challenge a peer for records, those that this node lacks left out. Raises RemoteError where it fails. Newer
        versions are kept here, unless the copy `is_former`."""
        found: dict[RecordName, bool] = {}
        for start in range(0, len(names), MAX_CHALLENGES):
            held = self._held(names[start : start + MAX_CHALLENGES])
            while held:
                said = await self._ask_some(peer, held, is_former=is_former)
                if not said:
                    raise BadReplica(f"answer of {peer.hex()}", "shows nothing and postpones everything")
                found |= said
                held = {name: record for name, record in held.items() if name not in said}
        return found

    async def shows(self, peer: NodeId, slot: Slot, slot_bits: int) -> bool | None:
        """Have an owner show some records of a slot that lies here, all where they are few; return whether it did, None
        where it does not say."""
        names = await self._some_of(slot, slot_bits)
        try:
            outcome = await self.ask(peer, names, is_former=True)
        except RemoteError as error:
            log.debug("former slot not shown peer=%s slot=%d reason=%s", peer.hex(), slot, error)
            return None
        now = self._clock()
        self.audit.count(now.wall, peer, outcome)
        if lacks := missing(outcome):
            count, first = len(lacks), lacks[0].id.hex()
            log.info("kept here, an owner lacks it peer=%s slot=%d missing=%d first=%s", peer.hex(), slot, count, first)
        return not lacks

    async def on_ask(self, peer: NodeId, message: AskPossession) -> PossessionReply:
        """Show what lies here."""
        me, count = self._overlay.view.node_id, len(message.challenges)
        now = self._clock().steady
        if not self._asked.take(peer, now, count):
            raise BadReplica("challenges", "are too many; ask again later")
        if self._store.denial.is_vanishing(now):
            raise BadReplica("challenges", "pages were just taken back; ask again later")
        return answer(self._store.find, message.challenges, message.nonce, peer, me)

    async def on_failed(self, peer: NodeId, message: PossessionFailed) -> Done:
        """Take note that another owner says that a peer, or this node, does not show what lies in some slots."""
        now, view = self._clock(), self._overlay.view
        if message.slot_bits != view.strategy.slot_bits or not self._words.take(peer, now.steady):
            return Done()
        slots = {Slot(slot) for slot in message.slots if slot < 1 << message.slot_bits}
        theirs = frozenset(s for s in slots if {peer, NodeId(message.peer)} <= set(view.owners(s)))
        if not theirs or peer == message.peer:
            return Done()
        if message.peer == view.node_id:
            self.audit.accused(peer, now.wall, len(theirs), len(message.records))
            first = message.records[0].id.hex() if message.records else ""
            what = (peer.hex(), len(message.records), len(theirs), first, REMEDY)
            log.warning("a peer finds that records are missing here peer=%s records=%d slots=%d first=%s; %s", *what)
        elif near := frozenset(s for s in theirs if view.node_id in view.candidates(s)):
            self.audit.heard(now.steady, peer, NodeId(message.peer), near)
        return Done()

    async def _refresh(self, ready: frozenset[Slot], compare: Compare) -> None:
        now, view = self._clock().steady, self._overlay.view
        if view.strategy.slot_bits != self._slot_bits:
            self._slot_bits = view.strategy.slot_bits
            self.audit.renumbered()
        self.audit.only(view.members())
        for peer, names in self.audit.again(now):
            if view.is_live(peer):
                theirs = [name for name in names if peer in view.owners(name.slot)]
                await self._challenge(peer, theirs, compare, is_again=True)
        if self.audit.is_due(now):
            peer, names = await self._draw(ready)
            if names:
                await self._challenge(peer, names, compare, is_again=False)

    async def _challenge(self, peer: NodeId, names: Sequence[RecordName], compare: Compare, *, is_again: bool) -> None:
        try:
            outcome = await self.ask(peer, names)
        except RemoteError as error:
            log.debug("not challenged peer=%s records=%d reason=%s", peer.hex(), len(names), error)
            self.audit.unheard(self._clock().steady, peer)
            return
        now = self._clock()
        verdict = self.audit.judge(now.steady, now.wall, peer, outcome, is_again=is_again)
        if verdict.compare:
            compare(peer, verdict.compare)
        if verdict.accuse:
            self.peers.refute(peer, Topic.POSSESSION, f"that it has {len(verdict.accuse)} records", is_behind=True)
            await self._accuse(peer, verdict)

    async def _accuse(self, peer: NodeId, verdict: Consequence) -> None:
        """Tell a peer that it does not show what it should have, and those who may have to keep a copy instead."""
        view, names = self._overlay.view, verdict.accuse[:MAX_ACCUSED]
        told: dict[NodeId, set[Slot]] = {peer: {name.slot for name in names}}
        for slot in sorted({name.slot for name in names}):
            for other in (*view.owners(slot), *view.keepers(slot, frozenset({peer}))):
                if other not in (view.node_id, peer) and view.is_live(other):
                    told.setdefault(other, set()).add(slot)
        for other, slots in told.items():
            records = tuple(Wanted(n.kind, n.id, self._key_of(n)) for n in names if n.slot in slots)
            message = PossessionFailed(self._slot_bits, peer, tuple(sorted(slots)), records)
            try:
                await self._overlay.ask(other, message, Done, timeout_s=self._config.read_timeout_s)
            except RemoteError as error:
                log.debug("not told of missing records peer=%s reason=%s", other.hex(), error)

    def _key_of(self, name: RecordName) -> bytes:
        return self._store.find_place(name.kind, name.id)[1] or bytes(20)

    async def _draw(self, ready: frozenset[Slot]) -> tuple[NodeId, list[RecordName]]:
        """Choose another owner and records that it should have: evenly among the copies of what lies here."""
        view, rng, newest = self._overlay.view, self._rng, self._store.log.sequence
        peer, names = view.node_id, dict[RecordName, None]()
        for _ in range(DRAWS if newest else 0):
            places = [rng.randint(1, newest) for _ in range(DRAWN)]
            rows = await self._store.read_ranges(lambda catalog: catalog.changed_at(places))  # noqa: B023
            asked = (row for row in rows if row[0] != Kind.FORMER)  # these each node thins out when it finds the time
            for name in (RecordName(kind, id, slot_of(key, self._slot_bits)) for kind, id, key in asked):
                others = [p for p in self._others(name.slot) if peer in (p, view.node_id)] if name.slot in ready else []
                if others and len(names) < CHALLENGED_RECORDS:
                    peer = rng.choice(others)
                    names[name] = None
            if len(names) >= CHALLENGED_RECORDS:
                break
        return peer, list(names)

    async def _some_of(self, slot: Slot, slot_bits: int) -> list[RecordName]:
        first, last = slot_range(slot, slot_bits)

        def draw(catalog: CatalogReader) -> list[RecordName]:
            rows = (row for row in catalog.walk(first, last) if row.kind != Kind.FORMER)
            return [RecordName(row.kind, row.id, slot) for row in sample(rows, SLOT_SAMPLE, self._rng)]

        return await self._store.read_ranges(draw)

    def _others(self, slot: Slot) -> Iterable[NodeId]:
        view = self._overlay.view
        return [p for p in view.owners(slot) if p != view.node_id and view.is_ready(p, slot)]

    def _held(self, names: Iterable[RecordName]) -> dict[RecordName, Record]:
        found, today = {name: self._store.find(name.kind, name.id) for name in names}, self._store.today
        held = {name: r for name, r in found.items() if r is not None and r.expires_day > today}
        return {name: r for name, r in held.items() if not self._sync.may_lack(r)}

    async def _ask_some(
        self, peer: NodeId, held: Mapping[RecordName, Record], *, is_former: bool
    ) -> dict[RecordName, bool]:
        """Say of those records that a peer answers for now whether it shows them."""
        nonce, me, view = token_bytes(NONCE_BYTES), self._overlay.view.node_id, self._overlay.view
        asked = [challenge(record, self._rng) for record in held.values()]
        message = AskPossession(nonce, tuple(asked))
        reply = await self._overlay.ask(peer, message, PossessionReply, timeout_s=self._config.read_timeout_s)
        later, said, newer = set(reply.later), dict[RecordName, bool](), dict[RecordName, HeldVersion]()
        for n, (name, record) in enumerate(held.items()):
            given = reply.shown[n] if n < len(reply.shown) else None
            if n in later:
                continue
            said[name] = given is not None and given.digest == shown(record, asked[n], nonce, me, peer)
            if given is not None and given.held is not None and given.held.version > record.version.short:
                newer[name] = given.held
        behind = set[Slot]()
        if newer:
            entries = [
                RangeEntry(held[name].key + bytes([name.kind]) + name.id, v.epoch, v.at_ms, v.digest)
                for name, v in newer.items()
            ]
            behind = await self._sync.fetch(peer, entries, view.strategy.slot_bits, is_kept=not is_former)
        for name, version in newer.items():
            own = self._store.find_version(name.kind, name.id)
            is_here = own is not None and own >= version.version
            said[name] = name.slot not in behind if is_former else is_here
        return said
