"""Who is in the network and who owns what, as far as this node has heard: the `View` over members and strategy.

Pure, but for the clock that it is given: the members' answers are looked over at most once a second. What follows from
them (placement, live owners, readiness) is computed slot by slot when asked for, and kept until something changes that
concerns it; only the slots of this node's own neighbourhood are gone through when liveness changes there.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from dht.clock import Clock, Now, steady_of
from dht.keys import NodeId, Slot
from dht.membership.table import MemberTable
from dht.ownership.failure_domains import NO_DOMAINS, FailureDomains, domains_of
from dht.ownership.rendezvous import Placement, slots_of
from dht.slot_resize import resize_inside, resize_overlapping
from dht.strategy.document import Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Contact, Endpoint
from dht.wire.heartbeat import Heartbeat, VerifiedHeartbeat

LOOK_S = 1.0

NO_LEASES: Mapping[Slot, int] = MappingProxyType({})


class OverlayView:
    """What this node believes. `own_endpoints` and `held` are asked each time."""

    def __init__(
        self,
        node_id: NodeId,
        members: MemberTable,
        strategies: StrategyHistory,
        clock: Clock,
        own_endpoints: Callable[[], tuple[Endpoint, ...]],
        operator: str = "",
    ) -> None:
        """`operator`: of this node, as it declares."""
        self._node_id = node_id
        self._members = members
        self._strategies = strategies
        self._clock, self._steady = clock, steady_of(clock)
        self._own_endpoints = own_endpoints
        self._operator = operator
        self._own_ready: frozenset[Slot] = frozenset()
        self._held: Callable[[Now], Mapping[Slot, int]] = lambda now: NO_LEASES
        self._is_busy: Callable[[Slot], bool] = lambda slot: False
        self._look_at = self._all_live_until = float("-inf")
        self._told = -1
        self._basis: tuple[object, ...] = ()
        self._strategy = strategies.current(clock())
        self._own_domains = NO_DOMAINS
        self._placement = Placement((), self._strategy.slot_bits, self._strategy.replicas)
        self._formers: tuple[tuple[int, Placement], ...] = ()  # (slot_bits, placement) of numberings until lately
        self._before: tuple[Strategy, ...] = ()
        self._formers_at, self._followed = float("-inf"), self._strategy
        self._live: frozenset[NodeId] = frozenset()
        self._teams: dict[Slot, tuple[NodeId, ...]] = {}  # live owners, as far as asked for
        self._near_basis: object = None
        self._near_teams: Mapping[Slot, tuple[NodeId, ...]] = MappingProxyType({})
        self._owned: frozenset[Slot] = frozenset()
        self._heard: dict[NodeId, VerifiedHeartbeat] = {}  # of the live peers
        self._said: dict[NodeId, _Said] = {}  # what their heartbeats say, in our numbers
        self._said_bits = self._strategy.slot_bits  # our numbers
        self._ready: dict[Slot, tuple[NodeId, ...]] = {}
        self._announced: dict[Slot, list[NodeId]] = {}

    @property
    def node_id(self) -> NodeId:
        return self._node_id

    @property
    def strategy(self) -> Strategy:
        """The strategy in force."""
        self._look()
        return self._strategy

    def formers(self) -> Sequence[Strategy]:
        """The strategies in force until a day ago at most, newest first; the same object until that changes."""
        self._look()
        if self._look_at != self._formers_at or self._strategy is not self._followed:
            self._followed, self._formers_at = self._strategy, self._look_at
            found = self._strategies.formers(self._clock())
            self._before = self._before if found == self._before else found
        return self._before

    def members(self) -> tuple[NodeId, ...]:
        """Peers whose heartbeat is younger than their grace, this node among them if it is a member, sorted."""
        return self._members.members(self._clock())

    def contact(self, peer: NodeId) -> Contact | None:
        """How to reach a peer, or this node."""
        if peer == self._node_id:
            return Contact(peer, self._own_endpoints())
        known = self._members.find(peer)
        return known.opened.contact if known is not None else None

    def is_live(self, peer: NodeId) -> bool:
        """Heard of lately (a near peer within 30 s), and not silent when asked since."""
        self._look()
        return peer in self._live

    def heartbeat(self, peer: NodeId) -> Heartbeat | None:
        """The newest sign of life of a peer; None of this node itself."""
        known = self._members.find(peer)
        return known.opened.heartbeat if known is not None else None

    def refuses(self, peer: NodeId) -> bytes:
        """See `View`."""
        known = self._members.find(peer)
        return known.opened.heartbeat.refuses if known is not None else b""

    def silent_s(self, peer: NodeId) -> float | None:
        """Seconds since that sign of life was sent, by this node's clock."""
        known = self._members.find(peer)
        return max(0.0, self._clock().steady - known.sent_steady) if known is not None else None

    def live(self) -> frozenset[NodeId]:
        """The live peers, and this node; the same object until somebody comes or goes."""
        self._look()
        return self._live

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """The sticky owners, highest weight first."""
        self._look()
        return self._placement.owners(slot)

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        """The members from whom owners and stand-ins come, highest weight first."""
        self._look()
        return self._placement.ranking(slot)

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """The live owners and stand-ins."""
        self._look()
        found = self._teams.get(slot)
        if found is None:
            found = self._teams[slot] = self._placement.live_owners(slot, self._live.__contains__)
        return found

    def teams(self) -> Mapping[Slot, tuple[NodeId, ...]]:
        """`live_owners` of every slot that this node may own, stand in for or vote in, ascending; the same object until
        something changes in it."""
        self._look()
        return self._near_teams

    def owned(self) -> frozenset[Slot]:
        """Slots that this node owns or stands in for."""
        self._look()
        return self._owned

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        """Live candidates, and those of the slot as it was numbered until lately, that announce it as ready, sorted:
        anybody may announce anything."""
        self._look()
        found = self._ready.get(slot)
        if found is None:
            ready = {peer for peer in self._believed(slot) if self.is_ready(peer, slot)}
            found = self._ready[slot] = tuple(sorted(ready))
        return found

    def leases(self) -> Mapping[Slot, int]:
        """Slots that this node may crawl now, with their epochs."""
        return self._held(self._clock())

    # What the leases look up, and what the overlay tells.

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Whether a live peer or this node announces the slot as ready."""
        if peer == self._node_id:
            return slot in self._own_ready
        said = self._said.get(peer)
        return said is not None and slot in said.ready

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        """Live peers whose newest heartbeat says that they hold the slot."""
        self._look()
        return self._announced.get(slot, ())

    def own_ready(self) -> frozenset[Slot]:
        """What this node said last that it is ready for, in the numbers of the strategy in force."""
        self._look()
        return self._own_ready

    def seasoned(self, peers: Iterable[NodeId]) -> tuple[NodeId, ...]:
        """Those of some peers that have been here for as long as the strategy asks of who decides; see ages.py."""
        if not self._strategy.min_age_s:
            return ()
        return self._members.seniority.seasoned(
            peers, self._clock(), self._strategy.min_age_s, self._strategies.began_at
        )

    def say_ready(self, slots: frozenset[Slot]) -> None:
        """This node is ready for these slots, in the numbers of the strategy that the view showed last."""
        for slot in self._own_ready ^ slots:
            self._ready.pop(slot, None)
        self._own_ready = slots

    def is_busy(self, slot: Slot) -> bool:
        """Whether something that this node began under the slot's lease is still going on."""
        return self._is_busy(slot)

    def show_work(self, is_busy: Callable[[Slot], bool]) -> None:
        """Where `is_busy` looks from now on."""
        self._is_busy = is_busy

    def show_leases(self, held: Callable[[Now], Mapping[Slot, int]]) -> None:
        """Where `leases` looks from now on."""
        self._held = held

    def placement(self, strategy: Strategy) -> Placement:
        """Who would own what under a strategy, among the members of this moment: what a change of it would move."""
        blocked = frozenset(strategy.blocked)
        return self._placed([m for m in self.members() if m.hex() not in blocked], strategy)

    def _placed(self, members: Sequence[NodeId], strategy: Strategy) -> Placement:
        return Placement(members, strategy.slot_bits, strategy.replicas, self._domains(members, strategy))

    def _domains(self, members: Sequence[NodeId], strategy: Strategy) -> dict[NodeId, FailureDomains]:
        """What the members' heartbeats, and this node's own words, say about beside whom they keep copies."""
        reach = AddressPolicy(strategy.declared_prefixes)
        found = {self._node_id: domains_of(self._operator, self._own_endpoints(), reach)}
        for member in members:
            known = self._members.find(member)
            if known is not None:
                found[member] = domains_of(known.opened.heartbeat.operator, known.opened.contact.endpoints, reach)
        return found

    def refresh(self) -> None:
        """Look again at once: something is known to have changed."""
        self._look_at = self._all_live_until = float("-inf")

    def _look(self) -> None:
        if self._steady() < self._look_at:
            return
        now = self._clock()
        self._look_at = now.steady + LOOK_S
        members, strategy = self._members.members(now), self._strategies.current(now)
        own = domains_of(self._operator, self._own_endpoints(), AddressPolicy(strategy.declared_prefixes))
        same = strategy is self._strategy and self._members.told == self._told and own == self._own_domains
        if same and now.steady <= self._all_live_until:
            return
        if strategy.slot_bits != self._strategy.slot_bits:
            self._own_ready = resize_inside(self._own_ready, self._strategy.slot_bits, strategy.slot_bits)
        self._strategy, self._told, self._own_domains = strategy, self._members.told, own
        heard, self._all_live_until = self._members.live(now)
        live = frozenset([self._node_id, *(peer for peer, _ in heard)])
        formers = self._strategies.former_bits(now)
        placed = (self._members.epoch, own, strategy.slot_bits, strategy.replicas, strategy.declared_prefixes, formers)
        if placed != self._basis:
            self._basis = placed
            self._placement = self._placed(members, strategy)
            domains = self._domains(members, strategy) if formers else {}
            self._formers = tuple((b, Placement(members, b, strategy.replicas, domains)) for b in formers)
            self._ready.clear()
            self._teams.clear()
        if live != self._live:
            self._live = live
            self._teams.clear()
        self._place()
        self._listen(heard)

    def _place(self) -> None:
        """Go through the slots of this node's neighbourhood, where its members, liveness or strategy changed."""
        placement, near, strategy = self._placement, self._members.near, self._strategy
        quarter = placement.quarter(self._node_id)
        live = tuple(peer for peer in quarter.members if peer in self._live)
        basis = (near, quarter, live, strategy.slot_bits, strategy.replicas)
        if basis == self._near_basis:
            return
        self._near_basis, me = basis, self._node_id
        teams = {}
        for slot in map(Slot, slots_of(near, strategy.slot_bits)):
            teams[slot] = self._teams[slot] = placement.live_owners(slot, self._live.__contains__)
        if teams != self._near_teams:
            self._near_teams = MappingProxyType(teams)
        self._owned = frozenset(s for s, team in teams.items() if me in team or me in placement.owners(s))

    def _believed(self, slot: Slot) -> set[NodeId]:
        """Whose word about the slot counts: its candidates, and who was one before the slots were split."""
        bits, peers = self._strategy.slot_bits, set(self._placement.ranking(slot))
        for former_bits, former in self._formers:
            if former_bits < bits:
                peers.update(former.ranking(Slot(slot >> (bits - former_bits))))
        return peers

    def _listen(self, heard: list[tuple[NodeId, VerifiedHeartbeat]]) -> None:
        """Take what the live peers' heartbeats say, in our numbers, whatever they number their slots by."""
        bits, before, now = self._strategy.slot_bits, self._heard, dict(heard)
        if bits != self._said_bits:
            self._said_bits, self._said, before = bits, {}, {}
            self._ready.clear()
            self._announced.clear()
        for peer in before.keys() - now.keys():
            self._hear(peer, NOTHING)
        for peer, opened in now.items():
            old = before.get(peer)
            if old is not opened and (old is None or _words(old) != _words(opened)):
                self._hear(peer, _said(opened.heartbeat, bits))
        self._heard = now

    def _hear(self, peer: NodeId, said: "_Said") -> None:
        """A peer says this from now on; what we concluded of the slots that it changes is void."""
        old = self._said.pop(peer, NOTHING)
        if said is not NOTHING:
            self._said[peer] = said
        for slot in old.ready ^ said.ready:
            self._ready.pop(slot, None)
        for slot in said.leased - old.leased:
            insort(self._announced.setdefault(slot, []), peer)
        for slot in old.leased - said.leased:
            holders = self._announced[slot]
            del holders[bisect_left(holders, peer)]
            if not holders:
                del self._announced[slot]


class _Said(NamedTuple):
    """What a heartbeat says: slots of which all is ready, and slots of which any part is leased."""

    ready: frozenset[Slot]
    leased: frozenset[Slot]


NOTHING = _Said(frozenset(), frozenset())


def _said(beat: Heartbeat, bits: int) -> _Said:
    ready = resize_inside(beat.ready_slots, beat.slot_bits, bits)
    return _Said(ready, resize_overlapping(beat.leased_slots, beat.slot_bits, bits))


def _words(opened: VerifiedHeartbeat) -> tuple[bytes, bytes, int]:
    beat = opened.heartbeat
    return beat.ready, beat.leased, beat.slot_bits
