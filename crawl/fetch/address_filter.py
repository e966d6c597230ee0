"""Decides which addresses and ports a crawler may contact. A link from a stranger must not lead into the owner's own
network, or to a service that is no web site.

Pure: an address in, a reason out. Addresses that carry another one inside (mapped, NAT64, 6to4, Teredo) are judged by
that as well. The tables are IANA's special-purpose registries as of 2025-10, written out here because those of the
standard library are as old as the interpreter. Sources: iana-ipv4-special-registry, iana-ipv6-special-registry,
RFC 6052, RFC 3056, RFC 4380; for ports the Fetch Standard, "port blocking", as of 2025-10.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from crawl.address_prefixes import parts_of
from dht import split_url

_GLOBAL_V6 = IPv6Network("2000::/3")  # all that IANA has given out for unicast between networks
_NO_ADDRESS = "not an IP address"
_NEVER, _PRIVATE = "an address that no web site has", "a private address; crawl.allow_private permits those"

# Where no site can be, even on an intranet: "this network", link-local (cloud metadata), protocol assignments, anycast
# relays, multicast, what is reserved.
_NOWHERE = [
    *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    *("2001::/23", "fe80::/10", "ff00::/8"),
]
# Reachable by those inside alone: loopback, RFC 1918, carrier-grade NAT, unique local, site-local, local NAT64; and
# benchmarks and documentation, which laboratories use.
_INSIDE = [
    *("10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
    *("192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("::1/128", "64:ff9b:1::/48", "fc00::/7", "fec0::/10", "2001:db8::/32", "3fff::/20"),
]
_BAD_PORTS = {
    str(port)
    for port in (
        *(0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104),
        *(109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515),
        *(526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720),
        *(1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080),
    )
}
_NOWHERE_V4 = [IPv4Network(net) for net in _NOWHERE if ":" not in net]
_NOWHERE_V6 = [IPv6Network(net) for net in _NOWHERE if ":" in net]
_INSIDE_V4 = [IPv4Network(net) for net in _INSIDE if ":" not in net]
_INSIDE_V6 = [IPv6Network(net) for net in _INSIDE if ":" in net]


def refuse_port(url: str) -> str:
    """Explain why the port of a canonical URL must not be contacted, "" where it may."""
    _, has_port, port = split_url(url).site.rpartition(":")
    is_bad = has_port and port in _BAD_PORTS
    return f"port {port} is that of another service, which browsers refuse, too" if is_bad else ""


def refuse_address(address: str, *, allow_private: bool = False) -> str:
    """Explain why a literal address must not be contacted, "" where it may.

    `allow_private` permits loopback, private, shared and laboratories' space. Link-local (cloud metadata lives there),
    multicast, unspecified and reserved addresses are refused always."""
    try:
        whole = ip_address(address.strip("[]").partition("%")[0])
    except ValueError:
        return _NO_ADDRESS
    if "%" in address:
        return _NEVER
    return next((reason for part in parts_of(whole) if (reason := _judge(part, allow_private))), "")


def refuse_literal(host: str, *, allow_private: bool) -> str:
    """Explain why a URL's host must not be contacted, "" where it may or where it is a name: only DNS resolves that."""
    reason = refuse_address(host, allow_private=allow_private)
    return "" if reason == _NO_ADDRESS else reason


def _judge(address: IPv4Address | IPv6Address, allow_private: bool) -> str:
    if isinstance(address, IPv4Address):
        nowhere, inside = any(address in net for net in _NOWHERE_V4), any(address in net for net in _INSIDE_V4)
        outside = True
    else:
        nowhere, inside = any(address in net for net in _NOWHERE_V6), any(address in net for net in _INSIDE_V6)
        outside = address in _GLOBAL_V6
    if inside:
        return "" if allow_private else _PRIVATE
    return _NEVER if nowhere or not outside else ""
