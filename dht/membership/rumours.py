"""Rumours are heartbeats worth telling to whoever comes next: of peers that are new, back, or changed their standing.

Pure: members in, heartbeats out. A rumour is told a bounded number of times, then it is cold: who has missed it finds
it by comparing digests. Source: Demers et al. 1987 (rumour mongering, blind with a counter).
"""

from dht.keys import NodeId
from dht.membership.member_table import MemberTable

LIMIT = 64  # rumours at a time; the newest push out the oldest
FEW_NEW = 3  # new peers in one packet; from here on it is we who are behind, and nobody needs to hear of them from us
FRAME_BYTES = 3  # msgpack frame of one heartbeat


class Rumours:
    """Keeps what one node still has to tell."""

    def __init__(self, members: MemberTable) -> None:
        self._members = members
        self._left: dict[NodeId, int] = {}  # how often it is to be told yet

    def add(self, peer: NodeId) -> None:
        """Tell the news of a peer from now on, so often that the chance that one of n nodes never hears it is small."""
        self._left.pop(peer, None)
        self._left[peer] = 1 + len(self._members).bit_length()
        if len(self._left) > LIMIT:
            del self._left[next(iter(self._left))]

    def tell(self, partner: NodeId | None, room: int, told: set[NodeId]) -> list[bytes]:
        """Return the newest rumours that fit into `room` bytes; none is about `partner` or those in `told`, which
        grows."""
        found: list[bytes] = []
        for peer in list(reversed(self._left)):
            known = self._members.find(peer)
            if known is None:
                del self._left[peer]
            elif peer != partner and peer not in told and len(known.opened.raw) + FRAME_BYTES <= room:
                found.append(known.opened.raw)
                told.add(peer)
                room -= len(known.opened.raw) + FRAME_BYTES
                self._left[peer] -= 1
                if not self._left[peer]:
                    del self._left[peer]
            if room < FRAME_BYTES + 100:  # no heartbeat is shorter
                break
        return found

    def __len__(self) -> int:
        return len(self._left)
