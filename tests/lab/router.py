"""Routers of homes: what they translate and whom they let in."""

from dataclasses import dataclass
from enum import IntEnum


class Filtering(IntEnum):
    """Which strangers may send to a port that the inside has opened (RFC 4787, section 5)."""

    BY_NOTHING = 0  # endpoint-independent: everybody
    BY_ADDRESS = 1  # address-dependent: who was sent something, from any port
    BY_PORT = 2  # address-and-port-dependent


@dataclass(frozen=True)
class Kind:
    """How a router behaves; the four that homes have are below."""

    filtering: Filtering
    is_symmetric: bool = False  # another public port for each destination
    udp_idle_s: float = 60.0  # an unused UDP port is closed after so long


OPEN = Kind(Filtering.BY_NOTHING)
ADDRESS = Kind(Filtering.BY_ADDRESS)
PORT = Kind(Filtering.BY_PORT)
SYMMETRIC = Kind(Filtering.BY_PORT, is_symmetric=True)


@dataclass(frozen=True)
class Router:
    """One home's router. IPv4 is translated to its one address; IPv6 has addresses for all and is filtered alike."""

    number: int
    address: str
    kind: Kind
