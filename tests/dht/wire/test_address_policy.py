"""Every way by which a stranger's address comes in: mapped, private and odd ones stay out unless they are declared."""

import ipaddress
from random import Random

import pytest

from dht.clock import Now
from dht.config import DhtConfig
from dht.errors import BadMessage
from dht.identity.node_key import Identity
from dht.keys import NodeId
from dht.membership.working_families import WorkingFamilies
from dht.protocol.network_rules import NetworkRules
from dht.protocol.self_heartbeat import SelfHeartbeat
from dht.routing.lookup_run import read_contacts
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Endpoint
from dht.wire.heartbeat import Heartbeat, open_heartbeat, sign_heartbeat
from dht.wire.packets import PackedContact

NETWORK = b"network of the tests"
NOW = Now(1_700_000_000.0, 100.0)
NOBODY = ["::ffff:9.9.9.9", "::ffff:10.0.0.1", "224.0.0.1", "ff02::1", "0.0.0.0", "::", "255.255.255.255"]
PRIVATE = ["10.0.0.1", "127.0.0.1", "169.254.1.1", "192.168.1.1", "fd00::1", "::1", "fe80::1", "100.64.0.1"]
PUBLIC = ["9.9.9.9", "2606:4700::1"]
OPEN = AddressPolicy()
DECLARED = AddressPolicy(
    (
        "10.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "192.168.0.0/16",
        "fd00::/8",
        "::1/128",
        "fe80::/10",
        "100.64.0.0/10",
    )
)
EVERYTHING = AddressPolicy(("0.0.0.0/0", "::/0"), allow_private=True)


def by_heartbeat(host: str, policy: AddressPolicy) -> bool:
    identity = Identity(b"\1" * 32)
    endpoint = (ipaddress.ip_address(host).packed, 8091, 8091)
    beat = Heartbeat(identity.public_key, 1_700_000_000, NOW.wall, NOW.wall + 60, (endpoint,))
    try:
        return bool(open_heartbeat(sign_heartbeat(identity, beat, NETWORK), NOW, NETWORK, policy))
    except BadMessage:
        return False


def by_found(host: str, policy: AddressPolicy) -> bool:
    packed = PackedContact(b"k" * 32, ((ipaddress.ip_address(host).packed, 8091, 8091),))
    try:
        return bool(read_contacts([packed], policy))
    except BadMessage:
        return False


def by_pong(host: str, policy: AddressPolicy) -> bool:
    """Tell whether a node announces the address at which a peer saw it."""
    listening = (Endpoint("0.0.0.0", 8091, 8091), Endpoint("::", 8091, 8091))
    identity = Identity(b"\1" * 32)
    rules = NetworkRules(NETWORK, identity.public_key, policy)
    own = SelfHeartbeat(identity, rules, DhtConfig(), listening, Random(1), WorkingFamilies({4, 6}), member=True)
    own.seen_at(host, NodeId(b"w" * 20))
    return bool(own.endpoints())


WAYS_IN = [by_heartbeat, by_found, by_pong]


@pytest.mark.parametrize("way_in", WAYS_IN)
def test_private_addresses_come_in_where_they_are_declared_and_public_ones_always(way_in) -> None:
    assert [way_in(host, OPEN) for host in PUBLIC + PRIVATE] == [True] * len(PUBLIC) + [False] * len(PRIVATE)
    assert all(way_in(host, DECLARED) for host in PUBLIC + PRIVATE)


@pytest.mark.parametrize("way_in", WAYS_IN)
@pytest.mark.parametrize("host", NOBODY)
def test_mapped_multicast_and_unspecified_ones_never_do_whatever_is_declared(way_in, host: str) -> None:
    assert not any(way_in(host, policy) for policy in (OPEN, DECLARED, EVERYTHING))
