"""Which peers have which grants already, as far as their answers to what this node wrote say it.

Pure: values only. A holder writes under one grant for minutes; each peer is sent it once. Where a peer refuses anything
it is sent all again, so whoever lost what it had lacks it for one answer.
"""

from collections import OrderedDict
from collections.abc import Iterable

from dht import NodeId, SignedGrant

REMEMBERED = 16_384  # pairs of a peer and a grant


class SentGrants:
    """Remembers what one node sent."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[NodeId, SignedGrant], None] = OrderedDict()

    def lacking(self, peer: NodeId, grants: Iterable[SignedGrant]) -> tuple[SignedGrant, ...]:
        """Return those of some grants that a peer may not have."""
        return tuple(grant for grant in grants if (peer, grant) not in self._known)

    def note(self, peer: NodeId, grants: Iterable[SignedGrant]) -> None:
        """Take note that a peer took all records that came with these grants."""
        for grant in grants:
            self._known[peer, grant] = None
            self._known.move_to_end((peer, grant))
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def forget(self, peer: NodeId) -> None:
        """Take note that a peer refused something."""
        for pair in [pair for pair in self._known if pair[0] == peer]:
            del self._known[pair]
