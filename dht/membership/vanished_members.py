"""The vanished members fell silent for good: a node that forgot them could take the rest for the whole network.

Pure: heartbeats, days and wall times in, ids out. A long cut parts a network in two, and when the grace is over each
side is one by itself. So a node remembers its vanished members for 30 days, except those that left, that were blocked,
or that were members for less than a day.
"""

from collections.abc import Iterable

from dht.clock import day_of
from dht.keys import NodeId
from dht.wire.heartbeat import VerifiedHeartbeat

REMEMBERED_S = 30 * 86400.0  # since the last sign of life
FORGOTTEN = 63  # of those whose grace is over, kept for `take_forgotten` besides one more
LIMIT = 4096  # as many as there can be members


class VanishedMembers:
    """Remembers vanished members, each with the wall time of its last sign of life."""

    def __init__(self) -> None:
        self._last_sign: dict[NodeId, float] = {}
        self._shown: frozenset[NodeId] = frozenset()
        self._shown_until = float("-inf")
        self._forgotten: list[VerifiedHeartbeat] = []  # since `take_forgotten`

    def lose(self, opened: VerifiedHeartbeat, first_day: int | None, own_first_day: int | None) -> None:
        """Note that a peer's grace is over. The days (since 1970) are those since which it and this node are members,
        None where that is not known. A peer is left out whose first day was its last one, unless this node came no
        earlier."""
        self._forgotten = [*self._forgotten[-FORGOTTEN:], opened]
        beat = opened.heartbeat
        is_passing = first_day is not None and first_day >= day_of(beat.sent_at)
        is_first = first_day is not None and own_first_day is not None and first_day <= own_first_day
        if beat.member and not beat.leaving and (is_first or not is_passing):
            self.restore([(opened.contact.node_id, beat.sent_at)])

    def take_forgotten(self) -> list[VerifiedHeartbeat]:
        """Return the last heartbeats of the peers whose grace ended since the last call."""
        forgotten = self._forgotten
        if forgotten:  # asked for every packet
            self._forgotten = []
        return forgotten

    def restore(self, vanished: Iterable[tuple[NodeId, float]]) -> None:
        """Take these as vanished, each with its last sign of life; beyond the limit those of the oldest signs go."""
        self._last_sign.update(vanished)
        if len(self._last_sign) > LIMIT:
            newest = sorted(self._last_sign.items(), key=lambda item: item[1])[-LIMIT:]
            self._last_sign = dict(newest)
        self._shown_until = float("-inf")

    def found(self, peer: NodeId) -> None:
        """Note that a peer is there again, or is to be forgotten."""
        if self._last_sign.pop(peer, None) is not None:
            self._shown_until = float("-inf")

    def has(self, peer: NodeId) -> bool:
        """Tell whether a peer was a member and fell silent."""
        return peer in self._last_sign

    def items(self) -> tuple[tuple[NodeId, float], ...]:
        """Return all vanished members with their last signs of life, to be kept in a file."""
        return tuple(self._last_sign.items())

    def at(self, wall: float) -> frozenset[NodeId]:
        """Return who is remembered as vanished; the same object until that changes."""
        if wall >= self._shown_until:
            self._last_sign = {peer: at for peer, at in self._last_sign.items() if at > wall - REMEMBERED_S}
            self._shown = frozenset(self._last_sign)
            self._shown_until = min(self._last_sign.values(), default=float("inf")) + REMEMBERED_S
        return self._shown
