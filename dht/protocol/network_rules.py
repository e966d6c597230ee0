"""The network's rules are what its strategy in force asks of packets, heartbeats and addresses.

Pure: values only. One owner for all parts of the engine: they read it at each use, and `adopt` changes it for all.

The packet filter admits datagrams of this network, within their rates, from whom they say they are.

Pure: `now` is an argument. The checks go from cheap to dear, so a flood costs little.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from dht.admission.inviters import NO_INVITERS, Inviters
from dht.clock import Now
from dht.config import DhtConfig
from dht.identity.node_key import Identity, node_id_of
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.rate_limit import RateLimiter
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, pack_host
from dht.wire.heartbeat import GRACES, Graces
from dht.wire.packets import Packet, PacketHeader, PacketKind, decode_packet, is_from

HasStrategy = Callable[[int, bytes], bool]


def has_any(_version: int, _digest: bytes) -> bool:
    """Take each earlier version for one that this node has."""
    return True


class StrategyRules(NamedTuple):
    """Holds what a strategy asks of one node's protocol; `policy` follows from its declared prefixes.

    Nodes are no members for any of these reasons:
    - they are `blocked`;
    - their ids have less than `puzzle_bits` of work behind them;
    - they have been silent for longer than their grace (`graces`);
    - `inviters` has revoked their invitation;
    - they are `gone`: their heartbeats until that instant (wall time) do not count.

    `has` tells whether this node has an earlier version, by number and the first 8 bytes of its digest."""

    version: int
    digest: bytes
    slot_bits: int
    policy: AddressPolicy
    blocked: frozenset[NodeId] = frozenset()
    graces: Graces = GRACES
    puzzle_bits: int = 0
    inviters: Inviters = NO_INVITERS
    gone: Mapping[NodeId, float] = MappingProxyType({})
    has: HasStrategy = has_any


class NetworkRules:
    """The rules that this node applies to what it sends and hears."""

    def __init__(self, network: bytes, public_key: bytes, policy: AddressPolicy) -> None:
        """`network`: the network's id. Until `adopt` is called no strategy is known: version 0, no puzzle."""
        self.network = network
        self.header = PacketHeader(network[:4], public_key, 0, bytes(8))
        self.policy = policy
        self.graces = GRACES
        self.puzzle_bits = 0  # of work that an identity must have behind it
        self._has: HasStrategy = has_any

    def adopt(self, rules: StrategyRules) -> None:
        """Go by another strategy from now on; packets say its version and the first 8 bytes of its digest."""
        digest = rules.digest[:8].ljust(8, b"\0")
        self.header = self.header._replace(strategy_version=rules.version, strategy_digest=digest)
        self.policy, self.graces, self.puzzle_bits = rules.policy, rules.graces, rules.puzzle_bits
        self._has = rules.has

    def is_news(self, packet: Packet) -> bool:
        """Tell whether a packet names a strategy that this node has not: a newer one, or another one of its number."""
        ours, version, digest = self.header, packet.strategy_version, packet.strategy_digest
        if version == ours.strategy_version and digest == ours.strategy_digest:
            return False
        return version >= ours.strategy_version or not self._has(version, digest)


BLOCKED = "blocked by the strategy"
PING = PacketKind.PING
OF_MESSAGES = frozenset({int(PacketKind.QUESTION), int(PacketKind.PART)})
STRANGERS_S, STRANGERS_BURST = 300.0, 600.0  # packets of keys never seen, from everywhere: each costs some 0.2 ms
MESSAGE_PACKETS_S = 2000.0  # a second, of one address and of one peer; twice that at once: 200 requests, as over TLS


class PacketFilter:
    """Authenticates the packets that come to one node."""

    def __init__(self, identity: Identity, rules: NetworkRules, config: DhtConfig, members: MemberTable) -> None:
        self._identity = identity
        self._rules = rules
        self._members = members
        self._addresses = RateLimiter(config.address_packets_s, 2 * config.address_packets_s)
        self._peers = RateLimiter(config.peer_packets_s, 2 * config.peer_packets_s)
        self._strangers = RateLimiter(STRANGERS_S, STRANGERS_BURST, keys=1)
        self._messages_from = RateLimiter(MESSAGE_PACKETS_S, 2 * MESSAGE_PACKETS_S)
        self._messages_of = RateLimiter(MESSAGE_PACKETS_S, 2 * MESSAGE_PACKETS_S)

    def admit(self, now: Now, data: bytes, source: Address) -> Packet | str:
        """Return the packet, or why it is refused; raises BadMessage or BadSignature where it is malformed. The sender
        of a packet with a MAC is proven; only a PING may have none. Of nodes that the strategy blocks, the packets are
        returned that name a strategy which this node has not."""
        carries = len(data) > 1 and data[1] in OF_MESSAGES
        addresses, peers = (self._messages_from, self._messages_of) if carries else (self._addresses, self._peers)
        if not addresses.take(_subscriber(source.host), now.steady):
            return "address over its rate"
        packet = decode_packet(data)
        if packet.network != self._rules.header.network:
            return "another network"
        if packet.public_key == self._identity.public_key:
            return "own packet"
        is_blocked = bool(self._members.blocked) and node_id_of(packet.public_key) in self._members.blocked
        if is_blocked and not self._rules.is_news(packet):
            return BLOCKED
        if self._is_stranger(packet.public_key) and not self._strangers.take("", now.steady):
            return "strangers over their rate"
        key = self._identity.shared_key(packet.public_key)
        if not packet.has_mac:
            return packet if packet.kind is PING else "no MAC"
        if not is_from(packet, key):
            return "wrong MAC"
        return packet if peers.take(packet.public_key, now.steady) else "peer over its rate"

    def _is_stranger(self, public_key: bytes) -> bool:
        """Tell whether a key was never seen: it takes arithmetic on a curve to know more."""
        return not self._identity.has_shared(public_key) and self._members.find(node_id_of(public_key)) is None


@lru_cache(maxsize=4096)
def _subscriber(host: str) -> bytes:
    """Return the address block that counts as one subscriber for the rate limit: an IPv4 address, or the /64 of an IPv6
    address."""
    packed = pack_host(host)
    return packed[:8] if len(packed) == 16 else packed
