"""Two benchmarks that run at once use ports of their own."""

import socket

from benchmarks.ports import free_ports


def test_ports_are_free_and_none_comes_twice() -> None:
    found = free_ports(20)
    assert len(set(found)) == 20
    for port in found:
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_INET, kind) as bound:
                bound.bind(("127.0.0.1", port))
