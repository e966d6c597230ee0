"""Which slots this node may answer for, and whom it must compare itself with to become or stay so.

Pure: decisions only; `ReplicaRepair` looks, carries them out and reports back. A slot that is gained is not ready until
it was reconciled once with every live peer that announces it ready, or where nobody does with every live owner; alone,
at once. A slot that is lost is still served until all its owners are ready and have everything that lies here; then it
is let go. A starting node that expects others first waits to hear of them, and for a while doubts a slot that it
thought ready when another holder shows up.

Who stands in for silent owners is no owner: it takes what is written meanwhile, is ready only if it was before, and
hands over what it took when they are back. Owners that sleep at night thus move no data.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from enum import Enum

from dht import NodeId, Slot, resize_inside
from store.config import StoreConfig

FAILURES = 3  # sessions with a peer that fail in a row before its share may be done without it


class SyncPurpose(Enum):
    """Why a session is held; it decides which way records go."""

    JOIN = "join"  # both ways, until the slot is ready
    CHECK = "check"  # both ways, now and then
    HANDOFF = "handoff"  # only from here: the slot is theirs now


@dataclass(frozen=True, slots=True)
class SyncJob:
    """A session to hold: some slots are compared with a peer."""

    peer: NodeId
    purpose: SyncPurpose
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class SlotReplicas:
    """Who else holds a slot, as the view shows it now; `ready` are live and announce it. This node is left out."""

    owners: tuple[NodeId, ...]
    live_owners: tuple[NodeId, ...]
    ready: tuple[NodeId, ...]


ReplicasOf = Callable[[Slot], SlotReplicas]


class StartupGate:
    """Decides whether a starting node may trust what it sees. `now` is steady time in seconds."""

    def __init__(self, config: StoreConfig, started_at: float, *, expects_others: bool) -> None:
        self._config, self._started_at, self.is_open = config, started_at, not expects_others
        self._members: tuple[NodeId, ...] = ()
        self._quiet_since = started_at

    def refresh(self, now: float, members: tuple[NodeId, ...], live_others: int) -> bool:
        """Tell whether the node may start: for good once somebody is live and all is quiet, or nobody came in time."""
        if members != self._members:
            self._members, self._quiet_since = members, now
        settled = live_others > 0 and now - self._quiet_since >= self._config.view_settle_s
        patience_s = self._config.join_wait_s * (2 if live_others else 1)
        self.is_open = self.is_open or settled or now - self._started_at >= patience_s
        return self.is_open


class Readiness:
    """Tracks the slots of this node, and how far each has come."""

    def __init__(self, config: StoreConfig, started_at: float) -> None:
        self._config = config
        self._doubt_until = started_at + config.start_window_s
        self.owned: frozenset[Slot] = frozenset()
        self.ready: set[Slot] = set()
        self.former: set[Slot] = set()  # held, served perhaps, and to be handed over
        self._met: dict[Slot, set[NodeId]] = {}  # reconciled with, since the slot was last gained
        self._handed: dict[Slot, set[NodeId]] = {}  # owners that have everything that lies here
        self._failures: dict[NodeId, int] = {}
        self._checks: dict[NodeId, set[Slot]] = {}  # to be compared soon
        self._letting_go: dict[Slot, float] = {}  # no longer announced, and since when

    def owns(
        self, owned: frozenset[Slot], occupied: Iterable[Slot], standing_in: frozenset[Slot] = frozenset()
    ) -> None:
        """Take note of what the view says is ours; `occupied`: slots in which records lie. In those where this node
        only stands in for silent owners it takes what is written, and asks for nothing that was there before."""
        for slot in (owned - self.owned) | standing_in:
            self.former.discard(slot)
            self._handed.pop(slot, None)
            self._letting_go.pop(slot, None)
        for slot in owned - self.owned:
            self._met[slot] = set()
        self.former |= (set(occupied) | self.ready) - owned - standing_in
        self.owned = owned

    def update(self, now: float, replicas_of: ReplicasOf) -> None:
        """Recompute which slots are ready; those ready for long are passed over, so a settled node does nothing."""
        doubtful = self.ready & self.owned if now < self._doubt_until else set()
        for slot in sorted((self.owned - self.ready) | doubtful):
            if self._missing(slot, replicas_of(slot)):
                self.ready.discard(slot)
            else:
                self.ready.add(slot)
        for slot in sorted(self.former - self._letting_go.keys()):
            owners = replicas_of(slot).owners
            if owners and set(owners) <= self._handed.get(slot, set()):
                self.ready.discard(slot)
                self._letting_go[slot] = now

    def jobs(
        self,
        replicas_of: ReplicasOf,
        choose: Callable[[Sequence[NodeId]], NodeId],
        busy: set[NodeId],
        under_way: int = 0,
    ) -> list[SyncJob]:
        """Return the sessions to hold now, at most one a peer, none with a busy one; `choose` picks one of several.
        `under_way`: slots that change hands in the sessions of this moment; the bound holds for them and the new ones.
        """
        room = self._config.handover_slots - under_way
        wishes: dict[tuple[NodeId, SyncPurpose], list[Slot]] = {}
        for slot in sorted(self.owned - self.ready):
            if peers := [p for p in self._missing(slot, replicas_of(slot)) if p not in busy]:
                wishes.setdefault((choose(peers), SyncPurpose.JOIN), []).append(slot)
        for slot in sorted(self.former - self._letting_go.keys()):
            replicas, handed = replicas_of(slot), self._handed.get(slot, set())
            if peers := [p for p in replicas.owners if p in replicas.ready and p not in handed and p not in busy]:
                wishes.setdefault((peers[0], SyncPurpose.HANDOFF), []).append(slot)
        for peer in sorted(self._checks.keys() - busy):
            if slots := sorted(self._checks[peer] & self.ready & self.owned):
                wishes.setdefault((peer, SyncPurpose.CHECK), []).extend(slots)
            else:
                del self._checks[peer]
        chosen: dict[NodeId, SyncJob] = {}
        for (peer, purpose), slots in wishes.items():  # join before handoff before check
            most = self._config.reconcile_slots
            if purpose != SyncPurpose.CHECK and peer not in chosen:
                most = min(most, room)
                room -= min(most, len(slots))
            if most > 0:
                chosen.setdefault(peer, SyncJob(peer, purpose, tuple(slots[:most])))
        return list(chosen.values())

    def check(self, peer: NodeId, slots: Iterable[Slot]) -> None:
        """Take note that slots are to be compared with a peer soon."""
        if found := set(slots) & self.owned:
            self._checks.setdefault(peer, set()).update(found)

    def done(self, job: SyncJob, slots: Iterable[Slot]) -> None:
        """Take note that a session ended well for these of its slots."""
        self._failures.pop(job.peer, None)
        for slot in slots:
            if job.purpose == SyncPurpose.HANDOFF:
                self._handed.setdefault(slot, set()).add(job.peer)
            elif slot in self.owned:
                self._met.setdefault(slot, set()).add(job.peer)
        if job.purpose == SyncPurpose.CHECK and job.peer in self._checks:
            self._checks[job.peer] -= set(job.slots)

    def failed(self, job: SyncJob) -> int:
        """Take note that a session failed, and return how many did in a row with this peer."""
        self._failures[job.peer] = self._failures.get(job.peer, 0) + 1
        if job.purpose == SyncPurpose.CHECK and job.peer in self._checks:
            self._checks[job.peer] -= set(job.slots)  # the next round of checks finds it again
        return self._failures[job.peer]

    def incomplete(self, slot: Slot, replicas_of: ReplicasOf) -> None:
        """Take note that this node refused a record of the slot: it is not ready any more, unless nobody else is."""
        if slot in self.ready and slot in self.owned and replicas_of(slot).ready:
            self.ready.discard(slot)
            self._met[slot] = set()

    def gone(self, now: float) -> list[Slot]:
        """Return the former slots that may leave the disk: handed over, and unannounced for long enough."""
        return sorted(s for s, since in self._letting_go.items() if now - since >= self._config.handoff_settle_s)

    def dropped(self, slot: Slot) -> None:
        """Take note that a former slot left the disk."""
        self.former.discard(slot)
        self._handed.pop(slot, None)
        self._letting_go.pop(slot, None)
        self._met.pop(slot, None)

    def resize(self, old_bits: int, new_bits: int) -> None:
        """Renumber the slots: slot_bits changed, and what is known of a slot is known of its parts. Where a fork
        joins slots, one is ready where all of it was, and the rest is found out anew."""

        def parts(slots: Set[Slot]) -> frozenset[Slot]:
            return resize_inside(slots, old_bits, new_bits)

        self.owned, self.ready, self.former = parts(self.owned), set(parts(self.ready)), set(parts(self.former))
        self._met = {part: set(met) for slot, met in self._met.items() for part in parts({slot})}
        self._handed = {part: set(owners) for slot, owners in self._handed.items() for part in parts({slot})}
        self._checks = {peer: set(parts(slots)) for peer, slots in self._checks.items()}
        self._letting_go = {part: since for slot, since in self._letting_go.items() for part in parts({slot})}

    def _missing(self, slot: Slot, replicas: SlotReplicas) -> list[NodeId]:
        """Peers without whom the slot is not ready; one that keeps failing is done without if another one sufficed."""
        met = self._met.setdefault(slot, set())
        targets = replicas.ready or replicas.live_owners
        missing = [p for p in targets if p not in met]
        if met & set(targets) and all(self._failures.get(p, 0) >= FAILURES for p in missing):
            return []
        return missing
