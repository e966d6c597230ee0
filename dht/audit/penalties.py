"""Penalties: a refuted peer is avoided for a while, twice as long each next time.

Pure: `now` is steady time in seconds. A penalty is one node's own memory: it moves no ownership.
"""

from collections import OrderedDict
from typing import NamedTuple

from dht.keys import NodeId

LIE_S = 3600.0  # the first penalty for an answer that cannot be honest
BEHIND_S = 60.0  # the first penalty where the peer's copy may only be behind
MOST_S = 86_400.0  # the longest; a peer that passes for honest for as long after one starts anew
REMEMBERED = 4096  # peers


class _Penalty(NamedTuple):
    until: float
    for_s: float


class Penalties:
    """Remembers which peers are avoided, and until when."""

    def __init__(self) -> None:
        self._known: OrderedDict[NodeId, _Penalty] = OrderedDict()

    def impose(self, peer: NodeId, now: float, first_s: float) -> float:
        """Avoid a peer from now on; return for how many seconds."""
        before = self._known.pop(peer, None)
        is_again = before is not None and now < before.until + MOST_S
        for_s = min(max(2 * before.for_s, first_s), MOST_S) if before is not None and is_again else first_s
        self._known[peer] = _Penalty(now + for_s, for_s)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return for_s

    def has(self, peer: NodeId, now: float) -> bool:
        """Tell whether a peer is avoided."""
        penalty = self._known.get(peer)
        return penalty is not None and penalty.until > now

    def avoided(self, now: float) -> frozenset[NodeId]:
        """Return the peers that are avoided."""
        return frozenset(peer for peer, penalty in self._known.items() if penalty.until > now)
