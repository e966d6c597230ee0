"""The overlay's branch of the configuration.

Pure: values only. Values that must be equal on all nodes (replicas, slots, graces) are in the strategy, not here.
"""

import ipaddress
from dataclasses import dataclass

OPERATOR_BYTES = 72  # in UTF-8: a heartbeat has 1,000 bytes for everything
NAME_CHARS, NAME_BYTES = 32, 64


@dataclass(frozen=True, slots=True)
class DhtConfig:
    """How this node takes part in the overlay."""

    announce_v4: str = ""  # address; announced to peers; empty: the one that they see, for nodes behind a simple NAT
    announce_v6: str = ""  # address; the same for IPv6
    stable: bool = True  # true for a server: others take its slots over after 12 h of silence, else after 72 h
    name: str = ""  # name; shown on other members' pages, such as campus-2
    operator: str = ""  # name; the same on all your nodes: no two of them keep the same slot
    allow_private: bool = False  # allow loopback and private addresses in contacts: test networks only
    probe_s: float = 1800.0  # seconds; between two reachability tests by peers; 0: never
    heartbeat_s: float = 10.0  # seconds; between two signed heartbeats; three make a node live
    exchange_s: float = 2.5  # seconds; between two exchanges of news with a random peer in a small network
    exchange_min_s: float = 1.5  # seconds; the same in a large one: every heartbeat must reach all within 30 s
    refresh_s: float = 300.0  # seconds; between two lookups that keep far buckets filled
    address_packets_s: float = 300.0  # packets a second; taken from one address, the rest is dropped
    peer_packets_s: float = 100.0  # packets a second; taken from one peer, the rest is dropped
    stored_records: int = 4096  # count; small records of others kept here, 1000 bytes each at most

    def __post_init__(self) -> None:
        bounds = {
            "heartbeat_s": (1.0, 10.0),
            "exchange_s": (0.2, 10.0),
            "exchange_min_s": (0.2, 10.0),
            "probe_s": (0.0, 86_400.0),
            "refresh_s": (10.0, 3600.0),
            "address_packets_s": (10.0, 100_000.0),
            "peer_packets_s": (10.0, 100_000.0),
            "stored_records": (0, 1_000_000),
        }
        for name, version in (("announce_v4", 4), ("announce_v6", 6)):
            if (text := getattr(self, name)) and not _is_unicast(text, version):
                raise ValueError(f"{name}: {text!r} is not a unicast IPv{version} address")
        if not self.operator.isprintable() or len(self.operator.encode()) > OPERATOR_BYTES:
            reason = f"is not a name of printable characters and at most {OPERATOR_BYTES} bytes in UTF-8"
            raise ValueError(f"operator: {self.operator!r} {reason}; choose a shorter one")
        if not self.name.isprintable() or len(self.name) > NAME_CHARS or len(self.name.encode()) > NAME_BYTES:
            reason = f"is not a name of at most {NAME_CHARS} printable characters and {NAME_BYTES} bytes in UTF-8"
            raise ValueError(f"name: {self.name!r} {reason}; choose a shorter one")
        for name, (low, high) in bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise ValueError(f"{name}: {value} is not between {low:g} and {high:g}")


def _is_unicast(text: str, version: int) -> bool:
    """Tell whether a text is a literal address of one machine that others can use as it stands."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return False
    is_mapped = isinstance(address, ipaddress.IPv6Address) and bool(address.ipv4_mapped or address.scope_id)
    is_group = address.is_multicast or address.is_unspecified or text == "255.255.255.255"
    return address.version == version and not is_mapped and not is_group
