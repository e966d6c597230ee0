"""A node doubts itself if it has a twin, if most clocks speak against its own, and if it never met its network.

Such a node does nothing in its network's name. One with a twin is two, and peers take both for one. One whose clock is
off takes itself for alone. One that never met its network knows nothing of it, and the other two may be the cause.
"""

from collections.abc import Set

from dht.clock import Clock, Now
from dht.keys import NodeId
from dht.membership.reasons_apart import LOST, FirstMeeting
from dht.protocol.engine import ProtocolEngine
from dht.transport.request_auth import WINDOW_S

MOST_OFF_S = WINDOW_S / 2  # by a clock: signed requests pass, and not only just
CLOCKS_DIFFER = "most peers' clocks differ from this machine's; set them"


class SelfDoubt:
    """Judges one node by what its engine has heard."""

    def __init__(self, core: ProtocolEngine, clock: Clock) -> None:
        self._core, self._clock = core, clock
        self.first_meeting = FirstMeeting()

    def why_apart(self, now: Now) -> str:
        """Say why this node does nothing in its network's name; "" where it may."""
        if self._core.twin.is_there(now.steady):
            return self._core.twin.warnings(now.steady)[0]
        sides = self._core.clocks.sides(now, MOST_OFF_S)
        if sides.are_against_us and sides.others > 1:
            return next(iter(self._core.clocks.warnings(now)), CLOCKS_DIFFER)
        return LOST if self.first_meeting.is_lost else ""

    def doubts_clock(self, live: Set[NodeId]) -> bool:
        """Tell whether as many clocks of peers agree on another time as show ours, be it a single one. A peer that is
        not live does not speak for ours: this node may be cut off from all but wrong clocks."""
        return self._core.clocks.sides(self._clock(), MOST_OFF_S, live).are_against_us
