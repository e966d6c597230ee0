"""Events are what the protocol engine tells the node, as values.

Pure: values only.

The strategy alerts find packets of peers that have another strategy, as new as this node's at least.

Pure: `now` is an argument. Every packet names its sender's strategy.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dht.clock import Now
from dht.identity.node_key import node_id_of
from dht.keys import NodeId
from dht.membership.member_table import MemberTable
from dht.protocol.heartbeat_intake import RefusedHeartbeat
from dht.protocol.network_rules import NetworkRules
from dht.rate_limit import RateLimiter
from dht.wire.contact import Address, Contact, Endpoint
from dht.wire.packets import Packet


@dataclass(frozen=True, slots=True)
class StrategyAhead:
    """A peer has a newer strategy than this node, or another one of the same version: ask it for its chain. `contact`:
    where it answered this node, given if it is no live member here."""

    peer: NodeId
    version: int
    contact: Contact | None = None


@dataclass(frozen=True, slots=True)
class DialWanted:
    """An introducer says that a peer dials this node from an endpoint now, and wants to be dialled there. `any_port`:
    the peer lets everybody in, so that it may be dialled from any port."""

    peer: NodeId
    endpoint: Endpoint
    any_port: bool


Event = StrategyAhead | DialWanted | RefusedHeartbeat


ALERT_S = 5.0  # between two events that say that the same peer's strategy is ahead
ContactAt = Callable[[tuple[bytes, ...], NodeId, Address], Contact | None]


class StrategyAlerts:
    """Watches for one node. `contact_at` reads from a peer's heartbeats how it is reached at an address."""

    def __init__(self, rules: NetworkRules, members: MemberTable, contact_at: ContactAt) -> None:
        self._rules, self._members, self._contact_at = rules, members, contact_at
        self._alerts = RateLimiter(1 / ALERT_S, 1.0)

    def compare(
        self, now: Now, packet: Packet, address: Address | None = None, heartbeats: tuple[bytes, ...] = ()
    ) -> list[StrategyAhead]:
        """Return the event that a packet brings, if any. `address`: where its sender answered a PING, with these
        heartbeats."""
        if not self._rules.is_news(packet):
            return []
        peer = node_id_of(packet.public_key)
        is_reached = address is None or self._members.is_live(peer, now)
        known = peer if self._members.find(peer) is not None else None  # keys cost nothing: all strangers are one
        if not self._alerts.take(known if is_reached else address, now.steady):
            return []
        contact = None if address is None or is_reached else self._contact_at(heartbeats, peer, address)
        return [StrategyAhead(peer, packet.strategy_version, contact)]
