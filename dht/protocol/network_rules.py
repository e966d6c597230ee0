"""The network's rules are what its strategy in force asks of packets, heartbeats and addresses.

Pure: values only. One owner for all parts of the engine: they read it at each use, and `adopt` changes it for all.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from dht.admission.inviters import NO_INVITERS, Inviters
from dht.keys import NodeId
from dht.wire.address_policy import AddressPolicy
from dht.wire.heartbeat import GRACES, Graces
from dht.wire.packets import PacketHeader


class StrategyRules(NamedTuple):
    """Holds what a strategy asks of one node's protocol; `policy` follows from its declared prefixes.

    No members are nodes that are `blocked`, that have less than `puzzle_bits` of work behind them, that are silent for
    longer than their grace, that `inviters` have put out, and those that are `gone`: the latter by all that they sent
    until an instant (wall time)."""

    version: int
    digest: bytes
    slot_bits: int
    policy: AddressPolicy
    blocked: frozenset[NodeId] = frozenset()
    graces: Graces = GRACES
    puzzle_bits: int = 0
    inviters: Inviters = NO_INVITERS
    gone: Mapping[NodeId, float] = MappingProxyType({})


class NetworkRules:
    """The rules that this node applies to what it sends and hears."""

    def __init__(self, network: bytes, public_key: bytes, policy: AddressPolicy) -> None:
        """`network`: the network's id. Until `adopt` is called no strategy is known: version 0, no puzzle."""
        self.network = network
        self.header = PacketHeader(network[:4], public_key, 0, bytes(8))
        self.policy = policy
        self.graces = GRACES
        self.puzzle_bits = 0  # of work that an identity must have behind it

    def adopt(self, rules: StrategyRules) -> None:
        """Go by another strategy from now on; packets say its version and the first 8 bytes of its digest."""
        digest = rules.digest[:8].ljust(8, b"\0")
        self.header = self.header._replace(strategy_version=rules.version, strategy_digest=digest)
        self.policy, self.graces, self.puzzle_bits = rules.policy, rules.graces, rules.puzzle_bits
