"""A contact says how to reach a peer: its endpoints by address family.

Pure: values only. A peer has at most one endpoint per family; one with both is dual-stack and may splice.
"""

import ipaddress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from dht.errors import BadMessage
from dht.keys import NodeId

Family = Literal[4, 6]


class Address(NamedTuple):
    """Names where a datagram goes to or came from: a literal IP address and a UDP port."""

    host: str
    port: int

    @property
    def family(self) -> Family:
        """The family of the address, 4 or 6."""
        return 6 if ":" in self.host else 4


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Names a peer's ports at one address. `host` is a literal IP address, never a name; ::ffff: forms are refused."""

    host: str
    udp_port: int
    tcp_port: int
    family: Family = field(init=False, repr=False, compare=False)
    udp: Address = field(init=False, repr=False, compare=False)  # where its datagrams go

    def __post_init__(self) -> None:
        object.__setattr__(self, "family", 6 if ":" in self.host else 4)
        object.__setattr__(self, "udp", Address(self.host, self.udp_port))
        _check_host(self.host)
        if not (0 < self.udp_port < 65536 and 0 < self.tcp_port < 65536):
            raise ValueError(f"port out of range: {self.udp_port}, {self.tcp_port}")


@dataclass(frozen=True, slots=True)
class Contact:
    """Names a peer and its endpoints (one or two, v4 first). A peer behind a NAT has `introducers`: members that tell
    it who wants to reach it."""

    node_id: NodeId
    endpoints: tuple[Endpoint, ...]
    introducers: tuple[NodeId, ...] = ()

    def endpoint(self, family: Family) -> Endpoint | None:
        """Return the peer's endpoint of a family, if it has one."""
        return next((e for e in self.endpoints if e.family == family), None)

    @property
    def families(self) -> frozenset[Family]:
        """The families in which the peer has an endpoint."""
        return frozenset([e.family for e in self.endpoints])

    def shares(self, families: frozenset[Family]) -> bool:
        """Tell whether the peer is reached by one of these families."""
        return not families.isdisjoint([e.family for e in self.endpoints])


@lru_cache(maxsize=4096)
def _check_host(host: str) -> None:
    address = ipaddress.ip_address(host)
    if address.version == 6 and (address.ipv4_mapped or address.scope_id):
        raise ValueError(f"mapped or scoped address {host}")


@lru_cache(maxsize=4096)
def pack_host(host: str) -> bytes:
    """Return the 4 or 16 bytes of a literal address; raises ValueError where it is none."""
    return ipaddress.ip_address(host).packed


@lru_cache(maxsize=4096)
def unpack_host(packed: bytes) -> str:
    """Return the literal address of 4 or 16 bytes; raises BadMessage where they are none."""
    try:
        return str(ipaddress.ip_address(packed))
    except ValueError as error:
        raise BadMessage("", f"address of {len(packed)} bytes") from error
