"""The attested peers are those that this node has reached itself and names in its heartbeats, sixteen at most.

Pure: ids and days in, marks out. Each is named with the day since which this node names it. A full list drops a peer
that has more names than it needs, in favour of one that lacks a name, or because other nodes are its attesters. While
many peers wait at once, the one with the highest id is dropped. So attesters with room for some of a crowd name the
same ones, and those are admitted.
"""

from collections.abc import Callable, Iterator, Mapping

from dht.admission.member_admission import MemberAdmission
from dht.keys import NodeId
from dht.wire.heartbeat import DAY_BYTES, MOST_ATTESTED


class AttestedPeers:
    """Keeps the peers that one node names. `is_ours`: whether it is one of the attesters of a peer."""

    def __init__(self, admission: MemberAdmission, is_ours: Callable[[NodeId], bool]) -> None:
        self._admission, self._is_ours = admission, is_ours
        self._peers: dict[NodeId, tuple[bytes, int]] = {}  # marks, and days (since 1970) since which each is known

    @property
    def marks(self) -> bytes:
        """The names for the next heartbeat."""
        return b"".join(mark for mark, _ in self._peers.values())

    @property
    def days(self) -> bytes:
        """The day that goes with each mark."""
        return b"".join(day.to_bytes(DAY_BYTES, "big") for _, day in self._peers.values())

    @property
    def is_full(self) -> bool:
        """Whether one must give way for another."""
        return len(self._peers) >= MOST_ATTESTED

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self._peers)

    def day(self, peer: NodeId) -> int | None:
        """Return the day with which a peer is named, None where it is not."""
        return self._peers[peer][1] if peer in self._peers else None

    def has(self, peer: NodeId, mark: bytes) -> bool:
        """Tell whether a peer is named, by this mark."""
        return peer in self._peers and self._peers[peer][0] == mark

    def has_room(self, peer: NodeId) -> bool:
        """Tell whether a peer could be named."""
        return peer in self._peers or not self.is_full or self._least_needy(peer) is not None

    def name(self, peer: NodeId, mark: bytes, day: int) -> bool:
        """Name a peer by this mark from now on; False where there is no room."""
        if peer not in self._peers and self.is_full:
            if (gives_way := self._least_needy(peer)) is None:
                return False
            del self._peers[gives_way]
        self._peers[peer] = mark, day
        return True

    def retain(self, stays: Callable[[NodeId], bool]) -> None:
        """Name those alone who stay."""
        self._peers = {peer: said for peer, said in self._peers.items() if stays(peer)}

    def restore(self, peers: Mapping[NodeId, tuple[bytes, int]]) -> None:
        """Name these again, by these marks and days, as before a restart."""
        new = [peer for peer in peers if peer not in self._peers][: MOST_ATTESTED - len(self._peers)]
        self._peers |= {peer: peers[peer] for peer in new}

    def _least_needy(self, instead: NodeId) -> NodeId | None:
        admission, is_needy = self._admission, self._admission.lacks(instead) > 0
        spare = [peer for peer in self._peers if admission.is_member(peer) and admission.lacks(peer) < 0]
        fit = [peer for peer in spare if not self._is_ours(peer)] or (spare if is_needy else [])
        if fit:
            return min(fit, key=admission.lacks)
        waiting = [peer for peer in self._peers if not admission.is_member(peer)]
        return max(waiting) if waiting and max(waiting) > instead else None
