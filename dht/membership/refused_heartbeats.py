"""Remembers whose heartbeats the strategy's rules make this node refuse, and why, so that an operator hears of it.

Pure: `now` is an argument. Anybody may send such heartbeats: few are remembered, and fewer are news.
"""

from typing import NamedTuple

from dht.clock import Now
from dht.keys import NodeId
from dht.rate_limit import RateLimiter

LIMIT = 64  # peers, each with its last reason; the one that was refused longest ago gives way
NEWS_S, NEWS_BURST = 10.0, 8.0  # between two that are news, and at once
PRESENT_S = 600.0  # a peer that was refused within so many seconds still is


class RefusedHeartbeat(NamedTuple):
    """Names the author of a heartbeat (id, hex) and the reason for which this node refuses it."""

    peer: str
    reason: str


class RefusedHeartbeats:
    """Keeps the refused authors of one node."""

    def __init__(self) -> None:
        self._at: dict[RefusedHeartbeat, float] = {}  # when each was refused last; steady
        self._news: list[RefusedHeartbeat] = []
        self.has_news = False
        self._rate = RateLimiter(1 / NEWS_S, NEWS_BURST, keys=1)

    def note(self, peer: str, reason: str, now: Now) -> None:
        """Note that a heartbeat was refused; one peer and reason is news once."""
        refused = RefusedHeartbeat(peer, reason)
        if self._at.pop(refused, None) is None and self._rate.take("", now.steady):
            self._news.append(refused)
            self.has_news = True
        self._at[refused] = now.steady
        if len(self._at) > LIMIT:
            del self._at[next(iter(self._at))]

    def forget(self, peer: NodeId) -> None:
        """Note that a peer's heartbeats are taken again."""
        if self._at:
            self._at = {refused: at for refused, at in self._at.items() if refused.peer != peer.hex()}

    def take_news(self) -> list[RefusedHeartbeat]:
        """Return what is new since the last call."""
        news, self._news, self.has_news = self._news, [], False
        return news

    def present(self, now: Now) -> list[RefusedHeartbeat]:
        """Return what was refused within the last ten minutes, the latest last."""
        return [refused for refused, at in self._at.items() if now.steady - at <= PRESENT_S]
