"""`MemberDomains` reads the failure domains and steps of room of members from their heartbeats.

Their age comes from the heartbeats of their attesters.

Pure, but for the clock that it is given.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dht.admission.member_admission import last_old_day
from dht.clock import Clock, day_of
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.ownership.failure_domains import NO_DOMAINS, FailureDomains, domains_of
from dht.ownership.rendezvous import Placement
from dht.strategy.document import Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.room_step import HIGHEST_STEP, HOUR_S, LOWEST_STEP, RoomStep, hour_of

NEWCOMER_DAYS = 7  # for so long a member's word that it has more room than usual counts for nothing


class OwnWord(Protocol):
    """Describes this node as its heartbeats do: its operator ("": none), whether it is a stable machine, its step of
    room, and its endpoints."""

    operator: str
    stable: bool
    room_step: RoomStep

    def endpoints(self) -> tuple[Endpoint, ...]: ...


class MemberDomains:
    """Knows one node's members; `own` is asked each time."""

    def __init__(
        self,
        node_id: NodeId,
        members: MemberTable,
        strategies: StrategyHistory,
        clock: Clock,
        own: OwnWord,
    ) -> None:
        self._node_id, self._members, self._strategies = node_id, members, strategies
        self._clock, self._own_word = clock, own
        self._rooms: dict[bytes, int] = {}  # the most steps that the strategy names
        self._rooms_of: Strategy | None = None
        self._turns = False  # whether a step may count, or cease to, by the passing of time
        self._found_by: tuple[object, ...] = ()  # what this node's domains asked for last follow from
        self._found = NO_DOMAINS

    def placement(self, members: Sequence[NodeId], strategy: Strategy) -> Placement:
        """Return which of these members would own what under a strategy; it may put some of them out."""
        out = {*strategy.blocked, *(each.id for each in strategy.gone)}
        return self.placed([member for member in members if member.hex() not in out], strategy)

    def placed(self, members: Sequence[NodeId], strategy: Strategy) -> Placement:
        """Return which of these members own what, each of which the strategy admits."""
        return Placement(members, strategy.slot_bits, strategy.replicas, self.of(members, strategy))

    def own(self, strategy: Strategy) -> FailureDomains:
        """Return this node's own domains, its age left out."""
        return self._own(strategy, is_young=False)

    def turn(self) -> tuple[int, int]:
        """Return a value that changes when the steps of members may count otherwise, though no heartbeat says so."""
        return (hour_of(self._clock().wall), self._members.admission.named) if self._turns else (0, 0)

    def of(self, members: Sequence[NodeId], strategy: Strategy) -> dict[NodeId, FailureDomains]:
        """Return the failure domains that members declare in their heartbeats, and this node's own."""
        reach, is_young = AddressPolicy(strategy.declared_prefixes), self._is_young(strategy)
        own = is_young(self._node_id) if self._node_id in members else False
        found = {self._node_id: self._own(strategy, is_young=own)}
        self._turns = self._may_turn(self._own_word.room_step, strategy)
        for member in members:
            known = self._members.find(member)
            if known is not None:
                beat = known.opened.heartbeat
                said = beat.operator, known.opened.contact.endpoints
                self._turns = self._turns or self._may_turn(beat.room_step, strategy)
                step, young = self.step(member, beat.room_step, strategy), is_young(member)
                found[member] = domains_of(*said, reach, is_young=young, is_stable=beat.stable, step=step)
        return found

    def step(self, member: NodeId, said: RoomStep, strategy: Strategy) -> int:
        """Return the step of room that counts for a member now, by what it says."""
        return self._counted(member, said.in_force(self._clock().wall), strategy)

    def _counted(self, member: NodeId, step: int, strategy: Strategy) -> int:
        if strategy is not self._rooms_of:
            self._rooms_of, self._rooms = strategy, {bytes.fromhex(room.id): room.step for room in strategy.rooms}
        if step <= LOWEST_STEP or not (step > 0 or self._rooms):
            return step
        named = self._rooms.get(member)
        return min(step, named if named is not None else HIGHEST_STEP if self._is_trusted(member, strategy) else 0)

    def step_of(self, member: NodeId, strategy: Strategy) -> int:
        """Return the step of room that counts for a member, or this node, now; 0 for an unknown one."""
        return self.step(member, self._said(member), strategy)

    def coming_step(self, member: NodeId, strategy: Strategy) -> tuple[int, int] | None:
        """Return the step of room that will count for a member, or this node, and from which second (Unix) on; None
        where it announces no change."""
        said, hour = self._said(member), hour_of(self._clock().wall)
        step = self._counted(member, said.step, strategy)
        is_news = said.from_hour > hour and step != self.step(member, said, strategy)
        return (step, said.from_hour * HOUR_S) if is_news else None

    def _said(self, member: NodeId) -> RoomStep:
        """Return what a member, or this node, says of its room; the usual of an unknown one."""
        if member == self._node_id:
            return self._own_word.room_step
        known = self._members.find(member)
        return known.opened.heartbeat.room_step if known is not None else RoomStep()

    def _is_trusted(self, member: NodeId, strategy: Strategy) -> bool:
        """Whether a member's word counts that it has much room: it was invited, and came NEWCOMER_DAYS ago or more."""
        day = self._members.admission.first_day(member) if strategy.admission == "invited" else None
        return day is not None and day + NEWCOMER_DAYS <= day_of(self._clock().wall)

    def _may_turn(self, said: RoomStep, strategy: Strategy) -> bool:
        return said.step != said.before or (said.step > 0 and strategy.admission == "invited")

    def _own(self, strategy: Strategy, *, is_young: bool) -> FailureDomains:
        own, reach = self._own_word, AddressPolicy(strategy.declared_prefixes)
        step = self.step(self._node_id, own.room_step, strategy)
        basis = own.operator, own.endpoints(), reach, is_young, step
        if basis != self._found_by:
            self._found_by = basis
            self._found = domains_of(*basis[:3], is_young=is_young, is_stable=own.stable, step=step)
        return self._found

    def last_old_day(self, strategy: Strategy) -> int | None:
        """Return the newest join day that counts as established; None where no member is young."""
        return last_old_day(self._clock(), strategy.min_age_days, self._strategies.began_at)

    def _is_young(self, strategy: Strategy) -> Callable[[NodeId], bool]:
        """Return a function that tells whether a member is young, by the days that its attesters give."""
        last, first_day = self.last_old_day(strategy), self._members.admission.first_day
        if last is None:
            return lambda member: False
        return lambda member: (day := first_day(member)) is None or day > last
