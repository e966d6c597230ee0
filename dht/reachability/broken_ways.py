"""Remembers to which peers the direct way is broken, though others reach them: such peers are asked through a relay.

Pure: `now` is steady seconds. That a peer does not answer says little: it may be dead, or busy. That a relay brings an
answer from it right after says that it is the way. The direct way is tried again after a while, each time a longer one.
A way between two networks that is broken for a minute is often broken for a day. A relay that let somebody wait, as one
that froze does, is asked last for a while.
"""

from dht.keys import NodeId
from dht.rate_limit import remember

FAILS, FAILING_S = 2, 2.0  # questions without an answer, and since when, before a relay is asked first
AGAIN_S, AGAIN_MOST_S = 60.0, 900.0
SILENT_S = 60.0  # for so long a relay that let somebody wait is asked after others
LIMIT = 4096  # peers remembered


class BrokenWays:
    """Knows the peers that one node reaches through relays alone, though they share a family."""

    def __init__(self) -> None:
        self._failing: dict[NodeId, tuple[int, float]] = {}  # direct questions in a row without an answer, since when
        self._until: dict[NodeId, tuple[float, float]] = {}  # steady time of the next direct try, and how long that was
        self._silent: dict[NodeId, float] = {}  # who let somebody wait, until this steady time

    def is_broken(self, peer: NodeId, now: float) -> bool:
        """Tell whether a peer is to be asked through a relay first."""
        if now < self._until.get(peer, (0.0, 0.0))[0]:
            return True
        fails, since = self._failing.get(peer, (0, now))
        return fails >= FAILS and now - since >= FAILING_S

    def is_failing(self, peer: NodeId) -> bool:
        """Tell whether the last direct question to a peer had no answer."""
        return peer in self._failing

    def is_silent(self, peer: NodeId, now: float) -> bool:
        """Return whether a peer left a question unanswered during the last SILENT_S seconds, so that other relays come
        first."""
        return now < self._silent.get(peer, now)

    def silent(self, peer: NodeId, now: float) -> None:
        """Note that a peer did not answer, or that nothing came through it while another relay brought the answer."""
        remember(self._silent, peer, now + SILENT_S, LIMIT)

    def answered(self, peer: NodeId) -> None:
        """Note that a peer answered, by whatever way."""
        self._silent.pop(peer, None)

    def failed(self, peer: NodeId, now: float) -> None:
        """Note that a peer did not answer directly."""
        fails, since = self._failing.get(peer, (0, now))
        remember(self._failing, peer, (fails + 1, since), LIMIT)

    def relayed(self, peer: NodeId, now: float) -> None:
        """Note that a relay brought an answer from a peer that did not answer directly."""
        if self._failing.pop(peer, None) is None:
            return
        wait_s = min(AGAIN_MOST_S, 2 * self._until.get(peer, (0.0, AGAIN_S / 2))[1])
        remember(self._until, peer, (now + wait_s, wait_s), LIMIT)

    def direct(self, peer: NodeId) -> None:
        """Note that a peer answered directly."""
        if self._failing or self._until:
            self._failing.pop(peer, None)
            self._until.pop(peer, None)
