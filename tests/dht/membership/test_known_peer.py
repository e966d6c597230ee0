"""An address counts once somebody has answered there, for an hour."""

from dht.keys import NodeId
from dht.membership.known_peer import ADDRESS_LIMIT, VALID_S, VerifiedAddresses
from dht.wire.contact import Address

A, B = NodeId(b"a" * 20), NodeId(b"b" * 20)


def test_only_where_and_who_answered_and_not_for_ever() -> None:
    verified = VerifiedAddresses()
    verified.note(A, Address("9.9.9.9", 1), 0.0)
    verified.note(A, Address("2001:db8::1", 1), 0.0)
    assert verified.has(A, Address("9.9.9.9", 2), VALID_S) and verified.has(A, Address("2001:db8::1", 1), VALID_S)
    assert not verified.has(A, Address("9.9.9.9", 1), VALID_S + 1)
    assert not verified.has(A, Address("8.8.8.8", 1), 0.0)
    assert not verified.has(B, Address("9.9.9.9", 1), 0.0)


def test_a_moved_peer_is_met_at_its_new_address_only_and_memory_is_bounded() -> None:
    verified = VerifiedAddresses()
    verified.note(A, Address("9.9.9.9", 1), 0.0)
    verified.note(A, Address("8.8.8.8", 1), 1.0)
    assert verified.has(A, Address("8.8.8.8", 1), 1.0) and not verified.has(A, Address("9.9.9.9", 1), 1.0)
    for n in range(ADDRESS_LIMIT):
        verified.note(NodeId(n.to_bytes(20, "big")), Address("7.7.7.7", 1), 2.0)
    assert not verified.has(A, Address("8.8.8.8", 1), 2.0)
