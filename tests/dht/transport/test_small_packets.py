"""Connections to other machines have small packets; those on this machine are left alone."""

import socket

import pytest

from dht.transport.small_packets import PAYLOAD_BYTES, small_packet_socket


@pytest.mark.parametrize(("host", "is_bounded"), [("198.51.100.7", True), ("127.0.0.1", False)])
def test_packets_are_bounded_where_there_is_a_line(host: str, is_bounded: bool):
    address = (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80))
    with small_packet_socket(address) as sock:
        sock.setblocking(False)
        set_to = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG)
        assert (set_to == PAYLOAD_BYTES) is is_bounded
