"""The peers that are vouched for, near ones and far ones apart, those heard of last at the end.

Pure: peers and ranges of ids in, peers out.
"""

from collections.abc import Iterator
from itertools import chain

from dht.admission.neighbourhood import WHOLE, IdRange
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer


class PeerPools:
    """Holds one node's peers. `block`: this node's neighbourhood."""

    def __init__(self) -> None:
        self.near: dict[NodeId, KnownPeer] = {}
        self.far: dict[NodeId, KnownPeer] = {}
        self.block = WHOLE

    def __len__(self) -> int:
        return len(self.near) + len(self.far)

    def find(self, peer: NodeId) -> KnownPeer | None:
        """Return what is known of a peer, None where nothing is."""
        return self.near.get(peer) or self.far.get(peer)

    def items(self) -> Iterator[tuple[NodeId, KnownPeer]]:
        """Return all, near ones and then far ones, those heard of last first."""
        return chain(reversed(self.near.items()), reversed(self.far.items()))

    def put(self, peer: NodeId, known: KnownPeer) -> None:
        """Take a peer that was not here."""
        (self.near if self.block.has(peer) else self.far)[peer] = known

    def take(self, peer: NodeId) -> KnownPeer | None:
        """Remove a peer and return it, None where it was not here."""
        return self.near.pop(peer, None) or self.far.pop(peer, None)

    def renew(self, peer: NodeId, known: KnownPeer) -> None:
        """Take a newer heartbeat of a peer that is here."""
        pool = self.near if peer in self.near else self.far
        del pool[peer]  # the one heard of last is at the end
        pool[peer] = known

    def divide(self, block: IdRange) -> None:
        """Tell near peers from far ones by another neighbourhood, all of them."""
        self.block, (first, last) = block, block
        all_known = [*self.far.items(), *self.near.items()]
        self.near = {peer: known for peer, known in all_known if first <= known.opened.prefix <= last}
        self.far = {peer: known for peer, known in all_known if not first <= known.opened.prefix <= last}
