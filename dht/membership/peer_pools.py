"""The peers that are vouched for, and the members among them in the order of their ids.

Pure: peers and ranges of ids in, peers out. Near peers and far ones are kept apart, those heard of last at the end.
Neighbourhoods and owners are computed from the order of the members.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import chain

from dht.admission.neighbourhood import WHOLE, IdRange, neighbourhood_of
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer


class PeerPools:
    """Holds one node's peers. `block`: this node's neighbourhood."""

    def __init__(self) -> None:
        self.near: dict[NodeId, KnownPeer] = {}
        self.far: dict[NodeId, KnownPeer] = {}
        self.block = WHOLE
        self._all: dict[NodeId, KnownPeer] = {}
        self.find = self._all.get  # what is known of a peer, None where nothing is

    def __len__(self) -> int:
        return len(self._all)

    def items(self) -> Iterator[tuple[NodeId, KnownPeer]]:
        """Return all, near ones and then far ones, those heard of last first."""
        return chain(reversed(self.near.items()), reversed(self.far.items()))

    def put(self, peer: NodeId, known: KnownPeer) -> None:
        """Take a peer that was not here."""
        self._all[peer] = known
        (self.near if self.block.has(peer) else self.far)[peer] = known

    def put_all(self, known: Mapping[NodeId, KnownPeer]) -> None:
        """Take many peers that were not here, as far ones until all are divided."""
        self._all |= known
        self.far |= known

    def take(self, peer: NodeId) -> KnownPeer | None:
        """Remove a peer and return it, None where it was not here."""
        self.near.pop(peer, None)
        self.far.pop(peer, None)
        return self._all.pop(peer, None)

    def renew(self, peer: NodeId, known: KnownPeer) -> None:
        """Take a newer heartbeat of a peer that is here."""
        self._all[peer] = known
        pool = self.near if peer in self.near else self.far
        del pool[peer]  # the one heard of last is at the end
        pool[peer] = known

    def divide(self, block: IdRange) -> None:
        """Tell near peers from far ones by another neighbourhood, all of them."""
        self.block, (first, last) = block, block
        all_known = [*self.far.items(), *self.near.items()]
        self.near = {peer: known for peer, known in all_known if first <= known.opened.prefix <= last}
        self.far = {peer: known for peer, known in all_known if not first <= known.opened.prefix <= last}


class MemberOrder:
    """Keeps members sorted."""

    def __init__(self) -> None:
        self._sorted: list[NodeId] = []
        self._cached: tuple[NodeId, ...] | None = None

    def set(self, peer: NodeId, *, is_member: bool) -> bool:
        """Let a node be a member, or none; tell whether that is a change."""
        place = bisect_left(self._sorted, peer)
        if is_member == (place < len(self._sorted) and self._sorted[place] == peer):
            return False
        self._cached = None
        if is_member:
            self._sorted.insert(place, peer)
        else:
            del self._sorted[place]
        return True

    def all(self) -> tuple[NodeId, ...]:
        """Return all; the same object until somebody comes or goes."""
        if self._cached is None:
            self._cached = tuple(self._sorted)
        return self._cached

    def neighbourhood_of(self, point: bytes) -> IdRange:
        """Return the neighbourhood of a member, or of any point."""
        return neighbourhood_of(self._sorted, point)
