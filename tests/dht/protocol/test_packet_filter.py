"""Which packets are read: without MAC only a PING, and none beyond its rate."""

import pytest

from dht.wire.contact import Address
from dht.wire.packets import (
    Find,
    Get,
    PacketKind,
    Ping,
    Put,
    decode_packet,
)
from tests.dht.protocol.test_engine import ELSEWHERE, THERE, at, pair, stranger_asks


@pytest.mark.parametrize("body", [Find(bytes(20)), Get(bytes(20)), Put(b"", b"")])
def test_only_a_ping_goes_without_mac(body: Find | Get | Put) -> None:
    a, _, _, _ = pair()
    assert stranger_asks(a, body, mac=False) == []
    assert a.refused["no MAC"] == 1
    assert stranger_asks(a, Ping(0, 0, b"", ()), mac=False)


def test_a_flood_from_one_address_is_cut_off_and_others_are_served() -> None:
    a, _, _, seen = pair()
    ping = next(d for d in seen if decode_packet(d).kind is PacketKind.PING)
    answers = [a.receive(at(1), ping, ELSEWHERE) for _ in range(2000)]
    assert len([x for x in answers if x]) <= 600
    assert a.refused["address over its rate"] >= 1400
    assert a.receive(at(1), ping, THERE)


def test_a_flood_from_all_addresses_of_one_ipv6_prefix_is_cut_off_too() -> None:
    a, _, _, seen = pair()
    ping = next(d for d in seen if decode_packet(d).kind is PacketKind.PING)
    answers = [a.receive(at(1), ping, Address(f"2001:db8::{n:x}", 8091)) for n in range(2000)]
    assert len([x for x in answers if x]) <= 600
    assert a.receive(at(1), ping, Address("2001:db8:0:1::1", 8091))
