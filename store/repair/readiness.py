"""Which slots this node may answer for, and with which peers it must compare itself to become or stay ready.

Pure: decisions only; `ReplicaRepair` looks, carries them out and reports back. *Ready* means: written to, and compared
since it last was not. A gained slot is not ready until it was reconciled once with every live peer that announces it
ready. Where nobody does, that is every live owner; a node that is alone is ready at once. A starting node that expects
others waits to hear of them. For a while it serves a slot that it thought ready, beside another holder, only if it was
compared with one that still serves.

A gap (this node stood still, or no other owner lived) ends readiness wherever somebody else is ready. Where nobody is,
the slot is served on, and compared anew.
A node that the others left alone gives way later than one that slept. So when they meet again, one of them serves.

A lost slot is served, and written to, until two of its live owners are ready and have everything that lies here
(`former_slots.py` says when it leaves the disk). It is served once more while no owner lives. A stand-in for silent
owners takes records that are written meanwhile, and is ready only if it had the slot before. It hands those records
over when the owners are back, so owners that sleep at night move no data. A keeper also copies what was there before,
because copies are few. It is ready once compared, as an owner is.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from math import inf

from dht import NodeId, Slot, resize_inside
from store.config import StoreConfig
from store.repair.former_slots import FormerSlots

FAILURES = 3  # sessions with a peer that fail in a row before its share may be done without it
MAX_FAILING = 1024  # peers of which that is counted; the one that failed longest ago gives way
GAP_S = 10.0  # after so long without a step, or without another owner, something may have been missed
GIVE_WAY_S = 5.0  # a node left alone serves on beside others so long: if they slept they have given way by then
SERVING_LEAST = 2  # live owners that have everything before a former owner serves no more


class SyncPurpose(Enum):
    """Why a session is held; it decides which way records go."""

    JOIN = "join"  # both ways, until the slot is ready
    CHECK = "check"  # both ways, now and then
    KEEP = "keep"  # both ways, until a keeper has the slot
    HANDOFF = "handoff"  # only from here: the slot is theirs now


@dataclass(frozen=True, slots=True)
class SyncJob:
    """A session to hold: some slots are compared with a peer."""

    peer: NodeId
    purpose: SyncPurpose
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class SlotReplicas:
    """The other holders of a slot, as the view shows them now; `ready` are live and announce it."""

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

    def refresh(self, now: float, members: tuple[NodeId, ...], live_others: int, *, is_apart: bool = False) -> bool:
        """Tell whether the node may start: for good once somebody is live and all is quiet, or nobody came in time.
        A node that is apart may not, however long nobody comes."""
        if is_apart:
            self._started_at = now
        if members != self._members:
            self._members, self._quiet_since = members, now
        settled = live_others > 0 and now - self._quiet_since >= self._config.view_settle_s
        patience_s = self._config.join_wait_s * (2 if live_others else 1)
        self.is_open = self.is_open or (not is_apart and (settled or now - self._started_at >= patience_s))
        return self.is_open


class Readiness:
    """Tracks the slots of this node, and how far each has come."""

    def __init__(self, config: StoreConfig, me: NodeId, started_at: float) -> None:
        self._config, self._me = config, me
        self._doubt_until = started_at + config.start_window_s
        self.owned = self._standing_in = frozenset[Slot]()
        self.ready: set[Slot] = set()
        self.former = FormerSlots(config.handoff_settle_s)
        self.keeping: Mapping[Slot, int] = {}  # slots of silent owners to be copied, or copied, and how many copies are
        self._met: dict[Slot, set[NodeId]] = {}  # reconciled with, since the slot was gained or had its last gap
        self._interrupted: set[Slot] = set()  # ready, and not compared since the last gap
        self._left_alone: dict[Slot, float] = {}  # of these, and when this node, awake all along, gives way
        self._alone: dict[Slot, float] = {}  # no other sticky owner lives, and since when
        self._failures: dict[NodeId, int] = {}
        self._checks: dict[NodeId, set[Slot]] = {}  # to be compared soon

    def owns(
        self, owned: frozenset[Slot], occupied: Iterable[Slot], standing_in: frozenset[Slot] = frozenset()
    ) -> None:
        """Take note of what the view says is ours; `occupied`: slots in which records lie. In those where this node
        only stands in for silent owners it takes what is written, and asks for nothing that was there before."""
        for slot in (owned - self.owned) | standing_in:
            self.former.held.discard(slot)
            self.former.keep(slot)
        for slot in owned - self.owned:
            self._met[slot] = set()
        self.former.held |= (set(occupied) | self.ready) - owned - standing_in
        self.former.whole -= owned
        self.owned, self._standing_in = owned, standing_in

    def keep(self, slots: Mapping[Slot, int]) -> None:
        """Take note of the slots in which this node stands in and is to hold all, and how many copies each has."""
        for slot in slots.keys() - self.keeping.keys() - self.ready:
            self._met[slot] = set()
        self.keeping = slots

    def took(self, slot: Slot) -> None:
        """Take note that a copy is left here for owners who do not answer: the slot does not go before they have it."""
        self.former.keep(slot)

    def alone(self, now: float, slots: Iterable[Slot]) -> None:
        """Take note of the slots of which this node hears no other owner, though there are some."""
        self._alone = {slot: self._alone.get(slot, now) for slot in slots}

    def interrupted(self, slots: Iterable[Slot]) -> None:
        """Take note that this node may have missed something in these slots: what it was compared with is void."""
        for slot in slots:
            self._met[slot] = set()
            if slot in self.ready:
                self._interrupted.add(slot)
                self._left_alone.pop(slot, None)

    def stood_still(self) -> None:
        """Take note that this node did nothing for a while, which it learns only now."""
        self.interrupted(self.owned | self.ready)

    def update(self, now: float, replicas_of: ReplicasOf) -> None:
        """Recompute which slots are ready; those ready for long are passed over, so a settled node does nothing."""
        left_alone = {s for s, since in self._alone.items() if now - since >= GAP_S} & self.ready - self._interrupted
        self.interrupted(left_alone)
        self._left_alone |= dict.fromkeys(left_alone, inf)
        is_young = now < self._doubt_until
        doubtful = self.ready if is_young else self._interrupted
        for slot in sorted((self.owned - self.ready) | (self.owned & doubtful)):
            self._judge(now, slot, replicas_of(slot), is_young=is_young)
        for slot in sorted(self.keeping.keys() - self.ready - self.owned):
            replicas = replicas_of(slot)
            if replicas.ready and not self._missing(slot, replicas):
                self.ready.add(slot)
                self.former.copied.add(slot)
        for slot in sorted(self._interrupted - self.owned):
            if set((replicas := replicas_of(slot)).ready) & set(replicas.owners):
                self._withdraw(slot)
        for slot in sorted(self.former.whole - self.ready - self.owned):
            replicas = replicas_of(slot)
            has_news = slot in self._standing_in or not replicas.ready
            if has_news and not set(replicas.owners) & set(replicas.live_owners):
                self.former.keep(slot)
                self.ready.add(slot)
                self._interrupted.add(slot)
        for slot in self.former.to_hand_over():
            replicas, handed = replicas_of(slot), self.former.handed(slot)
            live = set(replicas.owners) & set(replicas.live_owners)
            is_with_all = bool(replicas.owners) and set(replicas.owners) <= handed
            if is_with_all or (live and len(live & handed & set(replicas.ready)) >= min(SERVING_LEAST, len(live))):
                self.former.whole |= {slot} & self.ready
                self._withdraw(slot)
            if is_with_all:
                self.former.let_go(now, slot)

    def jobs(
        self,
        replicas_of: ReplicasOf,
        choose: Callable[[Sequence[NodeId]], NodeId],
        busy: set[NodeId],
        under_way: Collection[Slot] = (),
    ) -> list[SyncJob]:
        """Return the sessions to hold now, at most one a peer, none with a busy one; `choose` picks one of several.

        `under_way`: slots that change hands just now. They count in the bound, and no other peer is asked for them."""
        room = self._config.handover_slots - len(under_way)
        chosen: dict[NodeId, SyncJob] = {}
        wishes = self._wishes(replicas_of, choose, busy, frozenset(under_way))
        for (peer, purpose), slots in wishes.items():  # join before keep before handoff before check
            most = self._config.reconcile_slots
            if purpose != SyncPurpose.CHECK and peer not in chosen:
                most = min(most, room)
                room -= min(most, len(slots))
            if most > 0:
                chosen.setdefault(peer, SyncJob(peer, purpose, tuple(slots[:most])))
        return list(chosen.values())

    def _wishes(
        self,
        replicas_of: ReplicasOf,
        choose: Callable[[Sequence[NodeId]], NodeId],
        busy: set[NodeId],
        under_way: frozenset[Slot],
    ) -> dict[tuple[NodeId, SyncPurpose], list[Slot]]:
        """All that is to be compared, by peer and purpose, the most urgent first."""
        wishes: dict[tuple[NodeId, SyncPurpose], list[Slot]] = {}
        for slot in sorted(((self.owned - self.ready) | (self._interrupted & self.owned)) - under_way):
            if peers := [p for p in self._missing(slot, replicas_of(slot)) if p not in busy]:
                wishes.setdefault((choose(peers), SyncPurpose.JOIN), []).append(slot)
        kept = self.keeping.keys() - self.ready - self.owned - under_way
        for slot in sorted(kept, key=lambda s: (self.keeping[s], s)):
            replicas = replicas_of(slot)
            if replicas.ready and (peers := [p for p in self._missing(slot, replicas) if p not in busy]):
                wishes.setdefault((choose(peers), SyncPurpose.KEEP), []).append(slot)
        for slot in self.former.to_hand_over():
            replicas, handed = replicas_of(slot), self.former.handed(slot)
            if peers := [p for p in replicas.owners if p in replicas.ready and p not in {*handed, *busy}]:
                wishes.setdefault((peers[0], SyncPurpose.HANDOFF), []).append(slot)
        for peer in sorted(self._checks.keys() - busy):
            if slots := sorted(self._checks[peer] & self.ready & (self.owned | self.keeping.keys())):
                wishes[peer, SyncPurpose.CHECK] = slots
            else:
                self._checked(peer, self._checks[peer])
        return wishes

    def has_met(self, peer: NodeId, slots: Iterable[Slot]) -> bool:
        """Tell whether these slots were compared with a peer, and nothing was missed since."""
        return all(peer in self._met.get(slot, ()) for slot in slots)

    def check(self, peer: NodeId, slots: Iterable[Slot]) -> None:
        """Take note that slots are to be compared with a peer soon."""
        if found := set(slots) & (self.owned | self.keeping.keys()):
            self._checks.setdefault(peer, set()).update(found)

    def done(self, job: SyncJob, slots: Iterable[Slot]) -> None:
        """Take note that a session ended well for these of its slots."""
        self._failures.pop(job.peer, None)
        for slot in slots:
            if job.purpose == SyncPurpose.HANDOFF:
                self.former.hand(slot, job.peer)
            elif slot in self.owned or slot in self.keeping:
                self._met.setdefault(slot, set()).add(job.peer)
        if job.purpose != SyncPurpose.HANDOFF:
            self._checked(job.peer, job.slots)

    def failed(self, job: SyncJob) -> int:
        """Take note that a session failed, and return how many did in a row with this peer."""
        failures = self._failures.pop(job.peer, 0) + 1
        self._failures[job.peer] = failures
        if len(self._failures) > MAX_FAILING:
            del self._failures[next(iter(self._failures))]
        if job.purpose == SyncPurpose.CHECK:
            self._checked(job.peer, job.slots)  # the next round of checks finds it again
        return failures

    def _checked(self, peer: NodeId, slots: Iterable[Slot]) -> None:
        if left := self._checks.pop(peer, set()).difference(slots):
            self._checks[peer] = left

    def incomplete(self, slot: Slot, replicas_of: ReplicasOf) -> None:
        """Take note that this node refused a record of the slot: it is not ready any more, unless nobody else is."""
        if slot in self.ready:
            self.interrupted([slot])
            if replicas_of(slot).ready:
                self._withdraw(slot)

    def to_show(self, now: float, replicas_of: ReplicasOf) -> dict[NodeId, list[Slot]]:
        """Return the owners that say to have everything of former slots, and have yet to show it."""
        asked: dict[NodeId, list[Slot]] = {}
        for slot in self.former.to_show(now):
            for peer in replicas_of(slot).owners:
                if not self.former.has_shown(slot, [peer]):
                    asked.setdefault(peer, []).append(slot)
        return asked

    def gone(
        self, now: float, replicas_of: ReplicasOf, is_known: Callable[[NodeId], bool], is_short: Callable[[], str]
    ) -> list[Slot]:
        """Return the former slots that may leave the disk: all owners have shown their copies, for long enough."""
        shown = [(slot, replicas_of(slot).owners) for slot in self.former.shown()]
        short, may_go = bool(shown and is_short()), self.former.may_go
        return [s for s, who in shown if may_go(now, s, who, is_known=any(map(is_known, who)), is_short=short)]

    def dropped(self, slot: Slot) -> None:
        """Take note that a former slot left the disk."""
        self.former.dropped(slot)
        self._met.pop(slot, None)

    def resize(self, old_bits: int, new_bits: int) -> None:
        """Renumber the slots: slot_bits changed, and what is known of a slot is known of its parts. Where a fork
        joins slots, one is ready where all of it was, and the rest is found out anew."""

        def parts(slots: Set[Slot]) -> frozenset[Slot]:
            return resize_inside(slots, old_bits, new_bits)

        self.owned, self.ready = parts(self.owned), set(parts(self.ready))
        self._interrupted, self.keeping, self._standing_in = set(parts(self._interrupted)), {}, frozenset()
        self._left_alone = {part: at for slot, at in self._left_alone.items() for part in parts({slot})}
        self._alone = {part: since for slot, since in self._alone.items() for part in parts({slot})}
        self._met = {part: set(met) for slot, met in self._met.items() for part in parts({slot})}
        self._checks = {peer: set(parts(slots)) for peer, slots in self._checks.items()}
        self.former.resize(old_bits, new_bits)

    def _judge(self, now: float, slot: Slot, replicas: SlotReplicas, *, is_young: bool) -> None:
        """Decide whether an own slot is ready, and whether anybody confirms it."""
        if self._missing(slot, replicas):
            if slot in self.ready and not self._met[slot].isdisjoint(replicas.ready):
                self._interrupted.add(slot)  # it has all that another has who serves: served on, and compared
            elif is_young or slot not in self._interrupted or not self._goes_on(now, slot, replicas):
                self._withdraw(slot)
            return
        self.ready.add(slot)
        is_compared = bool(self._met[slot]) and slot not in self._alone
        if is_compared or set(replicas.owners) <= {self._me}:
            self._confirm(slot)
        else:
            self._interrupted.add(slot)

    def _goes_on(self, now: float, slot: Slot, replicas: SlotReplicas) -> bool:
        """Return whether this node serves a slot with a gap until the slot is compared. It does so in three cases:
        - no other node is ready;
        - the only other ready one is a later owner, which may have the same gap;
        - this node was left alone, and the others are back for less than GIVE_WAY_S."""
        if slot in self._left_alone and replicas.ready:
            self._left_alone[slot] = min(self._left_alone[slot], now + GIVE_WAY_S)
        if not replicas.ready or now < self._left_alone.get(slot, now):
            return True
        if len(replicas.ready) != 1 or replicas.ready[0] not in replicas.owners:
            return False
        return replicas.owners.index(self._me) < replicas.owners.index(replicas.ready[0])

    def _withdraw(self, slot: Slot) -> None:
        self.ready.discard(slot)
        self._confirm(slot)

    def _confirm(self, slot: Slot) -> None:
        """Forget that a slot is served with a gap."""
        self._interrupted.discard(slot)
        self._left_alone.pop(slot, None)

    def _missing(self, slot: Slot, replicas: SlotReplicas) -> list[NodeId]:
        """Peers without whom the slot is not ready; one that keeps failing is done without if another one sufficed."""
        met = self._met.setdefault(slot, set())
        targets = replicas.ready or replicas.live_owners
        missing = [p for p in targets if p not in met]
        if met & set(targets) and all(self._failures.get(p, 0) >= FAILURES for p in missing):
            return []
        return missing
