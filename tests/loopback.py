"""The loopback of the machine that runs the tests: its families and its free ports."""

import socket

import pytest


def has_ipv6() -> bool:
    """Whether IPv6 loopback has an address."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="no IPv6 loopback here")


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that is free for both UDP and TCP at this moment."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as tcp, socket.socket(family, socket.SOCK_DGRAM) as udp:
        tcp.bind((host, 0))
        udp.bind((host, tcp.getsockname()[1]))
        return int(tcp.getsockname()[1])
