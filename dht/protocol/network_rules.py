"""The network's rules are what its strategy in force asks of packets, heartbeats and addresses.

Pure: values only. One owner for all parts of the engine: they read it at each use, and `adopt` changes it for all.
"""

from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import GRACES, Graces
from dht.wire.packets import PacketHeader


class NetworkRules:
    """The rules that this node applies to what it sends and hears."""

    def __init__(self, network: bytes, public_key: bytes, policy: AddressPolicy) -> None:
        """`network`: the network's id. Until `adopt` is called no strategy is known: version 0, no puzzle."""
        self.network = network
        self.header = PacketHeader(network[:4], public_key, 0, bytes(8))
        self.policy = policy
        self.graces = GRACES
        self.puzzle_bits = 0  # of work that an identity must have behind it

    def adopt(self, version: int, digest: bytes, policy: AddressPolicy, graces: Graces, puzzle_bits: int) -> None:
        """Go by another strategy from now on; packets say its version and the first 8 bytes of its digest."""
        self.header = self.header._replace(strategy_version=version, strategy_digest=digest[:8].ljust(8, b"\0"))
        self.policy = policy
        self.graces = graces
        self.puzzle_bits = puzzle_bits
