"""Writing to the owners: drafts become signed packages, packages become durable copies.

Drafts gather until a package is worth sending (`draft_queue.py`): a message costs both its ends some 2 ms, whatever it
holds. They are signed together, and every owner gets its part of them, whatever the slots; so does a former owner that
still answers. A draft is acknowledged as soon as min(min_acks, r_eff) owners have it durably; owners that did not take
it by the end are owed it. Where owners are late, the slot's next candidates keep copies for them.

A record goes to the live owners of its slot, to the keepers in place of silent ones, and to any other node that answers
for it. If owners do not answer, the next candidates of the slot keep a copy for them. It counts wherever it lies, since
its keeper brings it to the owners.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass

from dht import Key, MachineRefuses, NodeId, Overlay, Slot, View, counting_owners, slot_of
from store.catalog.hinted_handoff import HintedHandoff
from store.catalog.record_store import RecordStore
from store.errors import BadDraft, TooFewCopies
from store.record.messages import MAX_HINTED
from store.record.package_part import MAX_PARTS, PackagePart, make_parts
from store.record.record import Draft, Record
from store.record.record_check import RecordCheck
from store.writing.draft_queue import DraftProofs, DraftQueue, PendingWrite
from store.writing.package_sender import PackageSender
from store.writing.ruling import TOO_MUCHES


@dataclass(frozen=True, slots=True)
class WriteTeam:
    """The nodes that receive the records of a slot at one moment.

    `live`: its live owners.
    `keepers`: nodes that take new records in the place of silent owners, so that each has all its copies at once.
    `serving`: other nodes that answer for the slot and must not fall behind.
    `needed`: copies that make a record safe; those of `serving` and `away` members do not count.
    `older`: nodes that did not come just now; as many of the needed copies as possible must lie there.
    `away`: members that do not count for a while."""

    slot: Slot
    live: tuple[NodeId, ...]
    keepers: tuple[NodeId, ...]
    serving: tuple[NodeId, ...]
    needed: int
    older: frozenset[NodeId]
    away: frozenset[NodeId]

    @property
    def all(self) -> tuple[NodeId, ...]:
        """To whom a record goes at once."""
        return self.live + self.keepers + self.serving


def write_team(view: View, slot: Slot) -> WriteTeam:
    """Return to whom a record of a slot goes now."""
    live = view.live_owners(slot)
    ready = [peer for peer in live if peer == view.node_id or view.is_ready(peer, slot)]
    away = view.uncounted()
    needed = max(1, min(view.strategy.min_acks, len(counting_owners(view.owners(slot), away))))
    keepers = tuple(peer for peer in view.keepers(slot) if peer not in live)
    serving = tuple(peer for peer in view.ready(slot) if peer not in live and peer not in keepers)
    return WriteTeam(slot, live, keepers, serving, needed, frozenset(view.seasoned(ready)), away)


def is_safe(view: View, team: WriteTeam, copies: Set[NodeId]) -> bool:
    """Tell whether these copies are enough, and of them as many as there can be with who did not come just now."""
    if len(copies - {*team.serving} - team.away) < team.needed:
        return False
    wanted, me = min(team.needed, len(team.older)), view.node_id
    counted = sum(peer in team.older or (peer == me and me in team.live) for peer in copies)
    if counted < wanted:
        counted += len(view.seasoned(copies - {*team.live, *team.serving}))
    return counted >= wanted


def can_be_safe(view: View, team: WriteTeam) -> bool:
    """Tell whether as many nodes live as must keep a copy that makes a record safe."""
    takers = {*team.live, *team.keepers, *filter(view.is_live, view.candidates(team.slot))}
    return len(takers - {*team.serving} - team.away) >= team.needed


def next_candidates(view: View, team: WriteTeam, copies: Set[NodeId], asked: Set[NodeId]) -> list[NodeId]:
    """Return who is asked next to keep a copy for owners that do not answer: this node first if it is a candidate, as
    many as copies are missing."""
    free = [p for p in view.candidates(team.slot) if p not in asked and p not in team.all and view.is_live(p)]
    free.sort(key=lambda peer: peer != view.node_id)
    return free[: max(1, team.needed - len(copies - {*team.serving} - team.away))]


log = logging.getLogger(__name__)


HASTY_S = 2.0  # an impatient caller waits so long for nodes that are just about to answer


class ReplicaWriter:
    """Writes to their owners the records that this node makes; there is no other way in."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        handoff: HintedHandoff,
        refused: Callable[[Slot, NodeId], None],
        check: RecordCheck,
        proofs: DraftProofs,
        sender: PackageSender,
    ) -> None:
        """`refused(slot, peer)` is told of copies that an owner lacks and that hinted hand-off cannot hold."""
        self._config, self._clock, self._overlay, self._late = store.config, store.clock, overlay, overlay.late
        self._handoff, self._refused, self._check, self._proofs, self._sender = handoff, refused, check, proofs, sender
        self._queue = DraftQueue(store.config, store.clock)

    async def write(self, drafts: Sequence[Draft], *, is_patient: bool = True) -> None:
        """Return when every draft is safe with its owners; raises BadDraft, NotGranted, or TooFewCopies after a
        deadline. A caller that is not patient gets TooFewCopies within seconds where somebody keeps a draft and too few
        nodes live to keep it safely. Drafts that the strategy takes back by now are passed over."""
        for draft in drafts:
            if flaw := self._check.draft_flaw(draft):
                raise BadDraft(f"draft {draft.kind.name} {draft.id.hex()}", flaw)
        drafts = [draft for draft in drafts if not self._check.is_taken_back(draft)]
        granted = self._proofs.granted(drafts)
        self._check.remember(each.record for each in granted if each.record is not None)
        await self._queue.put(granted, is_patient=is_patient)

    async def move(self, moves: Iterable[tuple[Record, Key]]) -> None:
        """Write records, with their contents, to other places of their sites, as `write` does."""
        moved = [self._proofs.moved(record, key) for record, key in moves]
        await self._queue.put([each for each in moved if not self._check.is_taken_back(each.draft)], is_patient=True)

    def have_same_owners(self, keys: Sequence[Key]) -> bool:
        """Tell whether records at these places go to the same owners now, each of whom takes them in one message."""
        slots = {slot_of(key, self._slot_bits) for key in keys}
        return len({frozenset(self._overlay.view.owners(slot)) for slot in slots}) <= 1

    @property
    def held_bytes(self) -> int:
        """The bytes of drafts queued or under way."""
        return self._queue.held_bytes

    async def run(self) -> None:
        """Flush packages for ever, a bounded number at once."""
        self._queue.begin()
        async with asyncio.TaskGroup() as tasks:
            while True:
                tasks.create_task(self._flush(await self._queue.take()), name="store-flush")

    async def _flush(self, batch: list[PendingWrite]) -> None:
        """Sign a package and see it through."""
        try:
            async with asyncio.TaskGroup() as sends:
                try:
                    records = self._sign(batch)
                    await self._keep_grants(batch)
                    await self._spread(batch, records, self._packed(batch, records), sends)
                finally:  # the peers that have not answered yet hold up nobody else
                    self._queue.landed()
            await self._owe(batch, records)
        except BaseException:  # nobody waits for a package that an error ended
            self._settle_short(batch, 0.0)
            raise
        finally:
            self._queue.forget(batch)

    def _sign(self, batch: list[PendingWrite]) -> list[Record]:
        """The records of a batch, those that were not signed before under one signature."""
        drafts = [p.draft for p in batch if p.record is None]
        records = self._proofs.sign(drafts) if drafts else []
        self._check.remember(records)
        signed = iter(records)
        return [next(signed) if p.record is None else p.record for p in batch]

    async def _keep_grants(self, batch: list[PendingWrite]) -> None:
        """Keep what proves a package, for whoever gets its records later; at once it goes with them."""
        with suppress(MachineRefuses):
            await self._proofs.keep_grants(p.grant for p in batch)

    def _packed(self, batch: list[PendingWrite], records: list[Record]) -> list[PackagePart]:
        """Pack what goes to the same peers together, once for all of them."""
        together: dict[tuple[NodeId, ...], list[Record]] = {}
        for team, record in zip(self._teams(batch), records, strict=True):
            if {*team.all} - {self._overlay.view.node_id}:
                together.setdefault(tuple(team.all), []).append(record)
        return [part for each in together.values() for part in make_parts(each)][:MAX_PARTS]

    async def _spread(
        self, batch: list[PendingWrite], records: list[Record], packed: list[PackagePart], sends: asyncio.TaskGroup
    ) -> None:
        """Send to live owners, again and again, and where they are late to the next candidates as well. End when every
        record has its copies, too few nodes live to keep them, or time is up."""
        started, is_late = min(p.since for p in batch), False
        under_way: dict[asyncio.Task[None], NodeId] = {}
        while True:
            parts = self._parts(batch, set(under_way.values()), is_late=is_late)
            for (peer, is_hint), numbers in sorted(parts.items()):
                part = [batch[n] for n in numbers], [records[n] for n in numbers]
                under_way[sends.create_task(self._send(peer, *part, packed, is_hint=is_hint), name="store-send")] = peer
            self._queue.peers = len({*under_way.values()} - {self._overlay.view.node_id})
            await self._settle(batch, under_way)
            self._settle_safe(batch)
            waited = self._clock().steady - started
            if waited >= HASTY_S and not under_way:
                self._settle_short(self._hopeless(batch), waited)
            short = [p for p in batch if not p.is_settled]
            if not short:
                return
            is_too_much = not under_way and all(p.refusal in TOO_MUCHES for p in short)
            if waited >= self._config.write_deadline_s or is_too_much:
                self._give_up(short, waited)
                return
            self._late.note_late({*under_way.values()} - {self._overlay.view.node_id})
            if is_late and not under_way:
                await asyncio.sleep(self._config.retry_s)
            is_late = True

    def _parts(
        self, batch: list[PendingWrite], busy: set[NodeId], *, is_late: bool
    ) -> dict[tuple[NodeId, bool], list[int]]:
        """Which drafts go to whom now; the peers marked True only keep them for owners that are late."""
        parts: dict[tuple[NodeId, bool], list[int]] = {}
        for n, (pending, team) in enumerate(zip(batch, self._teams(batch), strict=True)):
            if pending.is_settled:
                continue
            for peer in team.all:  # stand-ins among them; a keeper whose view is another takes a hint all the same
                if peer not in pending.copies and peer not in busy:
                    parts.setdefault((peer, is_late and peer in team.keepers), []).append(n)
            if is_late or sum(not self._late.is_late(peer) for peer in team.live) < team.needed:
                for peer in next_candidates(self._overlay.view, team, pending.copies, pending.asked | busy):
                    pending.asked.add(peer)
                    parts.setdefault((peer, True), []).append(n)
        return parts

    async def _settle(self, batch: list[PendingWrite], under_way: dict[asyncio.Task[None], NodeId]) -> None:
        """Wait until all drafts are safe, nobody is left to answer, or who is left is late."""
        began = self._clock().steady
        while under_way and not all(p.is_settled for p in batch):
            left = began + self._sender.patience_s(under_way.values()) - self._clock().steady
            if left <= 0:
                return
            done, _ = await asyncio.wait(under_way, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                del under_way[task]

    def _hopeless(self, batch: list[PendingWrite]) -> list[PendingWrite]:
        """Those of impatient callers that somebody keeps, and that too few nodes live to keep safely."""
        hasty = [p for p in batch if p.copies and not (p.is_settled or p.ticket.is_patient)]
        return [p for p, t in zip(hasty, self._teams(hasty), strict=True) if not can_be_safe(self._overlay.view, t)]

    def _give_up(self, short: list[PendingWrite], waited_s: float) -> None:
        self._settle_short(short, waited_s)
        log.warning("write short of copies records=%d waited_s=%.0f", len(short), waited_s)

    def _settle_short(self, short: list[PendingWrite], waited_s: float) -> None:
        for pending, team in zip(short, self._teams(short), strict=True):
            pending.settle(TooFewCopies(team.slot, len(pending.copies), team.needed, waited_s, pending.refusal))

    async def _send(
        self,
        peer: NodeId,
        batch: list[PendingWrite],
        records: list[Record],
        packed: list[PackagePart],
        *,
        is_hint: bool,
    ) -> None:
        """Give one peer its part, and tell at once the callers whose drafts have enough copies then."""
        lacking = self._lacking(batch) if is_hint else ()
        refused = await self._sender.send(peer, records, [p.grant for p in batch], lacking, packed)
        taken = [pending for n, pending in enumerate(batch) if n not in refused]
        for pending in taken:
            pending.copies.add(peer)
        for n, pending in enumerate(batch):
            pending.refusal = refused.get(n) or pending.refusal
        self._settle_safe(taken)

    def _settle_safe(self, batch: list[PendingWrite]) -> None:
        """Tell who waits for records that have enough copies by now: fewer may do since somebody said farewell."""
        unsettled = [pending for pending in batch if pending.copies and not pending.is_settled]
        for pending, team in zip(unsettled, self._teams(unsettled), strict=True):
            if is_safe(self._overlay.view, team, pending.copies):
                pending.settle()

    def _lacking(self, batch: list[PendingWrite]) -> tuple[NodeId, ...]:
        """The owners who have not taken all of these drafts; all owners where none lacks any."""
        view, owners, found = self._overlay.view, set[NodeId](), set[NodeId]()
        for pending, team in zip(batch, self._teams(batch), strict=True):
            owners.update(view.owners(team.slot))
            found.update(peer for peer in view.owners(team.slot) if peer not in pending.copies)
        return tuple(sorted(found or owners))[:MAX_HINTED]

    async def _owe(self, batch: list[PendingWrite], records: list[Record]) -> None:
        """Remember for everybody who owns or serves a record's slot and lacks it that it should get it."""
        view, bits = self._overlay.view, self._slot_bits
        me, owners = view.node_id, dict[Slot, tuple[NodeId, ...]]()
        owed_copies: dict[tuple[NodeId, bool], list[Record]] = {}
        for pending, record in zip(batch, records, strict=True):
            if pending.copies:
                slot = slot_of(record.key, bits)
                if slot not in owners:
                    owners[slot] = tuple(dict.fromkeys(view.owners(slot) + view.ready(slot)))
                for peer in owners[slot]:
                    if peer not in pending.copies and peer != me:
                        owed_copies.setdefault((peer, me in pending.copies), []).append(record)
        for (peer, is_here), owed in sorted(owed_copies.items(), key=lambda d: d[0]):
            for copy in await self._handoff.keep_for(peer, owed, is_here=is_here, now=self._clock().wall):
                self._refused(slot_of(copy.key, self._slot_bits), peer)

    def _teams(self, batch: Sequence[PendingWrite]) -> list[WriteTeam]:
        """The team of each record's slot as it is now; a package has few slots and many records."""
        bits, found = self._slot_bits, dict[Slot, WriteTeam]()
        slots = [slot_of(pending.draft.key, bits) for pending in batch]
        for slot in slots:
            if slot not in found:
                found[slot] = write_team(self._overlay.view, slot)
        return [found[slot] for slot in slots]

    @property
    def _slot_bits(self) -> int:
        return self._overlay.view.strategy.slot_bits
