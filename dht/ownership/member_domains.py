"""`MemberDomains` reads the failure domains of members from their heartbeats, and their age from those of attesters.

Pure, but for the clock that it is given.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from dht.admission.member_admission import last_old_day
from dht.clock import Clock
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.ownership.failure_domains import NO_DOMAINS, FailureDomains, domains_of
from dht.ownership.rendezvous import Placement
from dht.strategy.document import Strategy
from dht.strategy.history import StrategyHistory
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint


class OwnWord(Protocol):
    """Describes this node as its heartbeats do: its operator ("": none), whether it is a stable machine, and its
    endpoints."""

    operator: str
    stable: bool

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

    def of(self, members: Sequence[NodeId], strategy: Strategy) -> dict[NodeId, FailureDomains]:
        """Return the failure domains that members declare in their heartbeats, and this node's own."""
        reach, is_young = AddressPolicy(strategy.declared_prefixes), self._is_young(strategy)
        own = is_young(self._node_id) if self._node_id in members else False
        found = {self._node_id: self._own(strategy, is_young=own)}
        for member in members:
            known = self._members.find(member)
            if known is not None:
                beat = known.opened.heartbeat
                said = beat.operator, known.opened.contact.endpoints
                found[member] = domains_of(*said, reach, is_young=is_young(member), is_stable=beat.stable)
        return found

    def _own(self, strategy: Strategy, *, is_young: bool) -> FailureDomains:
        own, reach = self._own_word, AddressPolicy(strategy.declared_prefixes)
        basis = own.operator, own.endpoints(), reach, is_young
        if basis != self._found_by:
            self._found_by = basis
            self._found = domains_of(*basis[:3], is_young=is_young, is_stable=own.stable)
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
