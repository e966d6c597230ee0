"""Real UDP on loopback: both families, garbage, a port in use."""

import asyncio
import socket
from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from dht.clock import Now, system_clock
from dht.config import DhtConfig
from dht.errors import PortMissing
from dht.identity.node_key import Identity
from dht.local_faults import LocalFaults
from dht.protocol.engine import ProtocolEngine
from dht.protocol.events import Event
from dht.protocol.network_rules import StrategyRules
from dht.protocol.requester import Datagram
from dht.protocol.udp_driver import UdpDriver, bind_udp
from dht.supervisor import FIRST_REST_S, Supervisor
from dht.wire.address_policy import AddressPolicy
from dht.wire.contact import Address, Endpoint
from node.extras.simulation.everybody import trust_everybody

HOSTS = {"4": ("127.0.0.1",), "6": ("::1",), "both": ("127.0.0.1", "::1")}


class Peer:
    def __init__(self, families: str, *, on_event: Callable[[Event], None] = lambda _: None) -> None:
        self.sockets = [bind_udp(Address(host, 0)) for host in HOSTS[families]]
        self.addresses = [Address(*s.getsockname()[:2]) for s in self.sockets]
        listening = tuple(Endpoint(a.host, a.port, a.port) for a in self.addresses)
        config = DhtConfig(allow_private=True)
        policy = AddressPolicy(allow_private=True)
        self.core = ProtocolEngine(
            Identity.generate(), b"loopback", config, Random(1), listening=listening, policy=policy
        )
        trust_everybody(self.core)
        self.datagrams = UdpDriver(self.core, system_clock, self.sockets, on_event)


async def until(claim: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not claim():  # noqa: ASYNC110 (nothing tells when a packet was counted)
            await asyncio.sleep(0.02)


async def test_garbage_does_no_harm() -> None:
    peer = Peer("4")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(peer.datagrams.run())
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for data in (b"", b"x", bytes(1232), b"\x01\x01" + bytes(1230), bytes(60_000)):
                stranger.sendto(data, peer.addresses[0])
        await until(lambda: sum(peer.core.refused.values()) >= 5)
        task.cancel()


async def test_what_breaks_inside_ends_the_run() -> None:
    def broken(_event: Event) -> None:
        raise RuntimeError("a fault of ours")

    a, b = Peer("4", on_event=broken), Peer("4")
    b.core.set_strategy(StrategyRules(2, bytes(32), 8, AddressPolicy(allow_private=True)))  # which a is told of
    with pytest.raises(ExceptionGroup) as failure:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            group.create_task(b.datagrams.run())
            group.create_task(a.datagrams.run())
            a.core.join(system_clock(), b.addresses)
    assert "a fault of ours" in str(failure.value.exceptions)


async def test_a_packet_that_breaks_the_engine_costs_itself_alone_and_all_other_faults_the_run_but_no_port() -> None:
    peer, heard, supervisor = Peer("4"), list[bytes](), Supervisor(LocalFaults(system_clock))

    def receive(_now: Now, data: bytes, _source: Address) -> list[Datagram]:
        heard.append(data)
        if data == b"bad":
            raise KeyError(data)
        return []

    peer.core.receive = receive  # type: ignore[method-assign]
    async with asyncio.TaskGroup() as group:
        running = supervisor.start(group, "overlay-driver", partial(peer.datagrams.run, supervisor))
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:

            async def is_heard(data: bytes) -> None:
                stranger.sendto(data, peer.addresses[0])
                await until(lambda: data in heard)

            await is_heard(b"first")
            await is_heard(b"bad")
            await is_heard(b"after it")
            peer.core.poll = receive  # type: ignore[method-assign, assignment]
            peer.datagrams.kick()
            del peer.core.poll  # type: ignore[misc]
            await asyncio.sleep(FIRST_REST_S + 0.2)
            await is_heard(b"after the next run")
        running.cancel()


def test_a_port_in_use_is_named_with_a_remedy() -> None:
    with bind_udp(Address("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortMissing, match=rf"127.0.0.1 port {port}: the port is in use; .*node.peer_port"):
            bind_udp(Address("127.0.0.1", port))
    with pytest.raises(PortMissing, match="no such address"):
        bind_udp(Address("203.0.113.7", 0))
