"""The attesters of a peer follow from ids: the members nearest (XOR) to a point that nobody chooses.

Pure: ids in, ids out. A peer's point is a hash of its id, so that the members near it are a random sample of all.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection
from hashlib import blake2b

from dht.admission.neighbourhood import nearest
from dht.keys import KEY_BYTES, NodeId, distance


def attest_point(peer: NodeId) -> bytes:
    """Return the point of a peer's id."""
    return blake2b(peer, digest_size=KEY_BYTES, person=b"dse-node attest").digest()


def nearest_attesters(peer: NodeId, among: Collection[NodeId], count: int) -> list[NodeId]:
    """Return those of some nodes that are nearest to the point of a peer's id, without itself."""
    point = attest_point(peer)
    return sorted((each for each in among if each != peer), key=lambda each: distance(each, point))[:count]


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

    def nearest(self, peer: NodeId, count: int, is_able: Callable[[NodeId], bool]) -> list[NodeId]:
        """Return the able members that are nearest to the point of a peer's id, without itself."""
        point, wide = int.from_bytes(attest_point(peer), "big"), count + 1
        while True:
            near = nearest(self._ids, self._numbers, point, wide)
            found = [each for each in near if each != peer and is_able(each)]
            if len(found) >= count or wide >= len(self._ids):
                return found[:count]
            wide *= 2
