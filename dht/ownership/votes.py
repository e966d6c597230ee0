"""`Votes` says how votes for leases count: whom this node has promised a slot, and which members count just now.

Pure, but for the clock that it is given.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from dht.clock import Clock, Now
from dht.keys import NodeId, Slot
from dht.membership.farewell_book import FarewellBook
from dht.ownership.peer_words import PeerWords
from dht.strategy.document import Strategy
from dht.wire.farewell import FEW_MEMBERS
from dht.wire.grant import SignedGrant, counted, signers_needed

NO_SLOTS: Mapping[Slot, int] = MappingProxyType({})


class Leases(Protocol):
    """The leases of this node, as voter and as holder."""

    def held(self, now: Now) -> Mapping[Slot, int]: ...

    def promised(self, now: Now, slot: Slot) -> NodeId | None: ...

    def grants(self, slot: Slot) -> Sequence[SignedGrant]: ...


class NoLeases:
    """The leases of a node that takes no part in them."""

    def held(self, now: Now) -> Mapping[Slot, int]:
        """Return no slot."""
        return NO_SLOTS

    def promised(self, now: Now, slot: Slot) -> NodeId | None:
        """Return nobody."""
        return None

    def grants(self, slot: Slot) -> Sequence[SignedGrant]:
        """Return no grant."""
        return ()


class Electorate(Protocol):
    """The members of a network and their liveness, as a node's view has them."""

    @property
    def node_id(self) -> NodeId: ...

    @property
    def peers(self) -> PeerWords: ...

    @property
    def strategy(self) -> Strategy: ...

    def members(self) -> tuple[NodeId, ...]: ...

    def live(self) -> frozenset[NodeId]: ...

    def away(self) -> frozenset[NodeId]: ...


class Votes:
    """Counts votes for one node. `leases`: those of this node, once it takes part in them."""

    def __init__(self, view: Electorate, farewells: FarewellBook, clock: Clock) -> None:
        self._view, self._farewells, self._clock = view, farewells, clock
        self.leases: Leases = NoLeases()

    def promised(self, slot: Slot) -> NodeId | None:
        """Return to whom this node, as a voter, has given its vote for the slot; None where it gave none."""
        return self.leases.promised(self._clock(), slot)

    def grants(self, slot: Slot) -> Sequence[SignedGrant]:
        """Return the grants that this node got as holder of the slot within the last hour, newest first."""
        return self.leases.grants(slot)

    def stopped(self, signed: SignedGrant) -> frozenset[NodeId]:
        """Return the members that do not count where a grant is judged, by the farewells in it.

        There are none in a larger network, and no member that had returned before the grant began."""
        if not signed.farewells or len(self._view.members()) > FEW_MEMBERS:
            return frozenset()
        self._view.away()
        begin, counts, heartbeat = signed.grant.not_before_s, self._farewells.counts, self._view.peers.heartbeat
        return frozenset([f.author for f in signed.farewells if counts(f, begin, heartbeat(f.author))])

    def waits_for(self) -> tuple[NodeId, ...]:
        """Return the silent members without which too few nodes live to vote and to keep copies; empty where enough
        live. A node that is away itself since its farewell waits for all others."""
        view = self._view
        live, strategy, away, members = view.live(), view.strategy, view.away(), view.members()
        if view.node_id in away:
            return tuple(peer for peer in members if peer not in live)
        if len(live - away) >= max(strategy.min_acks, signers_needed(strategy.replicas)):
            return ()
        members = counted(members, away)
        owners = min(strategy.replicas, len(members))
        silent = tuple(peer for peer in members if peer not in live)
        enough = max(min(strategy.min_acks, owners), signers_needed(owners))
        return silent if len(members) - len(silent) < enough else ()
