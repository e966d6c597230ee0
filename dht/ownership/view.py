"""Who is in the network and who owns what, as far as this node has heard: the `View` over members and strategy.

Pure, but for the clock that it is given: members and strategy are read again at most once a second. What follows from
them (placement, live owners, readiness) is computed slot by slot when asked for, and kept until something changes that
concerns it; only the slots of this node's own neighbourhood are gone through when liveness changes there.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType

from dht.clock import Clock, Now, steady_of
from dht.keys import NodeId, Slot
from dht.membership.farewell_book import FarewellBook
from dht.membership.member_table import MemberTable
from dht.membership.reasons_apart import FirstMeeting
from dht.ownership.failure_domains import NO_DOMAINS, FailureDomains
from dht.ownership.member_domains import MemberDomains
from dht.ownership.rendezvous import Placement, slots_of
from dht.ownership.slot_announcements import LastWord, SlotAnnouncements
from dht.slot_resize import resize_inside
from dht.strategy.document import Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact, Endpoint
from dht.wire.farewell import FEW_MEMBERS
from dht.wire.grant import SignedGrant, counted, signers_needed
from dht.wire.heartbeat import Heartbeat, Load, VerifiedHeartbeat

REFRESH_S = 1.0
FULL_PERCENT = 99  # of its quota: who has so much keeps nothing for others
NO_LEASES: Mapping[Slot, int] = MappingProxyType({})


class OverlayView:
    """What this node believes of the network. Cheap to ask, never blocks."""

    def __init__(
        self,
        node_id: NodeId,
        members: MemberTable,
        strategies: StrategyHistory,
        clock: Clock,
        own_endpoints: Callable[[], tuple[Endpoint, ...]],
        operator: str = "",
        held: Callable[[Now], Mapping[Slot, int]] = lambda now: NO_LEASES,
        why_apart: Callable[[Now], str] = lambda now: "",
        promised: Callable[[Now, Slot], NodeId | None] = lambda now, slot: None,
        grants: Callable[[Slot], Sequence[SignedGrant]] = lambda slot: (),
        *,
        stable: bool = True,
        farewells: FarewellBook | None = None,
    ) -> None:
        """`own_endpoints`, `held` (slot: epoch of the leases), `why_apart`, `promised` (whom this node votes for) and
        `grants` (of this node as holder) are asked each time; `operator` and `stable` are this node's. `farewells`: is
        told what members say."""
        self.farewells = farewells or FarewellBook(node_id)
        self._away = frozenset[NodeId]()
        self._node_id, self._members, self._strategies = node_id, members, strategies
        self._clock, self._steady = clock, steady_of(clock)
        self._own_endpoints = own_endpoints
        self._domains = MemberDomains(node_id, members, strategies, clock, own_endpoints, operator, stable=stable)
        self._domains_of: dict[NodeId, FailureDomains] = {}  # of whom it was asked since members were read
        self.first_meeting = FirstMeeting()
        self._own_ready: frozenset[Slot] = frozenset()
        self._held, self._why_apart, self._promised, self._grants = held, why_apart, promised, grants
        self._refresh_at = self._all_live_until = float("-inf")
        self._basis: tuple[object, ...] = ()
        self._strategy = strategies.current(clock())
        self._seen: tuple[object, ...] = ()
        self._placement = Placement((), self._strategy.slot_bits, self._strategy.replicas)
        # (slot_bits, placement) before slots were resized lately, or members began to leave
        self._formers: tuple[tuple[int, Placement], ...] = ()
        self._before: tuple[Strategy, ...] = ()
        self._formers_at, self._followed = float("-inf"), self._strategy
        self._live: frozenset[NodeId] = frozenset()
        self._teams: dict[Slot, tuple[NodeId, ...]] = {}  # live owners, as far as asked for
        self._keepers: dict[Slot, tuple[NodeId, ...]] = {}  # as far as asked for
        self._kept: frozenset[Slot] = frozenset()
        self._near_basis: object = None
        self._near_teams: Mapping[Slot, tuple[NodeId, ...]] = MappingProxyType({})
        self._owned: frozenset[Slot] = frozenset()
        self._full: frozenset[NodeId] = frozenset()  # live ones that have no room, this node perhaps among them
        self._is_full = False
        self._announcements = SlotAnnouncements(self._strategy.slot_bits)
        self._announced, self._holders = self._announcements.by_peer, self._announcements.holders
        self._ready: dict[Slot, tuple[NodeId, ...]] = {}
        self._ready_by_slot: tuple[tuple[NodeId, ...], ...] = ()  # empty where one of them is not known

    @property
    def node_id(self) -> NodeId:
        """This node's own id."""
        return self._node_id

    def why_apart(self) -> str:
        """Say why this node must do nothing in its network's name; "" where it may."""
        return self._why_apart(self._clock())

    @property
    def strategy(self) -> Strategy:
        """The strategy in force."""
        self._refresh_if_due()
        return self._strategy

    def former_strategies(self) -> Sequence[Strategy]:
        """Return the strategies in force until a day ago at most, newest first; the same object until that changes."""
        self._refresh_if_due()
        if self._refresh_at != self._formers_at or self._strategy is not self._followed:
            self._followed, self._formers_at = self._strategy, self._refresh_at
            found = self._strategies.former_strategies(self._clock())
            self._before = self._before if found == self._before else found
        return self._before

    def coming_strategies(self) -> Sequence[Strategy]:
        """Return the accepted strategies that are not in force yet, oldest first."""
        return self._strategies.coming_strategies(self._clock())

    def members(self) -> tuple[NodeId, ...]:
        """Return all peers whose heartbeat is younger than their grace, sorted; this node is among them if a member."""
        return self._members.members(self._clock())

    def vanished_members(self) -> frozenset[NodeId]:
        """Return who was a member within the last 30 days and fell silent for good without taking leave."""
        return self._members.vanished.at(self._clock().wall)

    def contact(self, peer: NodeId) -> Contact | None:
        """Return how to reach a peer, or this node; None where the peer is unknown."""
        if peer == self._node_id:
            return Contact(peer, self._own_endpoints())
        known = self._members.find(peer)
        return known.opened.contact if known is not None else None

    def is_live(self, peer: NodeId) -> bool:
        """Tell whether a peer was heard of lately (a near one within 30 s), and not silent when asked since."""
        self._refresh_if_due()
        return peer in self._live

    def waits_for(self) -> tuple[NodeId, ...]:
        """Return the silent members without which too few nodes live to vote and to keep copies; empty where enough
        live. A node that is away itself since its farewell waits for all others."""
        live, strategy, away = self.live(), self.strategy, self.away()
        if self._node_id in away:
            return tuple(peer for peer in self.members() if peer not in live)
        if len(live - away) >= max(strategy.min_acks, signers_needed(strategy.replicas)):
            return ()
        members = counted(self.members(), away)
        owners = min(strategy.replicas, len(members))
        silent = tuple(peer for peer in members if peer not in live)
        enough = max(min(strategy.min_acks, owners), signers_needed(owners))
        return silent if len(members) - len(silent) < enough else ()

    def heartbeat(self, peer: NodeId) -> Heartbeat | None:
        """Return the newest heartbeat of a peer; None for an unknown one and for this node itself."""
        known = self._members.find(peer)
        return known.opened.heartbeat if known is not None else None

    def is_stable(self, peer: NodeId) -> bool:
        """Tell whether a peer, or this node, says that it is a stable machine; False for an unknown one."""
        said = self.heartbeat(peer)
        return self._domains.stable if peer == self._node_id else said is not None and said.stable

    def last_word(self, peer: NodeId) -> LastWord | None:
        """Return what a peer said of itself last, though it may be silent; None for an unknown one and this node."""
        if (said := self.heartbeat(peer)) is None:
            return None
        return LastWord(said.stable, resize_inside(said.ready_slots, said.slot_bits, self.strategy.slot_bits))

    def refuses(self, peer: NodeId) -> bytes:
        """Return the hashes of the hosts that a peer will not fetch, four bytes each, one after the other."""
        known = self._members.find(peer)
        return known.opened.heartbeat.refuses if known is not None else b""

    def due(self, peer: NodeId) -> int:
        """Return how many URLs a peer said last are due in the slots that it crawls; 0 for an unknown one."""
        known = self._members.find(peer)
        return known.opened.heartbeat.due if known is not None else 0

    def away(self) -> frozenset[NodeId]:
        """Return the members that do not count: they said farewell, and were not heard with a vote since. In a larger
        network there are none; this node may be one."""
        self._refresh_if_due()
        return self._away

    def stopped(self, signed: SignedGrant) -> frozenset[NodeId]:
        """Return the members that do not count where a grant is judged, by the farewells in it: none in a larger
        network, and nobody who had returned before the grant began."""
        if not signed.farewells or len(self.members()) > FEW_MEMBERS:
            return frozenset()
        self._refresh_if_due()
        begin, counts = signed.grant.not_before_s, self.farewells.counts
        return frozenset([f.author for f in signed.farewells if counts(f, begin, self.heartbeat(f.author))])

    def silent_s(self, peer: NodeId) -> float | None:
        """Return seconds since a peer's newest heartbeat was sent, by this node's clock; None for an unknown peer."""
        known = self._members.find(peer)
        return max(0.0, self._clock().steady - known.sent_steady) if known is not None else None

    def live(self) -> frozenset[NodeId]:
        """Return the live peers and this node; the same object until somebody comes or goes."""
        self._refresh_if_due()
        return self._live

    def owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the sticky owners of a slot, highest weight first."""
        self._refresh_if_due()
        return self._placement.owners(slot)

    def owners_by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return the sticky owners of every slot, by its number; the same object until one changes."""
        self._refresh_if_due()
        return self._placement.owners_by_slot

    def candidates(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the members from whom a slot's owners and stand-ins come, highest weight first."""
        self._refresh_if_due()
        return self._placement.ranking(slot)

    def live_owners(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return the live owners of a slot, joined by stand-ins while fewer than two owners are live."""
        self._refresh_if_due()
        found = self._teams.get(slot)
        if found is None:
            found = self._teams[slot] = self._placement.live_owners(slot, self._live.__contains__)
        return found

    def keepers(self, slot: Slot, doubted: frozenset[NodeId] = frozenset()) -> tuple[NodeId, ...]:
        """Return who would own a slot as well if its silent candidates were forgotten, and has room: as many as owners
        are silent. Those of whom it is `doubted` that they hold anything count as silent."""
        self._refresh_if_due()
        if doubted:
            return self._placement.keepers(slot, (self._live - doubted).__contains__, self._full)
        if slot not in self._keepers:
            self._keepers[slot] = self._placement.keepers(slot, self._live.__contains__, self._full)
        return self._keepers[slot]

    def kept(self) -> frozenset[Slot]:
        """Return the slots of which this node is a keeper."""
        self._refresh_if_due()
        return self._kept

    def teams(self) -> Mapping[Slot, tuple[NodeId, ...]]:
        """Return the live owners of every slot that this node may own, stand in for or vote in, by ascending slot.
        Members that are away are left out. It is the same object until something changes in it."""
        self._refresh_if_due()
        return self._near_teams

    def owned(self) -> frozenset[Slot]:
        """Return the slots that this node owns or stands in for."""
        self._refresh_if_due()
        return self._owned

    def ready(self, slot: Slot) -> tuple[NodeId, ...]:
        """Return who announces a slot as ready and is believed, sorted: its live candidates, and those that it had
        before slots were resized lately, or would have if nobody were leaving. Anybody may announce anything."""
        self._refresh_if_due()
        return self._ready_of(slot)

    def ready_by_slot(self) -> Sequence[tuple[NodeId, ...]]:
        """Return who announces each slot as ready and is believed, by its number; the same object until one changes."""
        self._refresh_if_due()
        if not self._ready_by_slot:
            self._ready_by_slot = tuple(map(self._ready_of, map(Slot, range(1 << self._strategy.slot_bits))))
        return self._ready_by_slot

    def leases(self) -> Mapping[Slot, int]:
        """Return the slots that this node may crawl now, each with its lease epoch."""
        return self._held(self._clock())

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Tell whether a live peer, or this node, announces the slot as ready."""
        if peer == self._node_id:
            return slot in self._own_ready
        announced = self._announced.get(peer)
        return announced is not None and slot in announced.ready

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        """Return the live peers whose newest heartbeat says that they hold the slot, sorted."""
        self._refresh_if_due()
        return self._holders.get(slot, ())

    def promised(self, slot: Slot) -> NodeId | None:
        """Return to whom this node, as a voter, has given its vote for the slot; None where it gave none."""
        return self._promised(self._clock(), slot)

    def grants(self, slot: Slot) -> Sequence[SignedGrant]:
        """Return the grants that this node got as holder of the slot within the last hour, newest first."""
        return self._grants(slot)

    def own_ready(self) -> frozenset[Slot]:
        """Return the slots for which this node is ready, as the strategy in force numbers them."""
        self._refresh_if_due()
        return self._own_ready

    def seasoned(self, peers: Iterable[NodeId]) -> tuple[NodeId, ...]:
        """Return those of some peers that are members for as long as the strategy asks (min_age_days). None are
        returned where it asks for no age, or where the network is younger than that."""
        last, first_day = self._domains.last_old_day(self.strategy), self._members.admission.first_day
        if last is None:
            return ()
        return tuple(peer for peer in peers if (day := first_day(peer)) is not None and day <= last)

    def set_own_ready(self, slots: frozenset[Slot]) -> None:
        """Set for which slots this node is ready, as the strategy that the view showed last numbers them."""
        self._forget_ready(self._own_ready ^ slots)
        self._own_ready = slots

    def set_own_load(self, load: Load) -> None:
        """Set how busy this node is: with a full disk it keeps nothing for silent owners."""
        if self._is_full != (load.disk >= FULL_PERCENT):
            self._is_full = not self._is_full
            self.refresh()

    def placement(self, strategy: Strategy) -> Placement:
        """Return who would own what under a strategy, among the members of this moment."""
        out = {*strategy.blocked, *(each.id for each in strategy.gone)}
        return self._placed([m for m in self.members() if m.hex() not in out], strategy)

    def _placed(self, members: Sequence[NodeId], strategy: Strategy) -> Placement:
        return Placement(members, strategy.slot_bits, strategy.replicas, self._domains.of(members, strategy))

    def failure_domains(self, peer: NodeId) -> FailureDomains:
        """Return what may fail together with a member, and whether it is young, by the strategy in force."""
        strategy = self.strategy
        if (known := self._domains_of.get(peer)) is None:
            known = self._domains_of[peer] = self._domains.of([peer], strategy).get(peer, NO_DOMAINS)
        return known

    def refresh(self) -> None:
        """Have members and strategy read again at the next question: something is known to have changed."""
        self._refresh_at = self._all_live_until = float("-inf")

    def _refresh_if_due(self) -> None:
        if self._steady() < self._refresh_at:
            return
        now = self._clock()
        self._refresh_at = now.steady + REFRESH_S
        self._domains_of.clear()
        members, strategy = self._members.members(now), self._strategies.current(now)
        own, last = self._domains.own(strategy), self._domains.last_old_day(strategy)
        seen = self._members.told, own, last, self._is_full, self.farewells.version
        same = strategy is self._strategy and seen == self._seen
        is_quiet = now.steady <= self._all_live_until and not self.first_meeting.is_lost
        if same and is_quiet:
            return
        if strategy.slot_bits != self._strategy.slot_bits:
            self._own_ready = resize_inside(self._own_ready, self._strategy.slot_bits, strategy.slot_bits)
        self._strategy, self._seen = strategy, seen
        heard, self._all_live_until = self._members.live(now)
        live = frozenset([self._node_id, *(peer for peer, _ in heard)])
        self._away = self._hear_farewells(members, live)
        if self.first_meeting.is_lost:
            others = sum(peer in members for peer, _ in heard)
            self.first_meeting.count(now.steady, members=others, bare=len(heard) - others)
        formers = self._strategies.former_bits(now)
        ages = last, self._members.admission.named if last is not None else 0
        rules = strategy.slot_bits, strategy.replicas, strategy.declared_prefixes, formers
        leavers = self._members.leavers(now)
        placed = (self._members.epoch, own, ages, leavers, *rules)
        if placed != self._basis:
            self._basis = placed
            self._placement = self._placed(members, strategy)
            before = sorted([*members, *leavers])
            counted = [b for b in formers if b < strategy.slot_bits] + ([strategy.slot_bits] if leavers else [])
            domains = self._domains.of(before, strategy) if counted else {}
            self._formers = tuple((b, Placement(before, b, strategy.replicas, domains)) for b in counted)
            self._forget_ready(None)
            self._teams.clear()
            self._keepers.clear()
        if live != self._live:
            self._live = live
            self._teams.clear()
            self._keepers.clear()
        full = frozenset(peer for peer, said in heard if said.heartbeat.load.disk >= FULL_PERCENT)
        full |= {self._node_id} if self._is_full else frozenset()
        if full != self._full:
            self._full = full
            self._keepers.clear()
        self._place()
        self._listen(heard)

    def _hear_farewells(self, members: Sequence[NodeId], live: frozenset[NodeId]) -> frozenset[NodeId]:
        """Follow what few members say of their going; return who of them is away."""
        if len(members) > FEW_MEMBERS:
            return frozenset()
        for peer in members:
            if (beat := self.heartbeat(peer)) is not None:
                self.farewells.hear(peer, beat, is_whole={*members} - {peer} <= live)
        return self.farewells.away.intersection(members)

    def _place(self) -> None:
        """Go through the slots of this node's neighbourhood, where its members, liveness or strategy changed."""
        placement, near, strategy = self._placement, self._members.near, self._strategy
        neighbourhood = placement.neighbourhood(self._node_id)
        live = tuple(peer for peer in neighbourhood.members if peer in self._live)
        basis = (near, neighbourhood, live, self._full, strategy.slot_bits, strategy.replicas, self._away)
        if basis == self._near_basis:
            return
        self._near_basis, me = basis, self._node_id
        teams = {}
        for slot in map(Slot, slots_of(near, strategy.slot_bits)):
            self._teams[slot] = placement.live_owners(slot, self._live.__contains__)
            teams[slot] = counted(self._teams[slot], self._away)
        if teams != self._near_teams:
            self._near_teams = MappingProxyType(teams)
        self._owned = frozenset(s for s, team in teams.items() if me in team or me in placement.owners(s))
        kept = (s for s in teams if me in placement.keepers(s, self._live.__contains__, self._full))
        self._kept = frozenset(kept)

    def _ready_of(self, slot: Slot) -> tuple[NodeId, ...]:
        """Who is ready among those whose word counts: the slot's candidates, and before slots were split."""
        found = self._ready.get(slot)
        if found is None:
            bits, peers = self._strategy.slot_bits, set(self._placement.ranking(slot))
            for former_bits, former in self._formers:
                peers.update(former.ranking(Slot(slot >> (bits - former_bits))))
            found = self._ready[slot] = tuple(sorted(peer for peer in peers if self.is_ready(peer, slot)))
        return found

    def _listen(self, heard: list[tuple[NodeId, VerifiedHeartbeat]]) -> None:
        """Take what live peers' heartbeats say; who is ready for a slot of which they say something else is void."""
        self._forget_ready(self._announcements.update(heard, self._strategy.slot_bits))

    def _forget_ready(self, slots: Collection[Slot] | None) -> None:
        """Compute anew who is ready for these slots, None for all, when it is asked for."""
        for slot in tuple(self._ready) if slots is None else slots:
            self._ready.pop(slot, None)
            self._ready_by_slot = ()
