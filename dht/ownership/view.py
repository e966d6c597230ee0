"""The view of one node: the members of its network and the owners of its slots, as far as this node has heard.

Pure, but for the clock that it is given: members and strategy are read again at most once a second. Placement, live
owners and readiness are computed slot by slot when asked for, and kept until a change concerns them. When liveness
changes in this node's own neighbourhood, the view goes through the slots there and no others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from dht.clock import Clock, Now, steady_of
from dht.keys import NodeId, Slot
from dht.membership.farewell_book import FarewellBook
from dht.membership.member_table import MemberTable
from dht.membership.reasons_apart import FirstMeeting
from dht.ownership.known_members import KnownMembers
from dht.ownership.member_domains import MemberDomains, OwnWord
from dht.ownership.owners_before import OwnersBefore
from dht.ownership.ready_peers import FULL_PERCENT, ReadyPeers
from dht.ownership.rendezvous import Placement, slots_of
from dht.ownership.votes import MAJORITY_MEMBERS, PeerWords, Votes, breaks_tie
from dht.strategy.document import Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.contact import Contact
from dht.wire.farewell import FEW_MEMBERS
from dht.wire.grant import counting_owners
from dht.wire.room_step import FULL_STEP

REFRESH_S = 1.0


class OverlayView:
    """Holds what this node believes of the network. It is cheap to ask and never blocks.

    `peers`: the last words of single peers. `votes`: how votes count. `ready_peers`: which peers are ready for a slot.
    `domains`: what may fail together. `first_meeting`: whether this node has met others yet."""

    def __init__(
        self,
        node_id: NodeId,
        members: MemberTable,
        strategies: StrategyHistory,
        clock: Clock,
        own: OwnWord,
        first_meeting: FirstMeeting | None = None,
        why_apart: Callable[[Now], str] = lambda now: "",
        farewells: FarewellBook | None = None,
    ) -> None:
        """`own` and `why_apart` are asked each time. `farewells`: is told what members say."""
        self._node_id, self._members, self._strategies = node_id, members, strategies
        self._clock, self._steady, self._own, self._why_apart = clock, steady_of(clock), own, why_apart
        self._strategy = strategies.current(clock())
        self.first_meeting = first_meeting or FirstMeeting()
        self.farewells = farewells or FarewellBook(node_id)
        self.peers = PeerWords(members, clock, lambda: self.strategy.slot_bits, stable=own.stable)
        self.votes = Votes(self, self.farewells, clock)
        self.domains = MemberDomains(node_id, members, strategies, clock, own)
        self.ready_peers = ReadyPeers(node_id, self._strategy.slot_bits)
        self._owners_before = OwnersBefore(clock().steady)
        self._known = KnownMembers(members.admission, clock().steady)
        self._away = self._uncounted = frozenset[NodeId]()
        self._wins_tie = False
        self._refresh_at = self._all_live_until = float("-inf")
        self._basis: tuple[object, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._placement = Placement((), self._strategy.slot_bits, self._strategy.replicas)
        self._before: tuple[Strategy, ...] = ()
        self._formers_at, self._followed = float("-inf"), self._strategy
        self._live: frozenset[NodeId] = frozenset()
        self._teams: dict[Slot, tuple[NodeId, ...]] = {}  # live owners, as far as asked for
        self._keepers: dict[Slot, tuple[NodeId, ...]] = {}  # as far as asked for
        self._kept: frozenset[Slot] = frozenset()
        self._near_basis: object = None
        self._near_teams: Mapping[Slot, tuple[NodeId, ...]] = MappingProxyType({})
        self._owned: frozenset[Slot] = frozenset()
        self._roomless: frozenset[NodeId] = frozenset()  # that this node found to have none, whatever they say
        self._full: frozenset[NodeId] = frozenset()  # live ones that have no room, this node perhaps among them

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

    def contact(self, peer: NodeId) -> Contact | None:
        """Return how to reach a peer, or this node; None where the peer is unknown."""
        if peer == self._node_id:
            return Contact(peer, self._own.endpoints())
        known = self._members.find(peer)
        return known.opened.contact if known is not None else None

    def is_live(self, peer: NodeId) -> bool:
        """Tell whether a peer was heard of lately (a near one within 30 s), and not silent when asked since."""
        self._refresh_if_due()
        return peer in self._live

    def away(self) -> frozenset[NodeId]:
        """Return the members that do not count: they said farewell, and were not heard with a vote since. In a larger
        network there are none; this node may be one."""
        self._refresh_if_due()
        return self._away

    def uncounted(self) -> frozenset[NodeId]:
        """Return the members without which votes, copies and agreement are enough: those that are away, and a silent
        one that this node may outvote, since it breaks ties."""
        self._refresh_if_due()
        return self._uncounted

    def tie_breakers(self) -> frozenset[NodeId]:
        """Return the nodes that some accepted strategy names to break ties."""
        return self._strategies.tie_breakers()

    def ties_since(self) -> int:
        """Return the strategy version from which on all, up to the one in force, name the same node to break ties."""
        return self._strategies.ties_since(self._clock())

    def wins_tie(self) -> bool:
        """Tell whether half of the counting members are silent, and the live half may go on: see `breaks_tie`."""
        self._refresh_if_due()
        return self._wins_tie

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

    def replaced(self) -> frozenset[Slot]:
        """Return the slots all of whose owners became so within an hour, by this node's own view, in place of others;
        the same object until that changes."""
        return self._owners_before.replaced(self._steady(), self.owners_by_slot())

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

    def count_as_full(self, peers: frozenset[NodeId]) -> None:
        """Choose none of these as keepers, whatever they say. Owners stay who they are: all nodes agree on them."""
        if peers != self._roomless:
            self._roomless = peers
            self.refresh()

    def claims_room(self, peer: NodeId) -> bool:
        """Tell whether a peer says that it has room for more."""
        beat, step = self.peers.heartbeat(peer), self.domains.step_of(peer, self.strategy)
        return beat is not None and beat.load.disk < FULL_PERCENT and step > FULL_STEP

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

    def ready(self, slot: Slot, *, answering: bool = False) -> tuple[NodeId, ...]:
        """Return, sorted, the peers whose announcement of a slot as ready counts; `answering`: those alone that index
        it, too. They are its live candidates, those from before a recent change of slot size, and those that it would
        have if nobody were leaving. Anybody may announce anything."""
        self._refresh_if_due()
        return self.ready_peers.answering(slot) if answering else self.ready_peers.of(slot)

    def ready_by_slot(self, *, answering: bool = False) -> Sequence[tuple[NodeId, ...]]:
        """Return `ready` of every slot, by its number; the same object until one changes."""
        self._refresh_if_due()
        return self.ready_peers.answering_by_slot() if answering else self.ready_peers.by_slot()

    def leases(self) -> Mapping[Slot, int]:
        """Return the slots that this node may crawl now, each with its lease epoch."""
        return self.votes.leases.held(self._clock())

    def is_ready(self, peer: NodeId, slot: Slot) -> bool:
        """Tell whether a live peer, or this node, announces the slot as ready."""
        return self.ready_peers.is_ready(peer, slot)

    def announced(self, slot: Slot) -> Sequence[NodeId]:
        """Return the live peers whose newest heartbeat says that they hold the slot, sorted."""
        self._refresh_if_due()
        return self.ready_peers.holders(slot)

    def seasoned(self, peers: Iterable[NodeId]) -> tuple[NodeId, ...]:
        """Return those of some peers that are members for as long as the strategy asks (min_age_days). None are
        returned where it asks for no age, or where the network is younger than that."""
        last, first_day = self.domains.last_old_day(self.strategy), self._members.admission.first_day
        if last is None:
            return ()
        return tuple(peer for peer in peers if (day := first_day(peer)) is not None and day <= last)

    def is_known_for_a_day(self, peer: NodeId) -> bool:
        """Tell whether a peer is a member for a day, as its attesters say and this node saw."""
        self._refresh_if_due()
        return self._known.is_known_for_a_day(self._clock(), peer)

    @property
    def is_leaving(self) -> bool:
        """Whether this node leaves for good."""
        return self._members.admission.is_leaving(self._node_id)

    def refresh(self) -> None:
        """Have members and strategy read again at the next question: something is known to have changed."""
        self._refresh_at = self._all_live_until = float("-inf")

    def _refresh_if_due(self) -> None:
        if self._steady() < self._refresh_at:
            return
        now = self._clock()
        self._refresh_at = now.steady + REFRESH_S
        if self._owners_before.is_due(now.steady) and not self.first_meeting.is_lost:
            self._owners_before.note(now.steady, self._placement.owners_by_slot)
        members, strategy = self._members.members(now), self._strategies.current(now)
        own, last = self.domains.own(strategy), self.domains.last_old_day(strategy)
        turn = self.domains.turn()
        words = self._members.told, self.farewells.version
        seen = (*words, own, last, self.ready_peers.is_full, turn, self._roomless)
        same = strategy is self._strategy and seen == self._seen
        is_quiet = now.steady <= self._all_live_until and not self.first_meeting.is_lost
        if same and is_quiet:
            return
        if strategy.slot_bits != self._strategy.slot_bits:
            self.ready_peers.resize(strategy.slot_bits)
        self._strategy, self._seen = strategy, seen
        heard, self._all_live_until = self._members.live(now)
        live = frozenset([self._node_id, *(peer for peer, _ in heard)])
        self._away = self._hear_farewells(members, live)
        counting = {*members} - self._away if len(members) <= MAJORITY_MEMBERS else set()
        silent = counting - live
        self._wins_tie = breaks_tie(counting & live, silent, strategy.tie_breaker, self.ties_since, self.peers)
        is_alone = self._wins_tie and counting - silent == {self._node_id}
        self._uncounted = self._away | (silent if is_alone else frozenset())
        if self.first_meeting.is_lost:
            others = sum(peer in members for peer, _ in heard)
            self.first_meeting.count(now.steady, members=others, bare=len(heard) - others)
        formers = self._strategies.former_bits(now)
        ages = last, self._members.admission.named if last is not None else 0
        rules = strategy.slot_bits, strategy.replicas, strategy.declared_prefixes, formers
        rooms, leavers = (strategy.rooms, strategy.admission, turn), self._members.leavers(now)
        placed = (self._members.epoch, own, ages, leavers, *rooms, *rules)
        if placed != self._basis:
            self._basis = placed
            self._known.see(now.steady, members)
            self._placement = self.domains.placed(members, strategy)
            before = sorted([*members, *leavers])
            counted = [b for b in formers if b < strategy.slot_bits] + ([strategy.slot_bits] if leavers else [])
            domains = self.domains.of(before, strategy) if counted else {}
            before_now = tuple((b, Placement(before, b, strategy.replicas, domains)) for b in counted)
            self.ready_peers.place(self._placement, before_now)
            self._teams.clear()
            self._keepers.clear()
        if live != self._live:
            self._live = live
            self._teams.clear()
            self._keepers.clear()
        full = frozenset(peer for peer, said in heard if said.heartbeat.load.disk >= FULL_PERCENT)
        full |= self._roomless | ({self._node_id} if self.ready_peers.is_full else frozenset())
        if full != self._full:
            self._full = full
            self._keepers.clear()
        self._place()
        self.ready_peers.hear(heard)

    def _hear_farewells(self, members: Sequence[NodeId], live: frozenset[NodeId]) -> frozenset[NodeId]:
        """Read the farewells in the members' heartbeats, and return the members that are away after a farewell. In a
        network of more than FEW_MEMBERS farewells are not read, and nobody counts as away."""
        if len(members) > FEW_MEMBERS:
            return frozenset()
        for peer in members:
            if (beat := self.peers.heartbeat(peer)) is not None:
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
            teams[slot] = counting_owners(self._teams[slot], self._away)
        if teams != self._near_teams:
            self._near_teams = MappingProxyType(teams)
        self._owned = frozenset(s for s, team in teams.items() if me in team or me in placement.owners(s))
        kept = (s for s in teams if me in placement.keepers(s, self._live.__contains__, self._full))
        self._kept = frozenset(kept)
