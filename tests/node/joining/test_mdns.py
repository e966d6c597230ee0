"""Neighbours find each other by mDNS over real multicast sockets on loopback; other networks stay strangers."""

import asyncio
import socket
from collections.abc import Sequence

import pytest

from dht import Address, Endpoint, NodeId
from node.joining.mdns import (
    ADVICE,
    MAX_ADDRESSES,
    MdnsDiscovery,
    multicast_interfaces,
    neighbours,
    on_lan,
    own_addresses,
)
from tests.loopback import has_ipv6

FIRST, SECOND = "ab" * 20, "cd" * 20


def has_multicast() -> bool:
    """Whether a multicast datagram sent on loopback comes back."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mouth,
    ):
        try:
            ear.bind(("", 0))
            here = socket.inet_aton("127.0.0.1")
            ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.251") + here)
            ear.settimeout(0.5)
            mouth.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, here)
            mouth.sendto(b"?", ("224.0.0.251", ear.getsockname()[1]))
            return ear.recv(8) == b"?"
        except OSError:
            return False


@pytest.mark.skipif(not has_multicast(), reason="no multicast on loopback here")
async def test_nodes_of_one_network_find_each_other_and_others_do_not() -> None:
    met: dict[int, asyncio.Queue[Address]] = {n: asyncio.Queue() for n in (1, 2, 3)}

    def lan(number: int, network: str) -> MdnsDiscovery:
        def join(addresses: Sequence[Address]) -> None:
            for address in addresses:
                met[number].put_nowait(address)

        listening = [Endpoint("127.0.0.1", 40_000 + number, 40_000 + number)]
        return MdnsDiscovery(NodeId(bytes([number]) * 20), network, listening, join, interfaces=["127.0.0.1"])

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(lan(n, network).run()) for n, network in ((1, FIRST), (2, SECOND), (3, FIRST))]
        assert await met[1].get() == Address("127.0.0.1", 40_003)
        assert await met[3].get() == Address("127.0.0.1", 40_001)
        assert met[2].empty()
        for task in running:
            task.cancel()


@pytest.mark.skipif(not has_multicast() or not has_ipv6(), reason="no multicast on loopback here, or no IPv6")
async def test_where_ipv6_has_no_multicast_ipv4_goes_on_and_no_traceback_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found: asyncio.Queue[Address] = asyncio.Queue()

    def hear(addresses: Sequence[Address]) -> None:
        for address in addresses:
            found.put_nowait(address)

    def lan(number: int) -> MdnsDiscovery:
        port = 40_000 + number
        return MdnsDiscovery(
            NodeId(bytes([number]) * 20),
            FIRST,
            [Endpoint("127.0.0.1", port, port), Endpoint("::1", port, port)],
            hear if number == 1 else lambda _: None,
            interfaces=["127.0.0.1", "::1"],
        )

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(lan(n).run()) for n in (1, 2)]
        while await found.get() != Address("127.0.0.1", 40_002):
            pass
        for task in running:
            task.cancel()
    for record in caplog.records:
        assert record.exc_info is None and record.exc_text is None
        assert record.levelname == "DEBUG" or ADVICE in record.getMessage()


def test_loopback_is_announced_on_by_nobody() -> None:
    everywhere = [Endpoint("0.0.0.0", 1, 1), Endpoint("::", 1, 1)]
    assert not {"127.0.0.1", "::1"} & set(multicast_interfaces(everywhere))


def test_only_plain_unicast_addresses_are_knocked_at() -> None:
    hosts = ["192.168.1.7", "fe80::1", "fe80::1%4", "224.0.0.1", "0.0.0.0", "::", "::ffff:10.0.0.1", "2606:4700::1"]
    assert neighbours(hosts, 8091) == [Address("192.168.1.7", 8091), Address("2606:4700::1", 8091)]
    assert len(neighbours([f"10.0.0.{n}" for n in range(99)], 1)) == MAX_ADDRESSES


def test_a_node_on_loopback_announces_nothing_and_one_on_all_addresses_those_of_its_interfaces() -> None:
    local = (Endpoint("127.0.0.1", 1, 1), Endpoint("::1", 1, 1))
    assert on_lan(local) == ()
    assert on_lan((Endpoint("0.0.0.0", 1, 1), *local)) == (Endpoint("0.0.0.0", 1, 1),)
    assert own_addresses(local) == ["127.0.0.1", "::1"]
    everywhere = own_addresses([Endpoint("0.0.0.0", 1, 1), Endpoint("::", 1, 1)])
    assert not {"127.0.0.1", "::1", "0.0.0.0", "::"} & set(everywhere)
