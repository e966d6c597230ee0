"""From which of its addresses does this machine send somewhere? The system knows, and sends nothing for that."""

import ipaddress
import socket

PORT = 9  # of any host; connecting a datagram socket is a look at the routes


def source_towards(host: str) -> str:
    """Return the address from which the system sends to a host, "" where it has no route or no usable address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((host, PORT))
            source = str(probe.getsockname()[0]).partition("%")[0]
    except OSError:
        return ""
    return "" if ipaddress.ip_address(source).is_link_local and not ipaddress.ip_address(host).is_link_local else source
