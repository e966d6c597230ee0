"""`PeerWords` is the last word of each peer about itself, whether it is heard just now or silent.

Pure, but for the clock that it is given.
"""

from collections.abc import Callable

from dht.clock import Clock
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.ownership.ready_peers import LastWord
from dht.slot_set import resize_inside
from dht.wire.heartbeat import Heartbeat


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
