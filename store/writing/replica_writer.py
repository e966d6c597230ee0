"""Writing to the owners: drafts become signed packages, packages become durable copies.

Drafts of all callers gather until a package is full, or a short time has passed since the last one left, the longer the
more peers that one went to: a message costs both its ends some 2 ms, whatever it holds. Then they are signed together
and every owner gets its part of them, whatever the slots; so does a former owner that still answers. So whoever writes
alone does not wait, and a crawl's records share signatures, messages, commits and syncs. A draft is acknowledged as
soon as min(min_acks, r_eff) owners have it durably; owners that did not take it by the end are owed it. Where owners
are late, the slot's next candidates keep copies for them.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress

from dht import (
    Clock,
    Key,
    MachineRefuses,
    NodeId,
    Overlay,
    RemoteError,
    SignedGrant,
    SiteShards,
    Slot,
    site_of,
    slot_of,
)
from store.catalog.record_store import RecordStore
from store.config import StoreConfig
from store.errors import BadDraft, TooFewCopies
from store.record.messages import MAX_HINTED, PutPackage, PutReply
from store.record.package import Signer, pack, sign_package, url_of
from store.record.package_part import MAX_PARTS, PackagePart, make_parts, whole_parts
from store.record.record import Draft, Record
from store.record.record_check import RecordCheck
from store.writing.draft_proofs import DraftProofs, GrantedDraft
from store.writing.hinted_handoff import HintedHandoff
from store.writing.import_right import TOO_MUCH, is_import
from store.writing.pending_write import PendingWrite, WriteTicket
from store.writing.put_times import PutTimes, gathering_s
from store.writing.sent_grants import SentGrants
from store.writing.write_right import Ruling, WriteRight
from store.writing.write_team import WriteTeam, can_be_safe, is_safe, next_candidates, write_team

log = logging.getLogger(__name__)


HASTY_S = 2.0  # an impatient caller waits so long for nodes that are just about to answer


def _size(draft: Draft) -> int:
    return len(draft.body) + len(draft.content) + 1024


Refused = dict[int, str]  # why each record that a peer did not take was not, by its number; "" unknown


class ReplicaWriter:
    """Writes to their owners the records that this node makes; there is no other way in."""

    def __init__(
        self,
        config: StoreConfig,
        store: RecordStore,
        overlay: Overlay,
        handoff: HintedHandoff,
        signer: Signer,
        clock: Clock,
        refused: Callable[[Slot, NodeId], None],
        left_here: Callable[[Set[Slot]], None],
        places: SiteShards,
        check: RecordCheck,
        right: WriteRight,
        proofs: DraftProofs,
    ) -> None:
        """`refused(slot, peer)` is told of copies that an owner lacks and that hinted hand-off cannot hold,
        `left_here(slots)` of slots of others whose copies this node keeps for them, `places` of sites that owners say
        lie elsewhere."""
        self._places, self._left_here, self._times, self._late = places, left_here, PutTimes(), overlay.late
        self._sent, self._right, self._proofs = SentGrants(), right, proofs
        self._config, self._store, self._overlay, self._handoff = config, store, overlay, handoff
        self._signer, self._clock, self._refused, self._check = signer, clock, refused, check
        self._queue: deque[PendingWrite] = deque()
        self._queued_bytes = 0
        self._flying = 0  # packages under way
        self._left_at = float("-inf")  # when the last one left, steady time
        self._peers = 0  # that one of late went to
        self._stir = asyncio.Event()  # something was queued or landed
        self._gathers = False  # what is queued waits for more, until it is time or full
        self._held_bytes = 0  # queued or under way
        self._room = asyncio.Event()

    async def write(self, drafts: Sequence[Draft], *, is_patient: bool = True) -> None:
        """Return when every draft is safe with its owners; raises BadDraft, NotGranted, or TooFewCopies after a
        deadline. A caller that is not patient gets TooFewCopies within seconds where somebody keeps a draft and too few
        nodes live to keep it safely. What the strategy takes back by now is passed over."""
        for draft in drafts:
            if flaw := self._check.draft_flaw(draft):
                raise BadDraft(f"draft {draft.kind.name} {draft.id.hex()}", flaw)
        drafts = [draft for draft in drafts if not self._check.is_taken_back(draft)]
        granted = self._proofs.granted(drafts)
        self._check.remember(each.record for each in granted if each.record is not None)
        await self._enqueue(granted, is_patient=is_patient)

    async def move(self, moves: Iterable[tuple[Record, Key]]) -> None:
        """Write records, with their contents, to other places of their sites, as `write` does."""
        moved = [self._proofs.moved(record, key) for record, key in moves]
        await self._enqueue([each for each in moved if not self._check.is_taken_back(each.draft)])

    async def _enqueue(self, drafts: Sequence[GrantedDraft], *, is_patient: bool = True) -> None:
        if not drafts:
            return
        while self._held_bytes > self._config.max_waiting_bytes:
            self._room.clear()
            await self._room.wait()
        done, since = asyncio.get_running_loop().create_future(), self._clock().steady
        ticket = WriteTicket(len(drafts), done, is_patient)
        for draft, grant, record in drafts:
            pending = PendingWrite(draft, ticket, since, _size(draft), grant, record)
            self._queue.append(pending)
            self._queued_bytes += pending.size
            self._held_bytes += pending.size
        if not self._gathers or self._is_full():
            self._stir.set()
        await ticket.done
        if ticket.error:
            raise ticket.error

    @property
    def held_bytes(self) -> int:
        """The bytes of drafts queued or under way."""
        return self._held_bytes

    async def run(self) -> None:
        """Flush packages for ever, a bounded number at once."""
        self._flying = 0
        async with asyncio.TaskGroup() as tasks:
            while True:
                await self._until_worth_it()
                self._flying += 1
                self._left_at = self._clock().steady
                tasks.create_task(self._flush(self._take()), name="store-flush")

    async def _until_worth_it(self) -> None:
        """Wait for drafts, for room to send them, and for a package that is full where another left just now."""
        while not self._queue or self._flying >= self._config.max_flushes:
            self._stir.clear()
            await self._stir.wait()
        end = self._left_at + gathering_s(self._config.flush_after_s, self._peers)
        self._gathers = True
        try:
            while not self._is_full() and (left := end - self._clock().steady) > 0:
                self._stir.clear()
                async with asyncio.timeout(left):
                    await self._stir.wait()
        except TimeoutError:
            pass
        finally:
            self._gathers = False

    def _is_full(self) -> bool:
        return len(self._queue) >= self._config.flush_records or self._queued_bytes >= self._config.flush_bytes

    def _take(self) -> list[PendingWrite]:
        batch: list[PendingWrite] = []
        size = 0
        while self._queue and len(batch) < self._config.flush_records:
            if batch and size + self._queue[0].size > self._config.flush_bytes:
                break
            size += self._queue[0].size
            batch.append(self._queue.popleft())
        self._queued_bytes -= size
        return batch

    async def _flush(self, batch: list[PendingWrite]) -> None:
        """Sign a package and see it through."""
        try:
            async with asyncio.TaskGroup() as sends:
                try:
                    records = self._sign(batch)
                    await self._keep_grants(batch)
                    await self._spread(batch, records, self._packed(batch, records), sends)
                finally:  # the peers that have not answered yet hold up nobody else
                    self._flying -= 1
                    self._stir.set()
            await self._owe(batch, records)
        except BaseException:  # nobody waits for a package that an error ended
            self._settle_short(batch, 0.0)
            raise
        finally:
            self._held_bytes -= sum(p.size for p in batch)
            self._room.set()

    def _sign(self, batch: list[PendingWrite]) -> list[Record]:
        """The records of a batch, those that were not signed before under one signature."""
        drafts = [p.draft for p in batch if p.record is None]
        records = sign_package(drafts, self._signer) if drafts else []
        self._check.remember(records)
        signed = iter(records)
        return [next(signed) if p.record is None else p.record for p in batch]

    async def _keep_grants(self, batch: list[PendingWrite]) -> None:
        """Keep what proves a package, for whoever gets its records later; at once it goes with them."""
        with suppress(MachineRefuses):
            await self._right.keep_grants(p.grant for p in batch)

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
        """Send to live owners, again and again, and where they are late to the next candidates as well, until every
        record has its copies, too few nodes live to keep them, or time is up."""
        started, is_late = min(p.since for p in batch), False
        under_way: dict[asyncio.Task[None], NodeId] = {}
        while True:
            parts = self._parts(batch, set(under_way.values()), is_late=is_late)
            for (peer, is_hint), numbers in sorted(parts.items()):
                part = [batch[n] for n in numbers], [records[n] for n in numbers]
                under_way[sends.create_task(self._send(peer, *part, packed, is_hint=is_hint))] = peer
            self._peers = len({*under_way.values()} - {self._overlay.view.node_id})
            await self._settle(batch, under_way)
            self._settle_safe(batch)
            waited = self._clock().steady - started
            if waited >= HASTY_S and not under_way:
                self._settle_short(self._hopeless(batch), waited)
            short = [p for p in batch if not p.is_settled]
            if not short:
                return
            is_too_much = not under_way and all(p.refusal == TOO_MUCH for p in short)
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
            left = began + self._times.patience_s(under_way.values()) - self._clock().steady
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
        """Give one peer its part; whoever has enough copies then is told at once."""
        lacking = self._lacking(batch) if is_hint else ()
        grants = tuple(dict.fromkeys(p.grant for p in batch if p.grant is not None))
        own, parts = [p.grant for p in batch], whole_parts(packed, records)
        began = self._clock().steady
        refused = await (
            self._keep(records, own, lacking, parts)
            if peer == self._overlay.view.node_id
            else self._ask(peer, records, lacking, grants, parts)
        )
        if len(refused) < len(batch):
            self._times.note(peer, self._clock().steady - began)
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

    async def _keep(
        self,
        records: list[Record],
        grants: Sequence[SignedGrant | None],
        lacking: tuple[NodeId, ...],
        parts: list[PackagePart],
    ) -> Refused:
        rulings = [
            self._right.own_ruling(record)
            if is_import(record) and not self._store.knows(record)
            else Ruling(grant=grant)
            for record, grant in zip(records, grants, strict=True)
        ]
        if lacking:
            self._left_here({slot_of(r.key, self._slot_bits) for r in records})
        try:
            kept = [(r, ruling) for r, ruling in zip(records, rulings, strict=True) if not ruling.reason]
            await self._right.put([record for record, _ in kept], [ruling for _, ruling in kept], parts)
        except MachineRefuses:
            for slot in sorted({slot_of(r.key, self._slot_bits) for r in records}):
                self._refused(slot, self._overlay.view.node_id)
            return dict.fromkeys(range(len(records)), "")
        reasons = zip(rulings, self._store.refusals(records), strict=True)
        return {n: reason for n, pair in enumerate(reasons) if (reason := pair[0].reason or pair[1])}

    async def _ask(
        self,
        peer: NodeId,
        records: list[Record],
        lacking: tuple[NodeId, ...],
        grants: tuple[SignedGrant, ...],
        parts: list[PackagePart],
    ) -> Refused:
        """Send records to a peer, those of `parts` as these were packed. Return the records that it did not take; all
        of them where it does not answer."""
        inside = [record for part in parts for record in part.records]
        names = {id(record): n for n, record in enumerate(records)}
        in_parts = [names[id(record)] for record in inside]
        order = [*sorted({*range(len(records))} - {*in_parts}), *in_parts]  # as the peer numbers them
        beside = [records[n] for n in order[: len(records) - len(inside)]]
        new_grants = self._sent.lacking(peer, grants)
        message = PutPackage(pack(beside), lacking, new_grants, tuple(part.data for part in parts))
        try:
            reply = await self._overlay.ask(peer, message, PutReply, timeout_s=self._config.put_timeout_s)
        except RemoteError as error:
            log.debug("package not delivered peer=%s records=%d reason=%s", peer.hex(), len(records), error)
            return dict.fromkeys(range(len(records)), "")
        self._wonder([records[n] for n in order], reply.astray)
        if reply.refused:
            self._sent.forget(peer)
        else:
            self._sent.note(peer, grants)
        return {order[r.index]: r.reason for r in reply.refused if r.index < len(order)}

    def _wonder(self, records: list[Record], astray: Sequence[int]) -> None:
        """An owner knows of a site that is spread: read its record, and write there from now on."""
        for url in {url_of(records[n]) for n in astray if 0 <= n < len(records)}:
            self._places.hosts.doubt(site_of(url))

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
