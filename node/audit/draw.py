"""Which pages of others a node fetches again, and how many it may.

Pure: versions and counts in, choices out. The draw is a deterministic signature of this node's own over the version:
the author cannot foresee it, and nobody need remember it. The budget is a share of the node's own fetches.
"""

from collections import OrderedDict

from dht import Identity, NodeId

DOMAIN = b"dse-node witness draw 1"
RATE = 0.02  # of an author's pages
FIRST = 200  # pages of an author that this node sees: all of them, as far as the budget goes
MAX_AUTHORS = 4096  # whose pages are counted; one that is forgotten begins anew
COST = 2.0  # fetches that a look may take: robots.txt, and the page
RESERVE = 2.0  # fetches kept for others' questions
BURST = 8.0  # fetches saved up at most


class Draw:
    """Draws versions that this node fetches again."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._seen: OrderedDict[NodeId, int] = OrderedDict()

    def takes(self, author: NodeId, digest: bytes) -> bool:
        """Tell whether a new version of an author's (32 bytes of digest) is drawn; it counts as seen."""
        seen = self._seen.pop(author, 0)
        self._seen[author] = seen + 1
        if len(self._seen) > MAX_AUTHORS:
            self._seen.popitem(last=False)
        return seen < FIRST or self.is_drawn(digest)

    def is_drawn(self, digest: bytes) -> bool:
        """Tell whether a version is one of the RATE of all that are drawn whoever wrote them."""
        return int.from_bytes(self._identity.sign(DOMAIN, digest)[:4], "big") < RATE * 2**32


class WitnessBudget:
    """Counts how many fetches as a witness this node may make: a share of its own."""

    def __init__(self) -> None:
        self._credit, self._fetched, self._is_first = 0.0, 0, True

    def earn(self, fetched: int, share: float) -> None:
        """Take note of all fetches that this node has made for itself so far."""
        self._credit = min(BURST, self._credit + share * max(0, fetched - self._fetched))
        self._fetched = fetched

    def take(self, *, asked: bool) -> bool:
        """Spend what one look may cost, where there is so much. Where nothing speaks against the page's author
        (`asked`), something is left for looks that others will ask for."""
        if self._credit < COST + (0.0 if asked or self._is_first else RESERVE):
            return False
        self._credit, self._is_first = self._credit - COST, False
        return True

    def settle(self, made: int) -> None:
        """Take note that a look came to so many fetches."""
        self._credit += COST - made
