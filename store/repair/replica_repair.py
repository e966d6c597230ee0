"""Looks after the slots of this node: becomes ready, compares, hands over.

Each look is short: note what the view says, let the pure `Readiness` decide, start the sessions it wishes for. Sessions
run beside each other, a bounded number at once; when one ends the next look follows at once.
"""

import asyncio
import logging
import math
import random
from collections.abc import Iterable, Sequence, Set
from functools import partial

from dht import MachineRefuses, NodeId, Overlay, RemoteError, Slot, Topic, resize_inside, slot_of, slot_range
from store.catalog.record_store import RecordStore
from store.errors import BadReplica
from store.repair.announced_slots import AnnouncedSlots
from store.repair.copies_by_need import CopiesByNeed, CopyCounts
from store.repair.peer_sync import PeerSync, Throttle, unthrottled
from store.repair.possession_checks import PossessionChecks
from store.repair.readiness import GAP_S, Readiness, SlotReplicas, StartupGate, SyncJob, SyncPurpose

log = logging.getLogger(__name__)
_FAILED_REST_S = 2.0  # before a peer that failed is tried again, doubled each time up to
_LONGEST_REST_S = 60.0
LAST_ROOM = 0.05  # of the quota: with less, copies of former slots go
VIEWS_AGREE_S = 10.0  # after a change of members everybody writes to the new owners by then; what was missed is fetched


class ReplicaRepair:
    """Keeps this node's slots equal to their other owners', and says which of them are ready."""

    def __init__(
        self,
        store: RecordStore,
        overlay: Overlay,
        sync: PeerSync,
        rng: random.Random,
        checks: PossessionChecks,
        *,
        expects_others: bool,
    ) -> None:
        self._checks, self._showing = checks, set[NodeId]()  # owners that are asked to show former slots just now
        self._store, self._config, self._clock = store, store.config, store.clock
        self._overlay, self._sync, self._rng = overlay, sync, rng
        config, now = store.config, store.clock().steady
        self._gate = StartupGate(config, now, expects_others=expects_others)
        self._readiness = Readiness(config, overlay.view.node_id, now)
        self._needs = CopiesByNeed(overlay.view)
        self._slot_bits = overlay.view.strategy.slot_bits
        self.announced = AnnouncedSlots(overlay.view, store.log)
        self._refilling: set[Slot] = set()  # slots that lost records to the disk, until they are ready again
        self._ours: frozenset[Slot] | None = None  # as the view said last, and what of it is not just for silent owners
        self._owned: frozenset[Slot] = frozenset()
        self._members: tuple[NodeId, ...] = ()
        self._live: frozenset[NodeId] = frozenset()
        self._busy: dict[NodeId, SyncJob] = {}
        self._lacking: dict[NodeId, set[Slot]] = {}  # slots that lost something while they are compared with each peer
        self._throttle = Throttle(config.handover_bytes_s)
        self._rest_until: dict[NodeId, float] = {}
        self._recheck_at, self._denied_at = math.inf, self._store.denial.changed_at
        self._agreed_at = self._looked_at = now  # from then on all number their slots alike; the last look ended
        self._next_check = now + config.reconcile_every_s * rng.random()
        self._stir = asyncio.Event()

    @property
    def ready(self) -> frozenset[Slot]:
        """The slots this node answers for, its own and those it has yet to hand over."""
        return self.announced.slots

    def is_ready(self, key: bytes) -> bool:
        """Tell whether this node answers for the slot of a key."""
        if self._store.is_unreadable(key):
            return False
        return slot_of(key, self._overlay.view.strategy.slot_bits) in self.ready

    def compared(self) -> frozenset[NodeId]:
        """Return the live members with whom all that they own, too, has been compared."""
        return frozenset(p for p in self._live if self._readiness.has_met(p, self._shared(p)))

    @property
    def waiting(self) -> int:
        """How many own slots are not ready yet."""
        return len(self._readiness.owned - self.announced.slots)

    @property
    def handing_over(self) -> int:
        """How many slots lie here and belong to others."""
        return len(self._readiness.former.held)

    @property
    def given_up(self) -> int:
        """How many slots of others went within a day, before their time, because room ran short."""
        return self._readiness.former.given_up(self._clock().steady)

    def is_frozen(self, key: bytes) -> bool:
        """Tell whether what lies here of the slot of a key stays as it is until it goes: all its owners have it."""
        return self._readiness.former.is_let_go(slot_of(key, self._slot_bits))

    def compare(self, peer: NodeId, slots: Set[Slot]) -> None:
        """Have own slots compared with a peer at once, because its copies or ours seem to lack something."""
        self.compare_soon(peer, slots)
        self._stir.set()

    def compare_soon(self, peer: NodeId, slots: Iterable[Slot]) -> None:
        """Have own slots compared with a peer at the next look."""
        self._readiness.check(peer, slots)

    def copies(self) -> CopyCounts:
        """Return how many live copies the own slots have, and what this node keeps of others'."""
        return self._needs.counts(self._clock().steady, self._readiness.ready)

    def left_here(self, slots: Set[Slot]) -> None:
        """Take note that copies are about to be left here for the owners of these slots."""
        for slot in slots:
            self._readiness.took(slot)

    def not_kept(self, slot: Slot, peer: NodeId) -> None:
        """Take note that an owner, this node or a peer, lacks a copy of which the hinted hand-off does not know."""
        if peer == self._overlay.view.node_id:
            self.incomplete(slot)
        elif slot in self._readiness.owned:
            self._readiness.check(peer, [slot])
        else:
            self._readiness.former.held.add(slot)

    def incomplete(self, slot: Slot) -> None:
        """Take note that a record of the slot could not be kept here: what it is compared with just now does not
        count."""
        for peer in self._busy:
            self._lacking.setdefault(peer, set()).add(slot)
        self._readiness.incomplete(slot, self._replicas_of)
        self.announced.announce(self._readiness.ready)

    async def run(self) -> None:
        """Look after the slots for ever."""
        self._busy.clear()
        self._showing.clear()
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._stir.clear()
                for job in await self._plan():
                    self._busy[job.peer] = job
                    tasks.create_task(self._hold(job), name=f"store-{job.purpose.value}")
                for peer, slots in self._to_show():
                    self._showing.add(peer)
                    tasks.create_task(self._have_shown(peer, slots), name="store-show")
                try:
                    async with asyncio.timeout(self._config.step_s):
                        await self._stir.wait()
                except TimeoutError:
                    continue

    async def _plan(self) -> list[SyncJob]:
        """The sessions to start, none while this machine refuses to say what lies here."""
        try:
            return await self._plan_sessions()
        except MachineRefuses as error:
            log.debug("no sessions planned reason=%s", error)
            return []

    async def _plan_sessions(self) -> list[SyncJob]:
        """One look at the view; returns the sessions to start."""
        now, view, readiness = self._clock().steady, self._overlay.view, self._readiness
        if now - self._looked_at >= GAP_S and readiness.ready:
            readiness.stood_still()
            self._needs.stood_still(now, now - self._looked_at)
            log.info("slots are compared anew because this node stood still seconds=%.0f", now - self._looked_at)
        self._looked_at = now
        members = view.members()
        live = view.live().intersection(members) - {view.node_id}
        if not self._gate.refresh(now, members, len(live), is_apart=bool(view.why_apart())):
            return []
        if view.strategy.slot_bits != self._slot_bits:
            self._resize(now, view.strategy.slot_bits)
        self._notice(now, members, live)
        await self._notice_damage()
        readiness.update(now, self._replicas_of)
        self.announced.announce(self._readiness.ready)
        while gone := self._gone(now):  # anew each time: a copy may be left here meanwhile
            await self._store.drop_range(*slot_range(gone[0], self._slot_bits))
            readiness.dropped(gone[0])
            self._looked_at = self._clock().steady
        self._rest_until = {peer: until for peer, until in self._rest_until.items() if until > now}
        away = self._rest_until.keys() | (set(members) - live)
        room = self._config.reconcile_parallel - len(self._busy)
        if room <= 0 or now < self._agreed_at:
            return []
        under_way = [s for job in self._busy.values() if job.purpose != SyncPurpose.CHECK for s in job.slots]
        return readiness.jobs(self._replicas_of, self._rng.choice, self._busy.keys() | away, under_way)[:room]

    def _resize(self, now: float, slot_bits: int) -> None:
        """Continue with 2**`slot_bits` slots after the network has changed their number. Nodes with the earlier number
        may have written to former owners until just now. So all slots are compared again after VIEWS_AGREE_S."""
        old_bits, self._slot_bits = self._slot_bits, slot_bits
        self._readiness.resize(old_bits, slot_bits)
        self._needs.renumbered()
        self._refilling = set(resize_inside(self._refilling, old_bits, slot_bits))
        self.announced.renumber(slot_bits)
        self._agreed_at = self._recheck_at = now + VIEWS_AGREE_S
        log.info("slots renumbered slot_bits=%d before=%d", slot_bits, old_bits)

    def _notice(self, now: float, members: tuple[NodeId, ...], live: frozenset[NodeId]) -> None:
        """Take in changes of ownership and of who is there, and ask for the comparisons that follow from them.

        A node may have stood in for a shorter time than lies between two looks. So all slots that lie here are looked
        at again whenever a member came or went, and with every round of checks. So they are when the strategy denies
        something else: what it allows again may have been erased here and not there.
        """
        readiness, ours = self._readiness, self._overlay.view.owned()
        if ours is not self._ours or members != self._members:
            self._ours, self._owned = ours, frozenset(s for s in ours if self._is_owner(s))
        owned = self._owned
        if owned != readiness.owned or members != self._members or live != self._live or now >= self._next_check:
            here, kept = map(Slot, self._store.occupied(self._slot_bits)), self._needs.kept_for_doubted
            standing_in = ours | self._overlay.view.kept() | kept
            readiness.owns(owned, here, standing_in - owned)
            readiness.alone(now, [s for s in sorted(owned | readiness.ready) if self._is_alone(s, live)])
        if (needs := self._needs.refresh(now, members, live, owned, self._checks.audit.doubted(now))) is not None:
            readiness.keep(needs)
        if members != self._members or self._denied_at != self._store.denial.changed_at:
            self._recheck_at = now + VIEWS_AGREE_S
        is_agreed = now >= self._recheck_at
        for peer in sorted(live if is_agreed else live - self._live):
            readiness.check(peer, self._shared(peer))
        self._recheck_at = math.inf if is_agreed else self._recheck_at
        self._level_after(self._live - live, live)
        self._members, self._live, self._denied_at = members, live, self._store.denial.changed_at
        if now >= self._next_check:
            self._next_check = now + self._config.reconcile_every_s * (0.9 + 0.2 * self._rng.random())
            for slot in sorted((readiness.owned | readiness.keeping.keys()) & readiness.ready):
                if others := [p for p in self._overlay.view.owners(slot) if p in live]:
                    readiness.check(self._rng.choice(others), [slot])

    async def _notice_damage(self) -> None:
        """Have slots that lost records to the disk compared with their owners before they count as ready again."""
        lost = await self._store.upkeep.judge_unreadable(self._store.today)
        for slot in sorted({slot_of(key, self._slot_bits) for key in lost}):
            self.incomplete(slot)
            if slot not in self._readiness.ready:
                self._refilling.add(slot)
        for slot in sorted(self._refilling & self._readiness.ready):
            self._refilling.discard(slot)
            self._store.settle_unreadable(*slot_range(slot, self._slot_bits))

    def _level_after(self, dead: frozenset[NodeId], live: frozenset[NodeId]) -> None:
        """Have each pair of survivors compare a dead peer's slots once.

        Its last writes reached some owners, perhaps, and nobody owes them to the others. After the comparison the next
        crawler of a slot knows all that was recorded.
        """
        me = self._overlay.view.node_id
        for slot in sorted({slot for peer in dead for slot in self._shared(peer)}):
            for other in self._overlay.view.owners(slot):
                if other in live and other > me:
                    self._readiness.check(other, [slot])

    def _is_alone(self, slot: Slot, live: frozenset[NodeId]) -> bool:
        """Whether a slot has other owners, and none of them lives."""
        others = set(self._overlay.view.owners(slot)) - {self._overlay.view.node_id}
        return bool(others) and not others & live

    def _is_owner(self, slot: Slot) -> bool:
        return self._overlay.view.node_id in self._overlay.view.owners(slot)

    def _gone(self, now: float) -> list[Slot]:
        """Former slots that may leave the disk now. A node that leaves for good waits for nobody's age."""
        view = self._overlay.view
        is_known = (lambda _: True) if view.is_leaving else view.is_known_for_a_day
        is_short = partial(self._store.no_room, int(LAST_ROOM * self._store.room.quota_bytes))
        return self._readiness.gone(now, self._replicas_of, is_known, is_short)

    def _shared(self, peer: NodeId) -> list[Slot]:
        """Own slots that a peer owns too."""
        return [s for s in sorted(self._readiness.owned) if peer in self._overlay.view.owners(s)]

    async def _hold(self, job: SyncJob) -> None:
        """Hold one session and report how it went."""
        slot_bits, is_check = self._slot_bits, job.purpose == SyncPurpose.CHECK
        pacing = unthrottled if is_check else partial(self._rest, self._needs.share(job.slots))
        try:
            pull = job.purpose != SyncPurpose.HANDOFF
            push = {s for s in job.slots if self._is_given(job, self._replicas_of(s))}
            done = await self._sync.reconcile(job.peer, job.slots, slot_bits, pull=pull, push=push, pacing=pacing)
            if slot_bits == self._slot_bits:  # else nobody knows these numbers any more: the parts are compared anew
                self._readiness.done(job, done.level - self._lacking.get(job.peer, set()))
            self._rest_until.pop(job.peer, None)
            if not done.level:
                self._rest_until[job.peer] = self._clock().steady + self._config.step_s
            if done.pulled or done.pushed:
                what = (job.purpose.value, job.peer.hex(), len(job.slots), done.pulled, done.pushed)
                log.info("slots reconciled purpose=%s peer=%s slots=%d pulled=%d pushed=%d", *what)
        except RemoteError as error:
            failures = self._readiness.failed(job)
            rest_s = min(_LONGEST_REST_S, _FAILED_REST_S * 2 ** min(failures - 1, 10))
            self._rest_until[job.peer] = self._clock().steady + rest_s
            log.info("slots not reconciled purpose=%s peer=%s reason=%s", job.purpose.value, job.peer.hex(), error)
            if isinstance(error, BadReplica):  # what it gives does not prove itself
                self._checks.peers.refute(job.peer, Topic.RECORDS, str(error))
        except MachineRefuses as error:
            self._rest_until[job.peer] = self._clock().steady + _LONGEST_REST_S
            log.debug("slots not reconciled peer=%s reason=%s", job.peer.hex(), error)
        finally:
            self._busy.pop(job.peer, None)
            self._lacking.pop(job.peer, None)
            self._stir.set()

    def _to_show(self) -> list[tuple[NodeId, list[Slot]]]:
        """Live owners that have yet to show their copies of former slots, and are not asked just now."""
        found, is_live = self._readiness.to_show(self._clock().steady, self._replicas_of), self._overlay.view.is_live
        return [(p, slots) for p, slots in found.items() if p not in self._showing and is_live(p)]

    async def _have_shown(self, peer: NodeId, slots: Sequence[Slot]) -> None:
        """Have an owner show its copies of former slots, some records of each."""
        slot_bits = self._slot_bits
        try:
            for slot in slots:
                is_shown = await self._checks.shows(peer, slot, slot_bits)
                now = self._clock().steady
                if slot_bits != self._slot_bits:
                    return
                if is_shown:
                    self._readiness.former.showed(now, peer, slot, self._replicas_of(slot).owners)
                else:
                    self._readiness.former.not_shown(now, peer, slot, is_missing=is_shown is False)
        except MachineRefuses as error:
            log.debug("former slots not shown peer=%s reason=%s", peer.hex(), error)
        finally:
            self._showing.discard(peer)
            self._stir.set()

    def _is_given(self, job: SyncJob, replicas: SlotReplicas) -> bool:
        """Whether a peer gets what it lacks of a slot: one that answers for it, or owns it. A check leaves an
        owner that becomes ready to fetch at its own pace. Nobody gives a stand-in what was there before."""
        is_owner = job.purpose != SyncPurpose.CHECK and job.peer in replicas.owners
        return is_owner or job.peer in replicas.ready

    async def _rest(self, share: float, moved_bytes: int) -> None:
        """Sleep after `moved_bytes` were moved, so that transfers of slots that change hands stay below `share` (0 … 1)
        of the configured rate."""
        await asyncio.sleep(self._throttle.delay_s(self._clock().steady, moved_bytes, share))

    def _replicas_of(self, slot: Slot) -> SlotReplicas:
        view = self._overlay.view
        me = view.node_id
        return SlotReplicas(
            view.owners(slot),
            tuple(p for p in view.live_owners(slot) if p != me),
            tuple(p for p in view.ready(slot) if p != me),
        )
