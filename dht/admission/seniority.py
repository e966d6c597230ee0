"""Seniority is for how long this node has known a peer: who came just now does not decide beside the older ones.

Pure: `now` is an argument; wall time, since ages outlive a restart. A newcomer hears of everybody at once, so whom it
met while it joined counts as older than itself, unless the whole network is younger than the age that is asked for:
there nobody is old enough, and all count.
"""

from collections.abc import Iterable

from dht.clock import DAY_S, Now, day_of
from dht.keys import NodeId

JOIN_S = 60.0  # in which a newcomer hears of all who are there


def last_old_day(now: Now, min_age_s: float, began_at: float) -> int | None:
    """Return the last day (since 1970) of whose newcomers a network takes none for young any more; None where it takes
    nobody for young: it asks for no age, or began (`began_at`, wall time) less than that ago. Who came in that time is
    as old as the network."""
    if not min_age_s or now.wall - began_at < min_age_s:
        return None
    return max(day_of(now.wall - min_age_s - DAY_S), day_of(began_at + min_age_s))


class Seniority:
    """When each known peer was first heard of; bounded by the peers that are remembered."""

    def __init__(self, own: NodeId) -> None:
        self._own = own
        self._since: dict[NodeId, float] = {}
        self._first_at = float("inf")

    def heard(self, peer: NodeId, at: float) -> None:
        """Note that a peer was there at a wall time; the earliest counts."""
        self._since[peer] = min(at, self._since.get(peer, at))
        self._first_at = min(self._first_at, at)

    def heard_all(self, peers: Iterable[NodeId], at: float) -> None:
        """Note that many peers, none of them known before, were there at a wall time."""
        self._since.update(dict.fromkeys(peers, at))
        self._first_at = min(self._first_at, at)

    def forget(self, peer: NodeId) -> None:
        self._since.pop(peer, None)

    def since(self, peer: NodeId) -> float:
        """Return the wall time at which a peer was first heard of, inf where it never was; for this node itself, when
        it first heard of anybody."""
        return self._first_at if peer == self._own else self._since.get(peer, float("inf"))

    def seasoned(self, peers: Iterable[NodeId], now: Now, min_age_s: float, began_at: float) -> tuple[NodeId, ...]:
        """Return those of some peers that are old enough to decide. None are returned where the strategy asks for no
        age, or where the network, which began at the wall time `began_at`, is younger than it."""
        if not min_age_s or now.wall - began_at < min_age_s:
            return ()
        return tuple(peer for peer in peers if self._is_old(peer, now.wall - min_age_s))

    def _is_old(self, peer: NodeId, latest: float) -> bool:
        since = self.since(peer)
        return since <= latest or (peer != self._own and since <= self._first_at + JOIN_S)
