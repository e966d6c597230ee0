"""Which addresses a crawler may contact: a link from a stranger must not reach into the owner's own network.

Pure: an address in, a reason out. Addresses that carry another one inside (mapped, NAT64, 6to4, Teredo) are judged by
both. Sources: IANA special-purpose registries (through `ipaddress`), RFC 6052, RFC 3056, RFC 4380.
"""

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = IPv6Network("64:ff9b::/96")
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_NEVER = "an address that no web site has"


def refuse_address(address: str, *, allow_private: bool = False) -> str:
    """Why this literal address must not be contacted; "" where it may.

    `allow_private` permits loopback, private and shared space. Link-local (cloud metadata lives there), multicast,
    unspecified and reserved addresses are refused always.
    """
    try:
        whole = ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return "not an IP address"
    if "%" in address:
        return _NEVER
    return next((reason for part in _parts(whole) if (reason := _judge(part, allow_private))), "")


def _parts(address: IPv4Address | IPv6Address) -> list[IPv4Address | IPv6Address]:
    """The addresses that really count."""
    if isinstance(address, IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address in _NAT64:
        return [IPv4Address(int(address) & 0xFFFF_FFFF)]
    if address.sixtofour:
        return [address.sixtofour]
    if address.teredo:
        return [address, *address.teredo]
    return [address]


def _judge(address: IPv4Address | IPv6Address, allow_private: bool) -> str:
    if address.is_unspecified or address.is_multicast or address.is_link_local:
        return _NEVER
    if address.is_loopback or (isinstance(address, IPv6Address) and address.is_site_local):
        return "" if allow_private else "a private address"
    if address.is_reserved or (isinstance(address, IPv4Address) and int(address) >> 24 == 0):
        return _NEVER
    if isinstance(address, IPv6Address) and address in _LOCAL_NAT64:
        return "" if allow_private else "a private address"
    if not address.is_global:
        return "" if allow_private else "a private address"
    return ""
