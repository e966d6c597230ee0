"""One at an address and two in a /24 or /48 are enough in a large network; in a small one nobody is too many."""

from dht.admission.block_crowd import crowding_blocks, is_crowded
from dht.admission.neighbourhood import SMALL_NETWORK
from dht.wire.address_policy import AddressPolicy

LARGE = SMALL_NETWORK + 1


def at(*hosts: str) -> frozenset[bytes]:
    return crowding_blocks(hosts, AddressPolicy(("30.0.0.0/8",)))


def test_the_second_at_an_address_and_the_third_in_a_prefix_are_one_too_many() -> None:
    assert is_crowded(at("9.9.9.1"), [at("9.9.9.1")], LARGE)
    assert not is_crowded(at("9.9.9.1"), [at("9.9.9.2"), at("9.9.8.1")], LARGE)
    assert is_crowded(at("9.9.9.1"), [at("9.9.9.2"), at("9.9.9.3")], LARGE)
    assert is_crowded(at("2606:4700:1:2::3"), [at("2606:4700:1:2::4")], LARGE), "a /64 is one machine"
    assert not is_crowded(at("2606:4700:1:2::3"), [at("2606:4700:1:3::3")], LARGE)
    assert is_crowded(at("2606:4700:1:2::3"), [at("2606:4700:1:3::3"), at("2606:4700:1:4::3")], LARGE)
    assert is_crowded(at("9.9.9.1", "2606:4700:1:2::3"), [at("9.8.7.6", "2606:4700:1:2::9")], LARGE), "in either family"


def test_nobody_is_too_many_in_a_small_network_a_declared_prefix_or_a_private_one() -> None:
    for host, members in (("9.9.9.1", SMALL_NETWORK), ("30.1.1.1", LARGE), ("127.0.0.1", LARGE), ("10.0.0.1", LARGE)):
        assert not is_crowded(at(host), [at(host)] * 9, members)
