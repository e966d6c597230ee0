import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dht.errors import BadMessage
from dht.identity.node_key import Identity
from dht.wire.packets import (
    PACKET_LIMIT,
    Body,
    Find,
    Found,
    Get,
    Got,
    PackedContact,
    PacketHeader,
    Ping,
    Pong,
    Put,
    Stored,
    decode_body,
    decode_packet,
    encode_packet,
    is_from,
    kind_of,
)

A, B, C = (Identity(bytes([n]) * 32) for n in (1, 2, 3))
STAMP = PacketHeader(b"netw", A.public_key, 7, b"digest78")
BODIES: list[Body] = [
    Ping(0, (1 << 32) - 1, b"12345678" * 80, (b"h" * 180,) * 2),
    Pong((b"\x7f\0\0\1", 8091), (b"h" * 180,) * 5),
    Find(bytes(20)),
    Found((PackedContact(bytes(32), ((bytes(4), 1, 2), (bytes(16), 3, 4))),) * 14, b"token"),
    Get(bytes(20)),
    Got((b"r" * 1000,), (), b"token"),
    Put(b"token", b"r" * 1000),
    Stored(True),
]


@pytest.mark.parametrize("body", BODIES, ids=lambda b: type(b).__name__)
@pytest.mark.parametrize("size", [0, PACKET_LIMIT])
def test_a_packet_says_what_was_put_in(body: Body, size: int) -> None:
    data = encode_packet(STAMP, b"12345678", body, A.shared_key(B.public_key), size=size)
    packet = decode_packet(data)
    assert len(data) <= PACKET_LIMIT
    assert size in (0, len(data))
    assert (packet.kind, packet.transaction, packet.public_key) == (kind_of(body), b"12345678", A.public_key)
    assert (packet.network, packet.strategy_version, packet.strategy_digest) == (b"netw", 7, b"digest78")
    assert decode_body(packet) == body


def test_only_the_two_who_share_the_key_can_have_written_it() -> None:
    packet = decode_packet(encode_packet(STAMP, b"12345678", BODIES[0], A.shared_key(B.public_key)))
    assert is_from(packet, B.shared_key(A.public_key))
    assert not is_from(packet, C.shared_key(A.public_key))
    assert not decode_packet(encode_packet(STAMP, b"12345678", BODIES[0], None)).has_mac


def test_too_much_is_refused_before_it_is_sent() -> None:
    with pytest.raises(ValueError, match="1232 is the limit"):
        encode_packet(STAMP, b"12345678", Put(b"", bytes(1300)), None)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(BODIES), st.data())
def test_a_mutated_packet_is_refused_or_fails_its_mac(body: Body, data: st.DataObject) -> None:
    good = encode_packet(STAMP, b"12345678", body, A.shared_key(B.public_key), size=600)
    bent = bytearray(good)
    bent[data.draw(st.integers(0, len(bent) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        packet = decode_packet(bytes(bent))
        decode_body(packet)
    except BadMessage:
        return
    assert packet.public_key != A.public_key or not is_from(packet, B.shared_key(A.public_key))
