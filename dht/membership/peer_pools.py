"""The peers that are vouched for, and the members among them in the order of their ids.

Pure: peers and ranges of ids in, peers out. Near peers and far ones are kept apart, those heard of last at the end.
Neighbourhoods and owners are computed from the order of the members.

The waiting peers say that they are members and are not admitted yet: nobody asks them anything or passes them on.

Pure: `now` as steady seconds. An attacker can make any number of identities wait, so they cost little. 512 are kept, at
most four of one /24 or /48. Each stays for two minutes after its last heartbeat, whatever grace it claims. Where there
is no room the one that has waited longest gives way, one that an admitted member names last.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from dht.admission.neighbourhood import WHOLE, IdRange, neighbourhood_of
from dht.keys import NodeId
from dht.membership.known_peer import KnownPeer
from dht.wire.address_policy import AddressPolicy


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


WAITING_LIMIT = 512
BLOCK_LIMIT = 4  # of one /24 or /48; where the strategy declares the prefix, as many as there are
WAIT_S = 120.0  # since the last heartbeat
ARRIVED = 63  # of those admitted, kept for `take_arrived` besides one more


class WaitingPeers:
    """Keeps the newest heartbeats of those who wait. `is_named`: whether an admitted member names a peer."""

    def __init__(self, is_named: Callable[[NodeId], bool]) -> None:
        self.policy = AddressPolicy()  # that of the strategy in force
        self._is_named = is_named
        self._peers: dict[NodeId, tuple[KnownPeer, frozenset[bytes]]] = {}  # with blocks; who came last at the end
        self._blocks: Counter[bytes] = Counter()
        self._oldest = float("inf")  # no heartbeat is older than this
        self._arrived: list[NodeId] = []  # admitted since `take_arrived`

    def __len__(self) -> int:
        return len(self._peers)

    def find(self, peer: NodeId) -> KnownPeer | None:
        """Return what a waiting peer said last."""
        return self._peers[peer][0] if peer in self._peers else None

    def items(self) -> list[tuple[NodeId, KnownPeer]]:
        """Return who waits, with what they said last."""
        return [(peer, known) for peer, (known, _) in self._peers.items()]

    def put(self, peer: NodeId, known: KnownPeer, now: float) -> list[NodeId]:
        """Keep a heartbeat, if there is room; return who does not wait now but did, or wants to."""
        self.take(peer)
        blocks = self.policy.subnets(endpoint.host for endpoint in known.opened.contact.endpoints)
        is_crowded = any(self._blocks[block] >= BLOCK_LIMIT for block in blocks) and not self._is_named(peer)
        if now - known.sent_steady > WAIT_S or is_crowded:
            return [peer]
        gone = list[NodeId]()
        if len(self._peers) >= WAITING_LIMIT:
            gone = [next((each for each in self._peers if not self._is_named(each)), next(iter(self._peers)))]
            self.take(gone[0])
        self._peers[peer] = known, blocks
        self._blocks.update(blocks)
        self._oldest = min(self._oldest, known.sent_steady)
        return gone

    def take(self, peer: NodeId) -> KnownPeer | None:
        """Return a peer that waits no longer."""
        known, blocks = self._peers.pop(peer, (None, frozenset[bytes]()))
        for block in blocks:
            self._blocks[block] -= 1
            if not self._blocks[block]:
                del self._blocks[block]
        return known

    def admit(self, peer: NodeId) -> KnownPeer | None:
        """Return a peer that is admitted, and so waits no longer; None where it did not wait."""
        known = self.take(peer)
        if known is not None:
            self._arrived = [*self._arrived[-ARRIVED:], peer]
        return known

    def take_arrived(self) -> list[NodeId]:
        """Return the last peers that were admitted since the last call."""
        arrived = self._arrived
        if arrived:  # asked for every packet
            self._arrived = []
        return arrived

    def overdue(self, now: float) -> list[NodeId]:
        """Return who has been silent for too long."""
        if now - self._oldest <= WAIT_S:
            return []
        self._oldest = min((known.sent_steady for _, known in self.items()), default=float("inf"))
        return [peer for peer, known in self.items() if now - known.sent_steady > WAIT_S]
