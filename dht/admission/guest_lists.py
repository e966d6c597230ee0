"""The guest lists say which members are here by which invitation, so that each is used as often as it may be.

Pure: ids and days in, answers out. Everybody can count alike, since heartbeats name the invitation and its uses, and
attesters saw that they are those of the voucher. A guest that leaves for good frees a place.
"""

from collections.abc import Callable, Set

from dht.keys import NodeId
from dht.wire.invitation import uses_in


class GuestLists:
    """Keeps one list for each invitation that members have named."""

    def __init__(self) -> None:
        self._lists: dict[bytes, set[NodeId]] = {}

    def add(self, member: NodeId, invited_by: bytes) -> None:
        """Take in a member."""
        if invited_by:
            self._lists.setdefault(invited_by, set()).add(member)

    def drop(self, member: NodeId, invited_by: bytes) -> None:
        """Leave out who is no member any more, or names another invitation."""
        guests = self._lists.get(invited_by, set())
        guests.discard(member)
        if not guests:
            self._lists.pop(invited_by, None)

    def of(self, invited_by: bytes) -> Set[NodeId]:
        """Return the members that are here by one invitation."""
        return self._lists.get(invited_by, frozenset())

    def is_one_too_many(self, peer: NodeId, invited_by: bytes, first_day: Callable[[NodeId], int]) -> bool:
        """Tell whether others have used up an invitation: of its guests the first ones by first day and id count. Who
        is none yet comes after them."""
        guests, uses = self.of(invited_by), uses_in(invited_by)
        if not invited_by or len(guests | {peer}) <= uses:
            return False
        return peer not in sorted(guests, key=lambda each: (first_day(each), each))[:uses]
