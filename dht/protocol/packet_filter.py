"""The packet filter admits datagrams of this network, within their rates, from whom they say they are.

Pure: `now` is an argument. The checks go from cheap to dear, so a flood costs little.
"""

from functools import lru_cache

from dht.clock import Now
from dht.config import DhtConfig
from dht.identity.node_key import Identity, node_id_of
from dht.membership.member_table import MemberTable
from dht.protocol.network_rules import NetworkRules
from dht.rate_limit import RateLimiter
from dht.wire.contact import Address, pack_host
from dht.wire.packets import Packet, PacketKind, decode_packet, is_from

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
        of a packet with a MAC is proven; only a PING may have none."""
        carries = len(data) > 1 and data[1] in OF_MESSAGES
        addresses, peers = (self._messages_from, self._messages_of) if carries else (self._addresses, self._peers)
        if not addresses.take(_subscriber(source.host), now.steady):
            return "address over its rate"
        packet = decode_packet(data)
        if packet.network != self._rules.header.network:
            return "another network"
        if packet.public_key == self._identity.public_key:
            return "own packet"
        if self._members.blocked and node_id_of(packet.public_key) in self._members.blocked:
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
    """Whose address it is, for the rate limit: an IPv6 address stands for its /64, which one subscriber has whole."""
    packed = pack_host(host)
    return packed[:8] if len(packed) == 16 else packed
