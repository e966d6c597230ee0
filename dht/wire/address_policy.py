"""The address policy says which addresses may stand in a peer's contact, and which are one subscriber's.

Pure: values only. Strangers can make this node send datagrams to a contact. So loopback and private addresses pass only
inside prefixes that the strategy declares, or where the whole network runs on one machine (`allow_private`).
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class AddressPolicy(NamedTuple):
    """Judges addresses; `prefixes` such as "10.1.0.0/16" or "fd00::/8". Hashable, so verdicts are remembered."""

    prefixes: tuple[str, ...] = ()
    allow_private: bool = False

    def allows(self, host: str) -> bool:
        """Tell whether a literal address may be contacted; what is no plain unicast address may not."""
        return _allows(self.prefixes, self.allow_private, host)

    def subnet(self, host: str) -> bytes | None:
        """Return the /24 of an address, or /48 of IPv6, which is probably one subscriber's. None inside declared
        prefixes and for private ones, where one prefix says nothing about who is there."""
        return _subnet(self.prefixes, host)

    def subnets(self, hosts: Iterable[str]) -> frozenset[bytes]:
        """Return the /24 and /48 of some addresses, for those that have one."""
        return frozenset(subnet for host in hosts if (subnet := self.subnet(host)) is not None)


@lru_cache(maxsize=8192)
def _allows(prefixes: tuple[str, ...], allow_private: bool, host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.scope_id):
        return False
    if address.is_multicast or address.is_unspecified or host == "255.255.255.255":
        return False
    if address.is_global or allow_private:
        return True
    return any(address in ipaddress.ip_network(p, strict=False) for p in prefixes)


@lru_cache(maxsize=8192)  # 2 MB; as many as members are remembered, in both families
def _subnet(prefixes: tuple[str, ...], host: str) -> bytes | None:
    address = ipaddress.ip_address(host)
    if not address.is_global or any(address in ipaddress.ip_network(p, strict=False) for p in prefixes):
        return None
    return address.packed[:3] if address.version == 4 else address.packed[:6]
