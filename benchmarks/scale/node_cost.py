"""Says what a node keeps and sends only to be in a network of a size, and how much of that it can know.

Pure: sizes in, numbers out.
"""

from math import exp

from benchmarks.scale.fan_out import slot_bits
from dht.admission.neighbourhood import LEAST, SMALL_NETWORK
from dht.config import DhtConfig
from dht.membership.liveness import FAR_LIVE_S
from dht.membership.member_table import MEMBER_LIMIT
from dht.protocol.gossip import CROWD
from node.extras.simulation.observations import REPLICAS

HEARTBEAT_BYTES = 250  # `dht/membership/member_table.py`: 1 MB of 4,096
CONTACT_BYTES = 300
PACKET_BYTES = 1_000  # `docs/overlay.md`: 1.48 packets are 1.5 kB
HEARTBEATS_OF_PACKET = 4  # with a digest beside them


def near_peers(nodes: float) -> float:
    """Return how many peers a node counts as near: all in a small network, else one neighbourhood."""
    return nodes - 1 if nodes <= SMALL_NETWORK else LEAST * 1.5


def keep_alive_packets_s(nodes: float) -> float:
    """Return the packets that a node sends each second while nothing happens: a question and an answer an exchange."""
    config = DhtConfig()
    crowd = min(1.0, near_peers(nodes) / CROWD)
    return 2 / (config.exchange_s - (config.exchange_s - config.exchange_min_s) * crowd)


def keep_alive_bytes_s(nodes: float) -> float:
    """Return the bytes of them."""
    return keep_alive_packets_s(nodes) * PACKET_BYTES


def known_members(nodes: float) -> float:
    """Return how many other members a node knows."""
    return min(nodes - 1, MEMBER_LIMIT)


def state_mb(nodes: float, contacts: float) -> float:
    """Return the megabytes of members and contacts that a node keeps."""
    return (known_members(nodes) * HEARTBEAT_BYTES + contacts * CONTACT_BYTES) / 1e6


def refresh_room(nodes: float) -> float:
    """Return which share of the room of its packets a node needs so that all far members it knows count as live."""
    return known_members(nodes) / FAR_LIVE_S / (keep_alive_packets_s(nodes) * HEARTBEATS_OF_PACKET)


def known_owner_share(nodes: float) -> float:
    """Return the share of all slots of which an asker knows an owner, those that it knows being drawn by chance."""
    unknown = 1 - known_members(nodes) / max(nodes - 1, 1)
    return 1 - unknown**REPLICAS


def idle_share(nodes: float) -> float:
    """Return the share of the nodes that own no slot, by a Poisson law: slots end at 2**16."""
    return exp(-REPLICAS * (1 << slot_bits(int(nodes))) / nodes)
