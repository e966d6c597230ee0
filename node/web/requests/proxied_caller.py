"""Finds whose request a reverse proxy passes on: the nearest address in its header that is no trusted proxy itself.

Pure: values only. A header's left end is whatever the caller wrote; each proxy adds what it saw at the right. So it is
read from the right, as far as the proxies are trusted, and nothing further. Only one header is looked at, the one that
the proxies write: they pass others on as they came.
"""

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Literal

ProxyHeader = Literal["X-Forwarded-For", "Forwarded"]  # the latter is that of RFC 7239

MAX_HEADER_CHARS = 2048  # of the right end; a chain of proxies has a few addresses
MAX_HOPS = 16
UNKNOWN = "0.0.0.0"


class ProxiedCallers:
    """Knows which addresses are proxies in front of this node; nobody is where none is named."""

    def __init__(self, prefixes: Iterable[str], header: ProxyHeader) -> None:
        self._proxies = [ip_network(prefix) for prefix in prefixes]
        self.header = header

    def caller(self, peer: str, lines: Sequence[str]) -> str:
        """Return the address that a request counts for. `peer`: who sent it, `lines`: of the header, in order."""
        if not self.is_proxy(peer):
            return peer
        hops = ",".join(lines)[-MAX_HEADER_CHARS:].rsplit(",", MAX_HOPS)[-MAX_HOPS:] if lines else []
        for hop in reversed(hops):
            address = _address(hop if self.header == "X-Forwarded-For" else _forwarded_for(hop))
            if address is None:
                return UNKNOWN
            peer = str(address)
            if not self.is_proxy(peer):
                return UNKNOWN if address.is_loopback else peer  # it would be this machine, which is not limited
        return peer

    def is_proxy(self, peer: str) -> bool:
        address = _address(peer) if self._proxies else None
        return address is not None and any(address in network for network in self._proxies)


def _forwarded_for(element: str) -> str:
    """Return the node that an element of `Forwarded` names as `for`, as it is written, "" where it names none."""
    pairs = (pair.partition("=") for pair in element.split(";"))
    return next((value.strip().strip('"') for name, _, value in pairs if name.strip().lower() == "for"), "")


def _address(node: str) -> IPv4Address | IPv6Address | None:
    """Read an address, which may have a port, and brackets where it is of IPv6; None where it is none."""
    node = node.strip()
    if node.startswith("["):
        node = node[1:].partition("]")[0]
    elif node.count(":") == 1:
        node = node.partition(":")[0]
    try:
        address = ip_address(node)
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
