"""`Votes` says how votes for leases count: whom this node has promised a slot, and which members count just now.

Pure, but for the clock that it is given.

`PeerWords` is the last word of each peer about itself, whether it is heard just now or silent.

Pure, but for the clock that it is given.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from dht.clock import Clock, Now
from dht.keys import NodeId, Slot
from dht.membership.farewell_book import FarewellBook
from dht.membership.member_table import MemberTable
from dht.ownership.ready_peers import LastWord
from dht.slot_set import resize_inside
from dht.strategy.document import Strategy
from dht.wire.farewell import FEW_MEMBERS
from dht.wire.grant import SignedGrant, counting_owners, outvoted, owners_needed, signers_needed
from dht.wire.heartbeat import Heartbeat

MAJORITY_MEMBERS = 4  # in a network of so many more than half must be live, though two of four could stand in for all


class PeerWords:
    """Reads the newest heartbeats of one node's peers. `slot_bits` is asked each time; `stable` is this node's."""

    def __init__(self, members: MemberTable, clock: Clock, slot_bits: Callable[[], int], *, stable: bool) -> None:
        self._members, self._clock, self._slot_bits, self._stable = members, clock, slot_bits, stable

    def heartbeat(self, peer: NodeId) -> Heartbeat | None:
        """Return the newest heartbeat of a peer; None for an unknown one and for this node itself."""
        known = self._members.find(peer)
        return known.opened.heartbeat if known is not None else None

    def is_stable(self, peer: NodeId) -> bool:
        """Tell whether a peer, or this node, says that it is a stable machine; False for an unknown one."""
        said = self.heartbeat(peer)
        return self._stable if peer == self._members.own else said is not None and said.stable

    def last_word(self, peer: NodeId) -> LastWord | None:
        """Return a peer's last word about its slots, though it may be silent; None for an unknown one and this node."""
        if (said := self.heartbeat(peer)) is None:
            return None
        return LastWord(said.stable, resize_inside(said.ready_slots, said.slot_bits, self._slot_bits()))

    def refuses(self, peer: NodeId) -> bytes:
        """Return the hashes of the hosts that a peer will not fetch, four bytes each, one after the other."""
        said = self.heartbeat(peer)
        return said.refuses if said is not None else b""

    def due(self, peer: NodeId) -> int:
        """Return how many URLs a peer said last are due in the slots that it crawls; 0 for an unknown one."""
        said = self.heartbeat(peer)
        return said.due if said is not None else 0

    def silent_s(self, peer: NodeId) -> float | None:
        """Return seconds since a peer's newest heartbeat was sent, by this node's clock; None for an unknown peer."""
        known = self._members.find(peer)
        return max(0.0, self._clock().steady - known.sent_steady) if known is not None else None

    def vanished(self) -> frozenset[NodeId]:
        """Return the nodes that were members within the last 30 days and fell silent for good without a farewell."""
        return self._members.vanished.at(self._clock().wall)


def breaks_tie(
    live: Collection[NodeId],
    silent: Collection[NodeId],
    tie_breaker: str,
    ties_since: Callable[[], int],
    peers: PeerWords,
) -> bool:
    """Tell whether these live members may go on without as many silent ones. The node that breaks ties must be live.
    Each silent one must have announced the version that names it, or a later one. `ties_since`: that version."""
    if not silent or len(silent) != len(live) or tie_breaker not in {peer.hex() for peer in live}:
        return False
    since, beats = ties_since(), map(peers.heartbeat, silent)
    return all(beat is not None and beat.strategy_version >= since for beat in beats)


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

    def uncounted(self) -> frozenset[NodeId]: ...

    def tie_breakers(self) -> frozenset[NodeId]: ...

    def ties_since(self) -> int: ...

    def wins_tie(self) -> bool: ...


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
        """Return the members that do not count where a grant is judged: by the farewells in it, or outvoted in it.

        There are none in a larger network, and no member that had returned before the grant began."""
        if len(self._view.members()) > FEW_MEMBERS:
            return frozenset()
        if (alone := outvoted(signed, self._view.tie_breakers())) or not signed.farewells:
            return alone
        self._view.away()
        begin, counts, heartbeat = signed.grant.not_before_s, self._farewells.counts, self._view.peers.heartbeat
        at = self._clock().wall
        return frozenset([f.author for f in signed.farewells if counts(f, begin, heartbeat(f.author), at)])

    def goes_alone(self, counting: Collection[NodeId]) -> frozenset[NodeId]:
        """Return the one of at most two members that may go on without the other, empty where none may. That is the
        node that breaks ties. One that broke them before still does until it has announced the version that names
        another."""
        view, named, since = self._view, self._view.strategy.tie_breaker, self._view.ties_since()
        before = [peer for peer in counting if peer in view.tie_breakers() and peer.hex() != named]
        beats = {peer: view.peers.heartbeat(peer) for peer in before}
        unaware = frozenset(p for p, beat in beats.items() if beat is not None and beat.strategy_version < since)
        return unaware or frozenset(peer for peer in counting if peer.hex() == named)

    def waits_for(self) -> tuple[NodeId, ...]:
        """Return the silent members without which too few nodes live to vote and to keep copies; empty where enough
        live. A node that is away itself since its farewell waits for all others."""
        view = self._view
        live, strategy, away, members = view.live(), view.strategy, view.uncounted(), view.members()
        if view.node_id in away:
            return tuple(peer for peer in members if peer not in live)
        is_small = len(members) <= MAJORITY_MEMBERS
        if not is_small and len(live) >= max(strategy.min_acks, signers_needed(strategy.replicas)):
            return ()
        members = counting_owners(members, away)
        owners = min(strategy.replicas, len(members))
        silent = tuple(peer for peer in members if peer not in live)
        enough = max(min(strategy.min_acks, owners), signers_needed(owners))
        if len(members) == MAJORITY_MEMBERS and not view.wins_tie():
            enough = max(enough, owners_needed(len(members)))
        return silent if len(members) - len(silent) < enough else ()
