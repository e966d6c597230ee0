"""The members of a network in the order of their ids, as their neighbourhoods and owners are computed.

Pure: ids in, ids out.
"""

from bisect import bisect_left

from dht.admission.neighbourhood import IdRange, neighbourhood_of
from dht.keys import NodeId


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
