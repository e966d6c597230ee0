"""`Replicator`: what the rest of the node sees of the team: writes, reads, readiness, and the figures about them.

It is built from parts that each do one thing. The writer spreads records, the reader fetches them, and the repair keeps
slots ready. Hinted hand-off remembers owed copies, the server answers peers, and the shard mover moves records that lie
in a wrong place.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass

from dht import STRICT, DocumentId, Key, MachineRefuses, NodeId, Overlay, PeerAudit, Slot, Supervisor
from store.catalog.hinted_handoff import HintedHandoff
from store.catalog.record_store import RecordStore
from store.catalog.scrub import SHORTEST_REST_S, period_of
from store.reading.range_lister import RangeLister, RangePart
from store.reading.replica_reader import Name, Records, ReplicaReader, Wants
from store.record.messages import SlotState
from store.record.package import Signer
from store.record.record import Draft, Kind, Record
from store.record.record_check import RecordCheck
from store.repair.copies_by_need import CopyCounts
from store.repair.debt_delivery import DebtDelivery
from store.repair.peer_sync import PeerSync
from store.repair.possession_audit import PossessionAudit
from store.repair.possession_checks import PossessionChecks
from store.repair.replica_repair import ReplicaRepair
from store.repair.shard_mover import ShardMover
from store.replication.replica_server import ReplicaServer
from store.writing.admission import Admission, HostWriters
from store.writing.budget_keeper import LOOK_EVERY_S
from store.writing.draft_queue import DraftProofs
from store.writing.package_sender import PackageSender
from store.writing.proof_thread import ProofThread
from store.writing.replica_writer import ReplicaWriter
from store.writing.write_right import WriteRight

log = logging.getLogger(__name__)

ROOMLESS_S = 86_400.0  # for so long a peer counts as full after its disk took nothing, or it failed an audit
TOOK_NOTHING = "its disk took no record"
SHOWED_NOTHING = "it did not show records that it should have"
TRY_AGAIN_S = 10.0  # between two tries of a disk that refused a write


@dataclass(frozen=True, slots=True)
class ReplicatorStatus:
    """Figures for the status page. Slots are this node's own unless said otherwise."""

    owned: int
    ready: int  # of any slot, former ones included
    waiting: int  # own slots not ready yet
    handing_over: int  # slots of others that still lie here
    under_replicated: int  # own slots with fewer ready live copies than owners
    copies: CopyCounts  # live ones of own slots
    owed: int  # copies in hinted hand-off
    owed_now: int  # of these, for peers that are live
    writing_bytes: int  # drafts on their way


class Replicator:
    """Does one node's part in keeping every record r times."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        signer: Signer,
        check: RecordCheck,
        rng: random.Random,
        *,
        expects_others: bool,
        audit: PeerAudit | None = None,
    ) -> None:
        """`check` knows where records live, and judges what they say. `expects_others`: the peer cache or the network
        file names somebody else, so an empty view at the start means "not heard yet" and not "alone". `audit` is all
        of a node's."""
        places, config = check.places, store.config
        self._config, self._store, self._overlay, self._clock = config, store, overlay, store.clock
        self._swept_on = store.today  # whatever a restart forgets is found the next day
        self._scrub_asked = asyncio.Event()
        self._handoff = handoff = HintedHandoff(store)
        self._check = check
        proofs = ProofThread()
        self.refusals = check.refusals
        self.host_writers = HostWriters(overlay, places)
        right = WriteRight(overlay, store, proofs)
        self.budgets = right.budgets
        self._drafts = drafts = DraftProofs(overlay, right, signer, places)
        sync = PeerSync(overlay, store, check, proofs, self.host_writers, right)
        audit = audit or PeerAudit(store.clock, rng.random)
        self._checks = checks = PossessionChecks(store, overlay, sync, audit, copy(rng))
        self._repair = repair = ReplicaRepair(store, overlay, sync, rng, checks, expects_others=expects_others)
        self.ready_changed = repair.announced.changed  # set with each change of `ready_slots`
        self._debts = DebtDelivery(store, overlay, sync, handoff, repair.compare_soon)
        self._sender = sender = PackageSender(store, overlay, right, places, repair.not_kept, repair.left_here)
        self._writer = ReplicaWriter(store, overlay, handoff, repair.not_kept, check, drafts, sender)
        self._reader = ReplicaReader(store, overlay, rng, repair.is_ready, sync, audit)
        self._lister = RangeLister(store, overlay, rng, repair.is_ready, sync)
        admission = Admission(
            overlay, config.stranger_records_s, places, repair.is_ready, self.host_writers, repair.is_frozen
        )
        self._server = ReplicaServer(store, overlay, proofs, check, admission, repair, handoff, right)
        audit.checks.repeat(lambda: checks.step(repair.ready, repair.compare))
        self._shard_mover = ShardMover(store, overlay, places, self._writer.move, drafts.rekeyed)

    @property
    def is_handing_over(self) -> bool:
        """Whether slots of others still lie here."""
        return self._repair.handing_over > 0

    async def run(self, supervisor: Supervisor = STRICT) -> None:
        """Do everything that goes on by itself, until cancelled. `supervisor`: restarts what fails."""
        async with asyncio.TaskGroup() as tasks:

            def start(name: str, run: Callable[[], Awaitable[None]]) -> None:
                supervisor.start(tasks, name, run, self._store.note_refusal)

            def repeat(name: str, job: Callable[[], Awaitable[None]], pause_s: float) -> None:
                start(name, lambda: self._repeat(job, pause_s))

            start("store-writer", self._writer.run)
            start("store-repair", self._repair.run)
            repeat("store-handoff", self._debts.deliver, self._config.deliver_every_s)
            repeat("store-tend", self._tend, self._config.tend_every_s)
            start("store-scrub", self._scrub)
            repeat("store-try-again", self._store.try_again, TRY_AGAIN_S)
            repeat("store-budgets", self._judge_others, LOOK_EVERY_S)
            repeat("store-mover", self._shard_mover.step, self._config.move_every_s)

    def scrub_now(self) -> None:
        """Read all that lies on the disk at once, at a bounded pace; asked again meanwhile, it goes on as it is."""
        if self._store.scrub.ask(self._clock().wall):
            self._scrub_asked.set()

    def have_same_owners(self, keys: Sequence[Key]) -> bool:
        """Tell whether records at these places go to the same owners now, each of whom takes them in one message."""
        return self._writer.have_same_owners(keys)

    async def write(self, drafts: Sequence[Draft], *, is_patient: bool = True) -> None:
        """Sign drafts and return when each has min(min_acks, r_eff) durable copies with its owners.

        Waits while too much is under way. Raises BadDraft, or TooFewCopies (a RemoteError) after a deadline; where the
        caller is not patient, as soon as too few nodes live.
        """
        await self._writer.write(drafts, is_patient=is_patient)

    def refusal(self, draft: Draft) -> str:
        """Say why nobody would keep a draft, "" where others may."""
        return self._check.refusal(draft)

    def check_import_right(self) -> None:
        """Raise NotImporter where this node may not write pages that nobody fetched here."""
        self._drafts.check_import_right()

    async def read(self, kind: Kind, id: DocumentId, key: Key, *, content: bool) -> Record | None:
        """Return the record from this node or a ready replica, verified; None where there is none or nobody answers."""
        return (await self.read_many([(kind, id, key)], content=content)).get((kind, id))

    async def read_many(self, wanted: Wants, *, content: bool = False) -> Records:
        """Return those of many records that exist, batched per peer; by default without their contents."""
        return (await self.read_sure(wanted, content=content))[0]

    async def read_sure(self, wanted: Wants, *, content: bool = False) -> tuple[Records, frozenset[Name]]:
        """Return those of many records that exist, and the names of those of which nobody said whether they do."""
        return await self._reader.read_sure(wanted, content=content)

    async def list_range(self, first: Key, last: Key) -> RangePart:
        """Name what the ready owners of a slot have in the first part of a key range of it. Raises NoReadyOwner."""
        return await self._lister.part(first, last)

    def moved(self, site: str) -> None:
        """Have the records of a site moved to its places, which may be others than they were."""
        self._shard_mover.expect_strays(site)

    def ready_slots(self) -> frozenset[Slot]:
        """Return the slots that this node holds reconciled, whether it owns them or has yet to hand them over."""
        return self._repair.ready

    @property
    def possession(self) -> PossessionAudit:
        """The audit of other owners: which records they showed, and what they say of this node."""
        return self._checks.audit

    def without_room(self) -> Mapping[NodeId, tuple[float, str]]:
        """Return the peers that count as full here, whatever they say, with when (Unix seconds) and why. Within a day
        their disks took nothing, or they did not show records that they should have."""
        figures = self._checks.audit.figures()
        found = {peer: (each.last_failed_at, SHOWED_NOTHING) for peer, each in figures.items()}
        found |= {peer: (at, TOOK_NOTHING) for peer, at in self._sender.took_nothing.items()}
        since = self._clock().wall - ROOMLESS_S
        return {peer: each for peer, each in found.items() if each[0] > since}

    async def _judge_others(self) -> None:
        await self.budgets.step()
        self._overlay.view.count_as_full(frozenset(self.without_room()))

    def level_at(self) -> Mapping[Slot, int]:
        """Return for each ready slot the number of the store's last change when it became ready. A reader that has
        followed the log so far has all its records. The same object until that changes."""
        return self._repair.announced.level_at

    def compared(self) -> frozenset[NodeId]:
        """Return the live members with which this node has compared all slots that both own. Comparisons count since
        its start, or since it last may have missed something."""
        return self._repair.compared()

    def slot_states(self, slots: Sequence[Slot]) -> list[SlotState]:
        """Return what lies here in each of these slots."""
        bits = self._overlay.view.strategy.slot_bits
        return [self._server.state(slot, bits) for slot in slots]

    @property
    def owed_now(self) -> int:
        """How many copies are still to be delivered to live peers."""
        view = self._overlay.view
        return sum(count for peer, count in self._handoff.counts().items() if view.is_live(peer))

    @property
    def given_up(self) -> int:
        """How many slots of new owners went within a day, before their time, because room ran short."""
        return self._repair.given_up

    def status(self) -> ReplicatorStatus:
        """Return the figures of this moment."""
        view, counts = self._overlay.view, Counter(self._handoff.counts())
        owned = view.owned()
        thin = sum(not set(view.owners(s)).issubset(view.ready(s)) for s in owned)
        return ReplicatorStatus(
            owned=len(owned),
            ready=len(self._repair.ready),
            waiting=self._repair.waiting,
            handing_over=self._repair.handing_over,
            under_replicated=thin,
            copies=self._repair.copies(),
            owed=counts.total(),
            owed_now=self.owed_now,
            writing_bytes=self._writer.held_bytes,
        )

    async def _repeat(self, job: Callable[[], Awaitable[None]], pause_s: float) -> None:
        """Do something again and again, also after this machine refused it."""
        while True:
            try:
                await job()
            except MachineRefuses as error:
                log.debug("not done now, tried again later job=%s reason=%s", job.__qualname__, error)
            await asyncio.sleep(pause_s)

    async def _sweep(self) -> None:
        """Forget, once a day, the grants that neither a record here nor one that is owed names."""
        if self._swept_on != self._store.today:
            self._swept_on = self._store.today
            await self._store.grants.sweep(int(self._clock().wall - self._config.outbox_hours * 3600) - 86_400)

    async def _scrub(self) -> None:
        period_s = period_of(self._overlay.view.node_id)
        while True:
            try:
                rest_s = await self._store.scrub.step(period_s, self._clock().wall)
            except MachineRefuses as error:
                rest_s = TRY_AGAIN_S
                log.debug("store not read through reason=%s", error)
            await asyncio.sleep(SHORTEST_REST_S)  # whoever asks again and again does not hurry it
            with suppress(TimeoutError):
                async with asyncio.timeout(rest_s - SHORTEST_REST_S):
                    await self._scrub_asked.wait()
            self._scrub_asked.clear()

    async def _tend(self) -> None:
        await self._store.upkeep.expire(self._store.today)
        await self._store.upkeep.thin_versions(self._store.today)
        await self._handoff.strike_denied()
        await self._sweep()
        await self._store.upkeep.compact()
