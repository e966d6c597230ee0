"""Finds ports that nobody uses: of two benchmarks that run at once none takes the other's."""

import socket
from contextlib import ExitStack, suppress

from node.extras.demo.processes import has_ipv6


def free_ports(count: int) -> list[int]:
    """Return `count` ports that are free on both loopback addresses, for TCP and UDP. The system chooses them."""
    found = list[int]()
    with ExitStack() as held:  # each stays bound until all are found, so that none comes twice
        while len(found) < count:
            with suppress(OSError):  # free for one of four uses, and taken for another
                found.append(_bound(held))
    return found


def _bound(held: ExitStack) -> int:
    addresses = [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")][: 1 + has_ipv6()]
    port = 0
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        for family, host in addresses:
            bound = held.enter_context(socket.socket(family, kind))
            bound.bind((host, port))
            port = bound.getsockname()[1]
    return port
