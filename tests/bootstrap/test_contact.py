"""Whom a starting node asks, in which order."""

import msgspec

from bootstrap import first_contacts, load_network, new_network
from dht import Address, Endpoint, Identity, Strategy


def test_the_operators_word_comes_first_then_the_file_then_the_strategy_and_nobody_twice():
    first = Strategy(network="", version=1, effective_at=0, next_at=1, expires_at=2)
    network = load_network(new_network("x", [Identity(b"\1" * 32)], first, bootstrap=["127.0.0.1:2", "[::1]:3"]))
    later = msgspec.structs.replace(first, bootstrap=("127.0.0.1:4", "[::1]:3"))
    found = first_contacts(network, later, extra=[Endpoint("127.0.0.1", 1, 1)])
    assert found == (
        Address("127.0.0.1", 1),
        Address("127.0.0.1", 2),
        Address("::1", 3),
        Address("127.0.0.1", 4),
    )
