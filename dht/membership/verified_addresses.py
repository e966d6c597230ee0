"""An address is verified when the peer answered there: until then it is only a claim of a heartbeat.

Pure: `now` is steady seconds. A question carries eight random bytes and goes to one address, so whoever answers it
under the peer's key receives there. Bounded: one address a family and peer, those not verified for longest are
forgotten.
"""

from dht.keys import NodeId
from dht.rate_limit import remember
from dht.wire.contact import Address, Family

ADDRESS_LIMIT = 8192
VALID_S = 3600.0  # an address may be somebody else's by then; in a large network two peers meet this seldom


class VerifiedAddresses:
    """Remembers at which addresses peers have answered."""

    def __init__(self) -> None:
        self._at: dict[tuple[NodeId, Family], tuple[str, float]] = {}

    def note(self, peer: NodeId, address: Address, now: float) -> None:
        """Note that a peer answered what was sent to this address."""
        remember(self._at, (peer, address.family), (address.host, now), ADDRESS_LIMIT)

    def knows(self, peer: NodeId, family: Family, now: float) -> bool:
        """Tell whether a peer answered at any address of a family within the last hour."""
        return now - self._at.get((peer, family), ("", -VALID_S - now))[1] <= VALID_S

    def has(self, peer: NodeId, address: Address, now: float) -> bool:
        """Tell whether a peer answered at this host within the last hour."""
        host, at = self._at.get((peer, address.family), ("", 0.0))
        return host == address.host and now - at <= VALID_S
