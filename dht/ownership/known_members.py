"""Tells which members are known for a day: by the days that their attesters give, and by what this node saw itself.

Attesters may lie, in a small network two of them for a third. So who came while this node ran is new for a day whatever
anybody says. `now` is an argument.
"""

from collections.abc import Iterable

from dht.admission.member_admission import MemberAdmission
from dht.clock import DAY_S, Now, day_of
from dht.keys import NodeId

SETTLED_S = 60.0  # after a start members are heard of that were there before


class KnownMembers:
    """Remembers when members came since this node's start (steady time)."""

    def __init__(self, admission: MemberAdmission, started_at: float) -> None:
        self._admission, self._settled_at = admission, started_at + SETTLED_S
        self._members: frozenset[NodeId] = frozenset()
        self._came_at: dict[NodeId, float] = {}

    def see(self, now: float, members: Iterable[NodeId]) -> None:
        """Take note of who is a member now."""
        before, self._members = self._members, frozenset(members)
        came = dict.fromkeys(self._members - before if now >= self._settled_at else (), now)
        self._came_at = {peer: at for peer, at in (self._came_at | came).items() if peer in self._members}

    def is_known_for_a_day(self, now: Now, peer: NodeId) -> bool:
        """Tell whether a peer is a member for a day at least. Attesters give days, so it may be two."""
        first_day, came_at = self._admission.first_day(peer), self._came_at.get(peer, now.steady - DAY_S)
        return first_day is not None and day_of(now.wall) > first_day + 1 and now.steady - came_at >= DAY_S
