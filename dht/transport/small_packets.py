"""Keeps the packets of connections small, so that a line which eats large ones lets them through.

Where a tunnel on the way takes less than an Ethernet frame and nobody says so, connections come about and then stall
with the first large answer. The limit that the dialling end sets holds for packets of both ends.
"""

import ipaddress
import socket
from typing import Any

PAYLOAD_BYTES = 1220  # of TCP in a packet of 1,280 bytes, which every line with IPv6 carries (RFC 8200, 5)


def small_packet_socket(address: tuple[Any, ...]) -> socket.socket:
    """Return a socket for a connection to one address, as `getaddrinfo` gives it."""
    family, kind, protocol, _, where = address
    sock = socket.socket(family, kind, protocol)
    bound_packets(sock, str(where[0]))
    return sock


def bound_packets(sock: socket.socket, host: str) -> None:
    """Bound the packets of a connection yet to be made; not within this machine, where no line is."""
    if ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        return
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, PAYLOAD_BYTES)
    except OSError:
        return  # a system that does not let it be set loses such lines alone
