"""Whose part it is to attest a peer follows from ids: the members nearest (XOR) to a point that nobody chooses.

Pure: ids in, ids out. A peer's own point comes from its id, so that few of those who know it are liars whoever it is.
The point of its /24 or /48 is the same for all who come from there, so that the same few members hear of all of them
and can count them.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection
from hashlib import blake2b

from dht.admission.neighbourhood import nearest
from dht.keys import KEY_BYTES, NodeId, distance


def attest_point(subject: bytes) -> bytes:
    """Return the point of a peer's id, or of its /24 or /48."""
    return blake2b(subject, digest_size=KEY_BYTES, person=b"dse-node attest").digest()


def nearest_attesters(subject: bytes, peers: Collection[NodeId], count: int) -> list[NodeId]:
    """Return those of some peers that are nearest to the point of an id, without itself, or of a /24 or /48."""
    point = attest_point(subject)
    return sorted((peer for peer in peers if peer != subject), key=lambda peer: distance(peer, point))[:count]


class AttesterOrder:
    """Keeps members sorted, to find the nearest ones fast."""

    def __init__(self) -> None:
        self._ids: list[NodeId] = []
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, member: NodeId) -> None:
        """Take in a new member."""
        place = bisect_left(self._ids, member)
        self._ids.insert(place, member)
        self._numbers.insert(place, int.from_bytes(member, "big"))

    def drop(self, member: NodeId) -> None:
        """Leave out one of the members."""
        place = bisect_left(self._ids, member)
        del self._ids[place], self._numbers[place]

    def nearest(self, subject: bytes, count: int, is_able: Callable[[NodeId], bool]) -> list[NodeId]:
        """Return those members of all that are able which are nearest to the point of an id, without itself, or of a
        /24 or /48."""
        point, wide = int.from_bytes(attest_point(subject), "big"), count + 1
        while True:
            near = nearest(self._ids, self._numbers, point, wide)
            found = [each for each in near if each != subject and is_able(each)]
            if len(found) >= count or wide >= len(self._ids):
                return found[:count]
            wide *= 2
