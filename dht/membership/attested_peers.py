"""The attested peers are those that this node has reached itself and names in its heartbeats, twelve at most.

Pure: ids in, marks out. Where there is no room, one gives way that more peers name than it needs, to whoever lacks a
name, and otherwise if it is others' part to attest it. While many wait at once the one with the highest id gives way:
so attesters that have room for some of a crowd name the same ones, and those are admitted.
"""

from collections.abc import Callable, Iterable

from dht.keys import NodeId
from dht.membership.admission import MemberAdmission, mark_of
from dht.wire.heartbeat import MOST_ATTESTED


class AttestedPeers:
    """Keeps whom one node names. `is_ours`: whether it is this node's part to attest a peer."""

    def __init__(self, admission: MemberAdmission, is_ours: Callable[[NodeId], bool]) -> None:
        self._admission, self._is_ours = admission, is_ours
        self._peers: list[NodeId] = []

    @property
    def marks(self) -> bytes:
        """What the next heartbeat says."""
        return b"".join(map(mark_of, self._peers))

    def has(self, peer: NodeId) -> bool:
        """Tell whether a peer is named."""
        return peer in self._peers

    def has_room(self, peer: NodeId) -> bool:
        """Tell whether a peer could be named."""
        return len(self._peers) < MOST_ATTESTED or self._least_needy(peer) is not None

    def name(self, peer: NodeId) -> bool:
        """Name a peer from now on; False where there is no room."""
        if len(self._peers) >= MOST_ATTESTED:
            if (gives_way := self._least_needy(peer)) is None:
                return False
            self._peers.remove(gives_way)
        self._peers.append(peer)
        return True

    def retain(self, known: Callable[[NodeId], bool]) -> None:
        """Name none of whom nothing is known any more."""
        self._peers = list(filter(known, self._peers))

    def restore(self, peers: Iterable[NodeId]) -> None:
        """Name these again, as before a restart."""
        self._peers += [peer for peer in peers if peer not in self._peers][: MOST_ATTESTED - len(self._peers)]

    def _least_needy(self, instead: NodeId) -> NodeId | None:
        admission, is_needy = self._admission, self._admission.lacks(instead) > 0
        spare = [peer for peer in self._peers if admission.is_member(peer) and admission.lacks(peer) < 0]
        fit = [peer for peer in spare if not self._is_ours(peer)] or (spare if is_needy else [])
        if fit:
            return min(fit, key=admission.lacks)
        waiting = [peer for peer in self._peers if not admission.is_member(peer)]
        return max(waiting) if waiting and max(waiting) > instead else None
