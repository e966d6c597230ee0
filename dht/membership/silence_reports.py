"""Silence reports are what peers say of the life of one that this node cannot ask itself, since they share no family.

Pure: `now` is an argument. One liar kills nobody: two who can ask the peer have to name it within seconds, and no
heartbeat of it that is younger. Where a single peer joins the two families its word does, since whatever is heard of
the other side comes through it. Believed once in two minutes: two liars silence a peer for one heartbeat of twelve.
"""

from collections.abc import Collection

from dht.clock import Now
from dht.keys import NodeId
from dht.rate_limit import RateLimiter

REPORTERS = 2  # who have to say so, where there are as many that can know
TOGETHER_S = 8.0  # within this; who suspects a peer names it in every packet for longer
BELIEVED_S = 120.0  # between two deaths of the same peer that are believed


class SilenceReports:
    """Counts for one node who says of whom that it is silent."""

    def __init__(self) -> None:
        self._named: dict[NodeId, dict[NodeId, float]] = {}  # peer → who named it → when (steady) first
        self._believed = RateLimiter(1 / BELIEVED_S, 1.0)

    def take(self, now: Now, peer: NodeId, heard_at: float, reporter: NodeId, able: Collection[NodeId]) -> float | None:
        """Note that a peer is named, and return since when (steady time) it counts as silent; None where too few say
        so. `heard_at`: when its newest heartbeat was sent; `able`: who can ask it and tells us."""
        if reporter not in able:
            return None
        self._forget(now)
        named = self._named.setdefault(peer, {})
        named.setdefault(reporter, now.steady)
        since = [at for each, at in named.items() if each in able and at > heard_at]
        if len(since) < min(REPORTERS, len(able)) or not self._believed.take(peer, now.steady):
            return None
        del self._named[peer]
        return min(since)

    def _forget(self, now: Now) -> None:
        """Drop what was said too long ago."""
        for peer, named in list(self._named.items()):
            self._named[peer] = {each: at for each, at in named.items() if now.steady - at <= TOGETHER_S}
            if not self._named[peer]:
                del self._named[peer]
