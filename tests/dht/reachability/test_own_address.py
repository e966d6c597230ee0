"""The system says from where it would send, and nothing is sent."""

from dht.reachability.own_address import source_towards


def test_loopback_is_reached_from_loopback():
    assert source_towards("127.0.0.1") == "127.0.0.1"


def test_an_address_that_no_route_has_is_not_reached():
    assert source_towards("255.255.255.255") == ""


def test_what_is_no_address_is_not_reached():
    assert source_towards("nonsense") == ""
