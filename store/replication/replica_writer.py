"""Writing to the owners: drafts become signed packages, packages become durable copies.

Drafts of all callers gather until a package is full, or a short time has passed since the last one left, the longer the
more peers that one went to: a message costs both its ends some 2 ms, whatever it holds. Then they are signed together
and every owner gets its part of them, whatever the slots. So whoever writes alone does not wait, and a crawl's records
share signatures, messages, commits and syncs. A draft is acknowledged as soon as
min(min_acks, r_eff) owners have it durably; owners that did not take it by the end are owed it.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dht import Clock, NodeId, Overlay, RemoteError, SiteShards, Slot, site_of, slot_of
from store.config import StoreConfig
from store.disk.record_store import RecordStore
from store.errors import BadDraft, DiskFull, TooFewCopies
from store.record.package import Signer, draft_flaw, pack, sign_package, url_of
from store.record.record import Draft, Record
from store.replication.cooldown import Cooldown
from store.replication.hinted_handoff import HintedHandoff
from store.replication.messages import PutPackage, PutReply

log = logging.getLogger(__name__)
LONGEST_GATHERING_S = 1.0  # a crawl's links wait twice on the way to who fetches them: here, and in the feed


@dataclass(eq=False, slots=True)
class _Ticket:
    """One caller's drafts: how many are not safe yet, and what went wrong."""

    left: int
    done: asyncio.Future[None]
    error: RemoteError | None = None


@dataclass(eq=False, slots=True)
class _Pending:
    """One draft on its way."""

    draft: Draft
    ticket: _Ticket
    since: float  # steady time
    size: int
    copies: set[NodeId] = field(default_factory=set)
    is_settled: bool = False

    def settle(self, error: RemoteError | None = None) -> None:
        """Tell the caller, the first time only, that the draft is safe or (`error`) is not."""
        if not self.is_settled:
            self.is_settled = True
            self.ticket.left -= 1
            self.ticket.error = self.ticket.error or error
            if (not self.ticket.left or error) and not self.ticket.done.done():
                self.ticket.done.set_result(None)


@dataclass(frozen=True, slots=True)
class _Team:
    """A slot's live owners at one moment. `needed`: copies that make a record safe; as many of them as there can be
    must lie with `older`, who did not come just now."""

    live: tuple[NodeId, ...]
    needed: int
    older: frozenset[NodeId]


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
        places: SiteShards,
    ) -> None:
        """`refused(slot, peer)` is told of copies that an owner lacks and that hinted hand-off cannot hold; `places` of
        sites that owners say lie elsewhere."""
        self._places = places
        self._config, self._store, self._overlay, self._handoff = config, store, overlay, handoff
        self._signer, self._clock, self._refused = signer, clock, refused
        self._complaints = Cooldown()
        self._queue: deque[_Pending] = deque()
        self._queued_bytes = 0
        self._flying = 0  # packages under way
        self._left_at = float("-inf")  # when the last one left, steady time
        self._peers = 0  # that one of late went to
        self._stir = asyncio.Event()  # something was queued or landed
        self._gathers = False  # what is queued waits for more, until it is time or full
        self._held_bytes = 0  # queued or under way
        self._room = asyncio.Event()

    async def write(self, drafts: Sequence[Draft]) -> None:
        """Return when every draft is safe with its owners; raises BadDraft, or TooFewCopies after a deadline."""
        for draft in drafts:
            if flaw := draft_flaw(draft):
                raise BadDraft(f"draft {draft.kind.name} {draft.id.hex()}", flaw)
        if not drafts:
            return
        while self._held_bytes > self._config.max_waiting_bytes:
            self._room.clear()
            await self._room.wait()
        ticket, since = _Ticket(len(drafts), asyncio.get_running_loop().create_future()), self._clock().steady
        for draft in drafts:
            pending = _Pending(draft, ticket, since, len(draft.body) + len(draft.content) + 1024)
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

    def _take(self) -> list[_Pending]:
        batch: list[_Pending] = []
        size = 0
        while self._queue and len(batch) < self._config.flush_records:
            if batch and size + self._queue[0].size > self._config.flush_bytes:
                break
            size += self._queue[0].size
            batch.append(self._queue.popleft())
        self._queued_bytes -= size
        return batch

    async def _flush(self, batch: list[_Pending]) -> None:
        """Sign a package and see it through."""
        try:
            records = sign_package([p.draft for p in batch], self._signer)
            await self._spread(batch, records)
            await self._owe(batch, records)
        finally:
            self._flying -= 1
            self._held_bytes -= sum(p.size for p in batch)
            self._room.set()
            self._stir.set()

    async def _spread(self, batch: list[_Pending], records: list[Record]) -> None:
        """Send to live owners, again and again, until every record has its copies or time is up."""
        started = min(p.since for p in batch)
        while True:
            parts: dict[NodeId, list[int]] = {}
            for n, (pending, team) in enumerate(zip(batch, self._teams(batch), strict=True)):
                for peer in () if pending.is_settled else team.live:  # stand-ins among them
                    if peer not in pending.copies:
                        parts.setdefault(peer, []).append(n)
            self._peers = len(parts.keys() - {self._overlay.view.node_id})
            async with asyncio.TaskGroup() as tasks:
                for peer, numbers in sorted(parts.items()):
                    tasks.create_task(self._send(peer, [batch[n] for n in numbers], [records[n] for n in numbers]))
            waited = self._clock().steady - started
            short = [p for p in batch if not p.is_settled]
            if not short:
                return
            if waited >= self._config.write_deadline_s:
                for p in short:
                    slot = self._slot(p.draft)
                    p.settle(TooFewCopies(slot, len(p.copies), self._team(slot).needed, waited))
                log.warning("write short of copies records=%d waited_s=%.0f", len(short), waited)
                return
            await asyncio.sleep(self._config.retry_s)

    async def _send(self, peer: NodeId, batch: list[_Pending], records: list[Record]) -> None:
        """Give one owner its part; whoever has enough copies then is told at once."""
        refused = await (self._keep(records) if peer == self._overlay.view.node_id else self._ask(peer, records))
        taken = [pending for n, pending in enumerate(batch) if n not in refused]
        for pending in taken:
            pending.copies.add(peer)
        unsettled = [pending for pending in taken if not pending.is_settled]
        for pending, team in zip(unsettled, self._teams(unsettled), strict=True):
            if self._is_safe(pending.copies, team):
                pending.settle()

    async def _keep(self, records: list[Record]) -> set[int]:
        try:
            await self._store.put(records)
        except DiskFull as error:
            if self._complaints.allows(self._clock().steady):  # a full disk refuses every try
                log.warning("own copy not kept reason=%s", error)
            for slot in sorted({slot_of(r.key, self._slot_bits) for r in records}):
                self._refused(slot, self._overlay.view.node_id)
            return set(range(len(records)))
        return {n for n, reason in enumerate(self._store.refusals(records)) if reason}

    async def _ask(self, peer: NodeId, records: list[Record]) -> set[int]:
        """What a peer did not take; everything where it does not answer."""
        message = PutPackage(pack(records))
        try:
            reply = await self._overlay.ask(peer, message, PutReply, timeout_s=self._config.put_timeout_s)
        except RemoteError as error:
            log.debug("package not delivered peer=%s records=%d reason=%s", peer.hex(), len(records), error)
            return set(range(len(records)))
        self._wonder(records, reply.astray)
        return {r.index for r in reply.refused}

    def _wonder(self, records: list[Record], astray: Sequence[int]) -> None:
        """An owner knows of a site that is spread: read its record, and write there from now on."""
        for url in {url_of(records[n]) for n in astray if 0 <= n < len(records)}:
            self._places.hosts.doubt(site_of(url))

    async def _owe(self, batch: list[_Pending], records: list[Record]) -> None:
        """Remember for every owner that lacks a record that it should get it."""
        view, bits = self._overlay.view, self._slot_bits
        me, owners = view.node_id, dict[Slot, tuple[NodeId, ...]]()
        owed_copies: dict[tuple[NodeId, bool], list[Record]] = {}
        for pending, record in zip(batch, records, strict=True):
            if pending.copies:
                slot = slot_of(record.key, bits)
                if slot not in owners:
                    owners[slot] = tuple(view.owners(slot))
                for peer in owners[slot]:
                    if peer not in pending.copies and peer != me:
                        owed_copies.setdefault((peer, me in pending.copies), []).append(record)
        for (peer, is_here), owed in sorted(owed_copies.items(), key=lambda d: d[0]):
            for copy in await self._handoff.keep_for(peer, owed, is_here=is_here, now=self._clock().wall):
                self._refused(slot_of(copy.key, self._slot_bits), peer)

    def _is_safe(self, copies: set[NodeId], team: _Team) -> bool:
        """Enough copies, and of them as many as there can be with owners who did not come just now."""
        if len(copies) < team.needed:
            return False
        counted = sum(peer in team.older or peer == self._overlay.view.node_id for peer in copies)
        return not team.older or counted >= min(team.needed, len(team.older))

    def _teams(self, batch: Sequence[_Pending]) -> list[_Team]:
        """The team of each record's slot as it is now; a package has few slots and many records."""
        bits, found = self._slot_bits, dict[Slot, _Team]()
        slots = [slot_of(pending.draft.key, bits) for pending in batch]
        for slot in slots:
            if slot not in found:
                found[slot] = self._team(slot)
        return [found[slot] for slot in slots]

    def _team(self, slot: Slot) -> _Team:
        view = self._overlay.view
        live = view.live_owners(slot)
        ready = [peer for peer in live if peer == view.node_id or view.is_ready(peer, slot)]
        needed = max(1, min(view.strategy.min_acks, len(view.owners(slot))))
        return _Team(live, needed, frozenset(view.seasoned(ready)))

    def _slot(self, draft: Draft) -> Slot:
        return slot_of(draft.key, self._slot_bits)

    @property
    def _slot_bits(self) -> int:
        return self._overlay.view.strategy.slot_bits


def gathering_s(flush_after_s: float, peers: int) -> float:
    """Return the seconds from one package to the next that is not full, where the last one went to so many peers."""
    return min(flush_after_s * max(1, peers), max(flush_after_s, LONGEST_GATHERING_S))
