"""Tells whether an address lies in one of several prefixes, such as 10.20.0.0/16 and 2001:db8::/48.

Pure: texts in, answers out. An address that carries another one inside (mapped, NAT64, 6to4, Teredo) lies where that
does, too.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from dht import parse_prefix

_NAT64 = IPv6Network("64:ff9b::/96")


class AddressPrefixes:
    """A set of prefixes; its constructor raises ValueError where a text is none."""

    def __init__(self, texts: Sequence[str]) -> None:
        networks = [parse_prefix(text) for text in texts]
        self._of_versions = {version: [net for net in networks if net.version == version] for version in (4, 6)}

    def __bool__(self) -> bool:
        return any(self._of_versions.values())

    def touch(self, address: str) -> bool:
        """Tell whether an address, or one that it carries, lies in one of the prefixes; False where it is none."""
        whole = _parsed(address)
        return whole is not None and any(map(self._has, {whole, *parts_of(whole)}))

    def hold(self, address: str) -> bool:
        """Tell whether an address, or each one that it carries, lies in one of the prefixes; False where it is none."""
        whole = _parsed(address)
        return whole is not None and (self._has(whole) or all(map(self._has, parts_of(whole))))

    def _has(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in net for net in self._of_versions[address.version])


def parts_of(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """List the addresses that an address stands for."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [IPv4Address(int(address) & 0xFFFF_FFFF)]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return [*address.teredo]
    return [address]


def is_address(text: str) -> bool:
    """Tell whether a text is a literal address, and no name."""
    return _parsed(text) is not None


def _parsed(address: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return None


def prefix_words(texts: Sequence[str]) -> str:
    """Write prefixes as people read them: "10.20.0.0/16 and 2001:db8::/48"; the first three of many."""
    shown = [*texts[:3], *([f"{len(texts) - 3} more"] if len(texts) > 3 else [])]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
